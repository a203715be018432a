#include "text/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct attn_tokenizer {
    const struct attn_vocab *vocab;     /* that of the tokenizer that is not NULL: */
    struct attn_by_word *word;
    struct attn_byte_level *bytes;
    char *name;                         /* path of the vocabulary's file */
};

/* Takes ownership of those that are not NULL. */
static int new_tokenizer(struct attn_tokenizer **out, struct attn_by_word *word, struct attn_byte_level *bytes,
                         const struct attn_vocab *vocab, const char *name, struct attn_err *err)
{
    struct attn_tokenizer *t = calloc(1, sizeof *t);
    char *copy = strdup(name);
    if (!t || !copy) {
        attn_by_word_free(word);
        attn_byte_level_free(bytes);
        free(copy);
        free(t);
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory for a tokenizer", name);
    }
    *t = (struct attn_tokenizer){.vocab = vocab, .word = word, .bytes = bytes, .name = copy};
    *out = t;
    return ATTN_OK;
}

int attn_tokenizer_word(struct attn_tokenizer **out, struct attn_vocab *v, const struct attn_word_rule *rule,
                        const char *name, struct attn_err *err)
{
    struct attn_by_word *word = NULL;
    int rc = attn_by_word_new(&word, v, rule, name, err);
    return rc ? rc : new_tokenizer(out, word, NULL, v, name, err);
}

int attn_tokenizer_bytes(struct attn_tokenizer **out, struct attn_byte_level *b, const char *name, struct attn_err *err)
{
    return new_tokenizer(out, NULL, b, b->rules.vocab, name, err);
}

void attn_tokenizer_close(struct attn_tokenizer *t)
{
    if (!t)
        return;
    attn_by_word_free(t->word);
    attn_byte_level_free(t->bytes);
    free(t->name);
    free(t);
}

const char *attn_tokenizer_kind(const struct attn_tokenizer *t)
{
    return t->word ? "word" : "bpe";
}

size_t attn_tokenizer_size(const struct attn_tokenizer *t)
{
    return attn_vocab_size(t->vocab);
}

/* The most bytes the text of the token of that rank takes. */
static size_t text_room(const struct attn_tokenizer *t, size_t rank)
{
    size_t len;
    if (t->bytes)
        return attn_readings_room(t->bytes->readings, rank);
    attn_vocab_at(t->vocab, rank, &len);
    return len;
}

static size_t spell_text(const struct attn_tokenizer *t, size_t rank, char *out)
{
    size_t len;
    if (t->bytes)
        return attn_readings_spell(t->bytes->readings, rank, out);
    const char *word = attn_vocab_at(t->vocab, rank, &len);
    memcpy(out, word, len);
    return len;
}

const char *attn_tokenizer_text(const struct attn_tokenizer *t, int32_t id, size_t *len)
{
    size_t rank = attn_vocab_rank(t->vocab, id);
    if (rank == SIZE_MAX)
        return NULL;
    return t->bytes ? attn_readings_at(t->bytes->readings, rank, len) : attn_vocab_at(t->vocab, rank, len);
}

const char *attn_tokenizer_raw(const struct attn_tokenizer *t, int32_t id, size_t *len)
{
    return attn_vocab_word(t->vocab, id, len);          /* a word reads as it is spelled */
}

/* ---- text to tokens -------------------------------------------------------------------- */

static int no_memory(struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "no memory for the tokens of a text");
}

/* Allocates one block for n tokens and `bytes` of their spellings, which start at *spell. */
static struct attn_tokens *new_tokens(size_t n, size_t bytes, char **spell)
{
    struct attn_tokens *t;
    size_t size;
    if (__builtin_mul_overflow(n, sizeof *t->tok, &size) || __builtin_add_overflow(size, sizeof *t, &size) ||
        __builtin_add_overflow(size, bytes, &size) || !(t = malloc(size)))
        return NULL;
    t->n = n;
    t->tok = (struct attn_token *)(t + 1);
    *spell = (char *)(t->tok + n);
    return t;
}

/* The tokens of a text recur: each distinct one is looked up and spelled once. */
struct kinds {
    uint32_t *number;                   /* [entries of the vocabulary] by rank: 1 + index in kind; 0: not met yet */
    struct attn_token *kind; size_t n, room;
    size_t bytes;                       /* most bytes of their spellings and texts, with a NUL after each */
};

static bool meet(struct kinds *k, const struct attn_tokenizer *t, size_t rank, int32_t id)
{
    struct attn_token *kind = attn_grow(k->kind, &k->room, k->n + 1, sizeof *kind);
    if (!kind)
        return false;
    k->kind = kind;
    kind += k->n++;
    *kind = (struct attn_token){.id = id, .known = true};
    kind->raw = attn_vocab_at(t->vocab, rank, &kind->raw_len);
    k->bytes += kind->raw_len + text_room(t, rank) + 2;
    k->number[rank] = (uint32_t)k->n;
    return true;
}

static bool meet_all(struct kinds *k, const struct attn_tokenizer *t, const struct attn_spans *found)
{
    k->number = calloc(attn_vocab_size(t->vocab), sizeof *k->number);
    for (size_t i = 0; k->number && i < found->n; i++) {
        size_t rank = attn_vocab_rank(t->vocab, found->id[i]);
        if (k->number[rank] == 0 && !meet(k, t, rank, found->id[i]))
            return false;
    }
    return k->number != NULL;
}

/* Writes both the spelling and the text at *spell, which is advanced. */
static void spell_kind(struct attn_token *kind, const struct attn_tokenizer *t, char **spell)
{
    kind->raw = memcpy(*spell, kind->raw, kind->raw_len + 1);
    *spell += kind->raw_len + 1;
    kind->text = *spell;
    kind->text_len = spell_text(t, attn_vocab_rank(t->vocab, kind->id), *spell);
    *spell += kind->text_len;
    *(*spell)++ = '\0';
}

static struct attn_tokens *put_together(struct kinds *k, const struct attn_tokenizer *t, const struct attn_spans *found)
{
    char *spell;
    struct attn_tokens *tokens = new_tokens(found->n, k->bytes, &spell);
    for (size_t i = 0; tokens && i < k->n; i++)
        spell_kind(&k->kind[i], t, &spell);
    for (size_t i = 0; tokens && i < found->n; i++) {
        tokens->tok[i] = k->kind[k->number[attn_vocab_rank(t->vocab, found->id[i])] - 1];
        tokens->tok[i].start = found->place[i].start;
        tokens->tok[i].end = found->place[i].end;
    }
    return tokens;
}

static int pack(struct attn_tokens **out, const struct attn_tokenizer *t, const struct attn_spans *found,
                struct attn_err *err)
{
    struct kinds kinds = {0};
    struct attn_tokens *tokens = meet_all(&kinds, t, found) ? put_together(&kinds, t, found) : NULL;
    free(kinds.number);
    free(kinds.kind);
    if (tokens)
        *out = tokens;
    return tokens ? ATTN_OK : no_memory(err);
}

static int by_word(struct attn_spans *out, const struct attn_tokenizer *t, const char *text, size_t len,
                   const struct attn_encode_opts *o, struct attn_err *err)
{
    if (o->bos == ATTN_BOS_YES)
        return attn_fail(err, ATTN_EUSAGE, "%s: a tokenizer by words has no BOS", t->name);
    return attn_by_word_encode(out, t->word, text, len, err);
}

static int find(struct attn_spans *out, const struct attn_tokenizer *t, const char *text, size_t len,
                const struct attn_encode_opts *o, struct attn_err *err)
{
    return t->word ? by_word(out, t, text, len, o, err) : attn_byte_level_encode(out, t->bytes, text, len, o, err);
}

int attn_encode_with(struct attn_tokens **out, const struct attn_tokenizer *t, const char *text, size_t len,
                     const struct attn_encode_opts *o, struct attn_err *err)
{
    struct attn_spans found = {0};
    int rc = find(&found, t, text, len, o, err);
    if (!rc)
        rc = pack(out, t, &found, err);
    attn_spans_free(&found);
    return rc;
}

int attn_encode_ids(int32_t **ids, size_t *n, const struct attn_tokenizer *t, const char *text, size_t len,
                    const struct attn_encode_opts *o, struct attn_err *err)
{
    struct attn_spans found = {.ids_only = true};
    int rc = find(&found, t, text, len, o, err);
    if (rc) {
        attn_spans_free(&found);
        return rc;
    }
    *ids = found.id;
    *n = found.n;
    return ATTN_OK;
}

int attn_encode(struct attn_tokens **out, const struct attn_tokenizer *t, const char *text, size_t len,
                struct attn_err *err)
{
    return attn_encode_with(out, t, text, len, &(struct attn_encode_opts){0}, err);
}

int attn_tokens_from_ids(struct attn_tokens **out, const int32_t *ids, size_t n, struct attn_err *err)
{
    char *spell;
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0)
            return attn_fail(err, ATTN_EFORMAT, "id %d at position %zu, expected a whole number from 0",
                             (int)ids[i], i);
    struct attn_tokens *t = new_tokens(n, 1, &spell);
    if (!t)
        return no_memory(err);
    *spell = '\0';                      /* an empty text for all */
    for (size_t i = 0; i < n; i++)
        t->tok[i] = (struct attn_token){.id = ids[i], .text = spell, .raw = spell};
    *out = t;
    return ATTN_OK;
}

void attn_tokens_free(struct attn_tokens *t)
{
    free(t);
}

/* ---- ids to text ----------------------------------------------------------------------- */

/* The most bytes that the text of n ids takes; a word takes a space after it. */
static int measure_text(const struct attn_tokenizer *t, const int32_t *ids, size_t n, size_t *bytes,
                        struct attn_err *err)
{
    *bytes = 0;
    for (size_t i = 0; i < n; i++) {
        size_t rank = attn_vocab_rank(t->vocab, ids[i]);
        if (rank == SIZE_MAX)
            return attn_fail(err, ATTN_EFORMAT, "id %d at position %zu has no token: %s has %zu, with ids from 0 to %d",
                             (int)ids[i], i, t->name, attn_vocab_size(t->vocab), (int)attn_vocab_top(t->vocab));
        if (__builtin_add_overflow(*bytes, text_room(t, rank) + (t->word != NULL), bytes))
            return no_memory(err);
    }
    return ATTN_OK;
}

int attn_decode(char **out, size_t *len, const struct attn_tokenizer *t, const int32_t *ids, size_t n,
                struct attn_err *err)
{
    size_t bytes;
    int rc = measure_text(t, ids, n, &bytes, err);
    if (rc)
        return rc;
    char *text = malloc(bytes + 1), *s = text;
    if (!text)
        return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        s += spell_text(t, attn_vocab_rank(t->vocab, ids[i]), s);
        if (t->word)
            *s++ = ' ';
    }
    if (t->word && s > text)
        s--;                            /* removes the space after the last word */
    *s = '\0';
    *out = text;
    *len = (size_t)(s - text);
    return ATTN_OK;
}

#include "text/tokens.h"
#include "attn.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "base/utf8.h"

struct attn_tokenizer {
    const struct attn_tokenizing *as;
    void *self;
    const struct attn_vocab *vocab;     /* self's */
    char *name;                         /* path of the vocabulary's file */
    uint64_t seed;                      /* of hashes of ids, which are a file's */
    struct attn_said said;
};

int attn_tokenizer_new(struct attn_tokenizer **out, const struct attn_tokenizing *as, void *self,
                       const struct attn_vocab *vocab, const char *name, struct attn_err *err)
{
    struct attn_tokenizer *t = calloc(1, sizeof *t);
    char *copy = strdup(name);
    if (!t || !copy) {
        as->close(self);
        free(copy);
        free(t);
        return attn_no_memory(err, name, "for a tokenizer");
    }
    *t = (struct attn_tokenizer){.as = as, .self = self, .vocab = vocab, .name = copy, .seed = attn_hash_seed(),
                                  .said = {-1, -1, -1, 0}};
    *out = t;
    return ATTN_OK;
}

void attn_tokenizer_close(struct attn_tokenizer *t)
{
    if (!t)
        return;
    t->as->close(t->self);
    free(t->name);
    free(t);
}

int32_t attn_tokenizer_unknown(const struct attn_tokenizer *t)
{
    return t->as->unknown(t->self);
}

static int32_t id_of(const struct attn_tokenizer *t, const char *token)
{
    return token ? attn_vocab_id(t->vocab, token, strlen(token)) : -1;
}

void attn_tokenizer_hear(struct attn_tokenizer *t, const char *bos, const char *eos, int32_t config_bos, double longest)
{
    t->said = (struct attn_said){id_of(t, bos), id_of(t, eos), config_bos, longest};
}

const struct attn_said *attn_tokenizer_says(const struct attn_tokenizer *t)
{
    return &t->said;
}

const struct attn_vocab *attn_tokenizer_vocab(const struct attn_tokenizer *t)
{
    return t->vocab;
}

bool attn_tokenizer_spaced(const struct attn_tokenizer *t)
{
    return t->as->spaced;
}

const char *attn_tokenizer_kind(const struct attn_tokenizer *t)
{
    return t->as->kind;
}

size_t attn_tokenizer_size(const struct attn_tokenizer *t)
{
    return attn_vocab_size(t->vocab);
}

const char *attn_tokenizer_text(const struct attn_tokenizer *t, int32_t id, size_t *len)
{
    size_t rank = attn_vocab_rank(t->vocab, id);
    return rank == SIZE_MAX ? NULL : t->as->text(t->self, rank, len);
}

const char *attn_tokenizer_raw(const struct attn_tokenizer *t, int32_t id, size_t *len)
{
    return attn_vocab_word(t->vocab, id, len);
}

/* ---- text to tokens -------------------------------------------------------------------- */

static int no_memory(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for the tokens of a text");
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
    uint32_t *slot; size_t slots;       /* by a hash of the id, or in the next free one: 1 + index in kind; 0: free */
    struct attn_token *kind; size_t n, room;
    uint64_t seed;                      /* the tokenizer's */
    size_t bytes;                       /* most bytes of their spellings and texts, with a NUL after each */
};

static uint32_t *slot_of(const struct kinds *k, int32_t id)
{
    size_t i = attn_hash_pair(k->seed, 0, id) & (k->slots - 1);
    while (k->slot[i] && k->kind[k->slot[i] - 1].id != id)
        i = (i + 1) & (k->slots - 1);
    return &k->slot[i];
}

static bool meet(struct kinds *k, const struct attn_tokenizer *t, int32_t id)
{
    struct attn_token *kind = attn_grow(k->kind, &k->room, k->n + 1, sizeof *kind);
    size_t rank = attn_vocab_rank(t->vocab, id);
    if (!kind)
        return false;
    k->kind = kind;
    kind += k->n++;
    *kind = (struct attn_token){.id = id, .known = true};
    kind->raw = attn_vocab_at(t->vocab, rank, &kind->raw_len);
    k->bytes += kind->raw_len + t->as->room(t->self, rank) + 2;
    return true;
}

static bool meet_all(struct kinds *k, const struct attn_tokenizer *t, const struct attn_encoding *found)
{
    for (k->slots = 2; k->slots < 2 * smaller(found->n, attn_vocab_size(t->vocab));)
        k->slots *= 2;
    k->seed = t->seed;
    k->slot = calloc(k->slots, sizeof *k->slot);
    for (size_t i = 0; k->slot && i < found->n; i++) {
        uint32_t *slot = slot_of(k, found->id[i]);
        if (!*slot && !meet(k, t, found->id[i]))
            return false;
        if (!*slot)
            *slot = (uint32_t)k->n;
    }
    return k->slot != NULL;
}

/* Writes both the spelling and the text at *spell, which is advanced. */
static void spell_kind(struct attn_token *kind, const struct attn_tokenizer *t, char **spell)
{
    kind->raw = memcpy(*spell, kind->raw, kind->raw_len + 1);
    *spell += kind->raw_len + 1;
    kind->text = *spell;
    kind->text_len = t->as->spell(t->self, attn_vocab_rank(t->vocab, kind->id), *spell);
    *spell += kind->text_len;
    *(*spell)++ = '\0';
}

static struct attn_tokens *put_together(struct kinds *k, const struct attn_tokenizer *t,
                                        const struct attn_encoding *found)
{
    char *spell;
    struct attn_tokens *tokens = new_tokens(found->n, k->bytes, &spell);
    for (size_t i = 0; tokens && i < k->n; i++)
        spell_kind(&k->kind[i], t, &spell);
    for (size_t i = 0; tokens && k->kind && i < found->n; i++) {
        tokens->tok[i] = k->kind[*slot_of(k, found->id[i]) - 1];
        tokens->tok[i].start = found->range[i].start;
        tokens->tok[i].end = found->range[i].end;
    }
    if (tokens)
        attn_tokens_find_parts(tokens);
    return tokens;
}

static int pack(struct attn_tokens **out, const struct attn_tokenizer *t, const struct attn_encoding *found,
                struct attn_err *err)
{
    struct kinds kinds = {0};
    struct attn_tokens *tokens = meet_all(&kinds, t, found) ? put_together(&kinds, t, found) : NULL;
    free(kinds.slot);
    free(kinds.kind);
    if (tokens)
        *out = tokens;
    return tokens ? ATTN_OK : no_memory(err);
}

static const struct attn_encode_opts plain;

int attn_encode_with(struct attn_tokens **out, const struct attn_tokenizer *t, const char *text, size_t len,
                     const struct attn_encode_opts *o, struct attn_err *err)
{
    o = o ? o : &plain;
    *out = NULL;
    struct attn_encoding found = {0};
    int rc = t->as->encode(&found, t->self, text, len, o, err);
    if (!rc)
        rc = pack(out, t, &found, err);
    attn_encoding_free(&found);
    return rc;
}

int attn_encode_ids(int32_t **ids, size_t *n, const struct attn_tokenizer *t, const char *text, size_t len,
                    const struct attn_encode_opts *o, struct attn_err *err)
{
    o = o ? o : &plain;
    *ids = NULL;
    struct attn_encoding found = {.ids_only = true};
    int rc = t->as->encode(&found, t->self, text, len, o, err);
    if (rc) {
        attn_encoding_free(&found);
        return rc;
    }
    *ids = found.id;
    *n = found.n;
    return ATTN_OK;
}

int attn_encode(struct attn_tokens **out, const struct attn_tokenizer *t, const char *text, size_t len,
                struct attn_err *err)
{
    return attn_encode_with(out, t, text, len, NULL, err);
}

int attn_tokens_from_ids(struct attn_tokens **out, const int32_t *ids, size_t n, struct attn_err *err)
{
    char *spell;
    *out = NULL;
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

int attn_tokens_to_ids(int32_t **out, const struct attn_tokens *t, struct attn_err *err)
{
    int32_t *ids = *out = calloc(t->n + 1, sizeof *ids);
    if (!ids)
        return attn_no_memory(err, NULL, "for %zu tokens", t->n);
    for (size_t i = 0; i < t->n; i++)
        ids[i] = t->tok[i].id;
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
        if (__builtin_add_overflow(*bytes, t->as->room(t->self, rank) + t->as->spaced, bytes))
            return no_memory(err);
    }
    return ATTN_OK;
}

int attn_decode(char **out, size_t *len, const struct attn_tokenizer *t, const int32_t *ids, size_t n,
                struct attn_err *err)
{
    size_t bytes;
    *out = NULL;
    int rc = measure_text(t, ids, n, &bytes, err);
    if (rc)
        return rc;
    if (t->as->decode)
        return t->as->decode(out, len, t->self, ids, n, err);
    char *text = malloc(bytes + 1), *s = text;
    if (!text)
        return no_memory(err);
    for (size_t i = 0; i < n; i++) {
        s += t->as->spell(t->self, attn_vocab_rank(t->vocab, ids[i]), s);
        if (t->as->spaced)
            *s++ = ' ';
    }
    if (t->as->spaced && s > text)
        s--;                            /* removes the space after the last word */
    *s = '\0';
    *out = text;
    *len = (size_t)(s - text);
    return ATTN_OK;
}

/* ---- how much of a text that is still being generated can be printed already ----------- */

/* How many bytes at the end of the text are the beginning of `stop` (not empty), but not all of it. */
static size_t begun(const char *text, size_t len, const char *stop)
{
    size_t n = strlen(stop) - 1;
    if (n > len)
        n = len;
    while (n && memcmp(text + len - n, stop, n) != 0)
        n--;
    return n;
}

/* How many bytes at the end of the text are the beginning of a UTF-8 character whose rest is missing. */
static size_t cut(const char *text, size_t len)
{
    for (size_t n = 1; n <= 3 && n <= len; n++) {
        const char *s = text + len - n;
        unsigned char first = (unsigned char)*s;
        size_t step;
        if ((first & 0xC0) == 0x80)
            continue;
        attn_utf8_next(s, n, &step);
        return first >= 0xC2 && first <= 0xF4 && step == n && attn_utf8_valid(s, n) == 0 ? n : 0;
    }
    return 0;
}

size_t attn_text_ready(const char *text, size_t len, const char *stop, bool *stopped)
{
    bool stops = stop && *stop;
    const char *at = stops ? memmem(text, len, stop, strlen(stop)) : NULL;
    *stopped = at != NULL;
    if (at)
        return (size_t)(at - text);
    if (stops)
        len -= begun(text, len, stop);
    return len - cut(text, len);
}

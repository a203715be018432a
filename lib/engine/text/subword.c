/* subword.c - a tokenizer of subwords, put together step by step; and how each token of its vocabulary reads. */
#include "text/subword.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"

/* ---- readings -------------------------------------------------------------------------- */

struct own { size_t rank; const struct attn_added_token *token; };

/* A token reads as the decoder says, an added one as its own text.  Tokens are decoded on demand: most runs meet a
 * handful of 50,000.  For those who need a pointer they are kept, in memory that is reserved from the start, though
 * only as address space, so that asking never fails.  Threads may call at the same time. */
struct attn_readings {
    const struct attn_vocab *vocab;
    const struct attn_decoder *decoder;
    struct own *own; size_t owns;       /* for the added tokens, by rank */
    pthread_mutex_t lock;               /* guards what follows */
    struct attn_arena memory;
    struct reading { uint32_t end, len; } *table;                   /* by rank: place in the pool; end 0: not asked */
    char *pool; size_t used;            /* room for all of them, with a NUL after each */
};

static int by_rank(const void *a, const void *b)
{
    const struct own *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int by_rank_and_order(const void *a, const void *b)
{
    const struct own *x = a, *y = b;
    size_t i = x->token->order, j = y->token->order;
    return x->rank != y->rank ? by_rank(a, b) : (i > j) - (i < j);
}

/* Sorts the list and keeps the last token of each rank. */
static void sort_own(struct attn_readings *r)
{
    size_t n = 0;
    qsort(r->own, r->owns, sizeof *r->own, by_rank_and_order);
    for (size_t i = 0; i < r->owns; i++)
        if (i + 1 == r->owns || r->own[i + 1].rank != r->own[i].rank)
            r->own[n++] = r->own[i];
    r->owns = n;
}

static void list_own(struct attn_readings *r, const struct attn_added *a)
{
    for (size_t i = 0; i < a->n; i++)
        r->own[r->owns++] = (struct own){attn_vocab_rank(r->vocab, a->token[i].id), &a->token[i]};
}

/* The added token of that rank; NULL: it is none. */
static const struct attn_added_token *own_token(const struct attn_readings *r, size_t rank)
{
    const struct own *o = bsearch(&(struct own){.rank = rank}, r->own, r->owns, sizeof *o, by_rank);
    return o ? o->token : NULL;
}

/* The most bytes the text of the token takes. */
static size_t room_of(const struct attn_readings *r, size_t rank)
{
    const struct attn_added_token *own = own_token(r, rank);
    size_t len;
    attn_vocab_at(r->vocab, rank, &len);
    return attn_decoder_room(r->decoder, own ? own->len : len);
}

static size_t spell_token(const struct attn_readings *r, size_t rank, char *out)
{
    const struct attn_added_token *own = own_token(r, rank);
    size_t len;
    if (own)                            /* perhaps in the normaliser's form, which the decoder undoes */
        return attn_decoder_read(r->decoder, own->text, own->len, true, out);
    const char *word = attn_vocab_at(r->vocab, rank, &len);
    return attn_decoder_read(r->decoder, word, len, false, out);
}

static struct reading keep(struct attn_readings *r, size_t rank)
{
    size_t len = spell_token(r, rank, r->pool + r->used);
    r->pool[r->used + len] = '\0';
    r->used += len + 1;
    return r->table[rank] = (struct reading){(uint32_t)r->used, (uint32_t)len};
}

static const char *reading_at(struct attn_readings *r, size_t rank, size_t *len)
{
    pthread_mutex_lock(&r->lock);
    struct reading found = r->table[rank].end ? r->table[rank] : keep(r, rank);
    pthread_mutex_unlock(&r->lock);
    *len = found.len;
    return r->pool + found.end - 1 - found.len;
}

static void readings_free(struct attn_readings *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    free(r->own);
    attn_arena_free(&r->memory);
    free(r);
}

static bool reserve(struct attn_readings *r, size_t tokens, size_t bytes)
{
    for (int walk = 0; walk < 2; walk++) {              /* first counts memory, then divides it */
        r->table = attn_arena_bytes(&r->memory, tokens + 1, sizeof *r->table);
        r->pool = attn_arena_bytes(&r->memory, bytes + 1, 1);
        if (walk == 0 && attn_arena_make(&r->memory, NULL))
            return false;
    }
    return true;
}

/* Borrows the vocabulary, the decoder and the two sets of added tokens (NULL: there are none that read differently). */
static struct attn_readings *readings_new(const struct attn_vocab *v, const struct attn_decoder *d,
                                          const struct attn_added *added)
{
    size_t bytes = attn_decoder_room(d, attn_vocab_bytes(v));
    struct attn_readings *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->vocab = v;
    r->decoder = d;
    pthread_mutex_init(&r->lock, NULL);
    r->own = malloc(((added ? added[0].n + added[1].n : 0) + 1) * sizeof *r->own);
    if (r->own) {
        for (size_t k = 0; added && k < 2; k++)
            list_own(r, &added[k]);
        sort_own(r);
        for (size_t i = 0; i < r->owns; i++)
            bytes += attn_decoder_room(d, r->own[i].token->len) + 1;
    }
    if (r->own && bytes < UINT32_MAX && reserve(r, attn_vocab_size(v), bytes))
        return r;
    readings_free(r);
    return NULL;
}

/* ---- the parts ------------------------------------------------------------------------- */

static int no_memory(const char *name, struct attn_err *err)
{
    return attn_no_memory(err, name, "for a tokenizer");
}

struct attn_subword *attn_subword_new(void)
{
    struct attn_subword *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->bos = b->eos = b->rules.unknown = -1;
    memset(b->rules.byte, 0xFF, sizeof b->rules.byte);              /* all -1 */
    return b;
}

void attn_subword_free(struct attn_subword *b)
{
    if (!b)
        return;
    if (b->unigram)
        attn_unigram_free(b->unigram);
    free(b->unigram);
    attn_lookup_free(b->lookup);
    attn_bpe_rules_free(&b->rules);
    free(b->score);
    free(b->type);
    for (size_t i = 0; i < b->normals; i++)
        attn_normal_free(&b->normal[i]);
    for (size_t i = 0; i < b->pres; i++) {
        attn_split_free(&b->pre[i].cut);
        attn_normal_free(&b->pre[i].change);
    }
    attn_added_free(&b->added[0]);
    attn_added_free(&b->added[1]);
    attn_trie_free(&b->kept);
    attn_decoder_free(&b->decoder);
    readings_free(b->readings);
    free(b);
}

struct attn_normal *attn_subword_normal(struct attn_subword *b, enum attn_normal_kind kind)
{
    struct attn_normal *n = b->normals < ATTN_STEPS_MAX ? &b->normal[b->normals++] : NULL;
    if (n)
        n->kind = kind;
    return n;
}

struct attn_pre_step *attn_subword_pre(struct attn_subword *b)
{
    return b->pres < ATTN_STEPS_MAX ? &b->pre[b->pres++] : NULL;
}

struct attn_decode_step *attn_subword_decode(struct attn_subword *b, enum attn_decode_kind kind)
{
    struct attn_decode_step *d = b->decoder.n < ATTN_DECODES_MAX ? &b->decoder.step[b->decoder.n++] : NULL;
    if (d)
        d->kind = kind;
    return d;
}

void attn_subword_set_bos(struct attn_subword *b, int32_t id)
{
    if (b->bos < 0 && attn_vocab_rank(b->rules.vocab, id) != SIZE_MAX)
        b->bos = id;
}

int attn_subword_finish(struct attn_subword *b, const char *name, struct attn_err *err)
{
    if (!attn_added_index(&b->added[0]) || !attn_added_index(&b->added[1]))
        return no_memory(name, err);
    b->readings = readings_new(b->rules.vocab, &b->decoder, b->type ? NULL : b->added);
    return b->readings ? ATTN_OK : no_memory(name, err);
}

/* ---- as a tokenizer -------------------------------------------------------------------- */

static int encode(struct attn_encoding *out, const void *self, const char *text, size_t len,
                  const struct attn_encode_opts *o, struct attn_err *err)
{
    return attn_subword_encode(out, self, text, len, o, err);
}

static size_t text_room(const void *self, size_t rank)
{
    return room_of(((const struct attn_subword *)self)->readings, rank);
}

static size_t spell(const void *self, size_t rank, char *out)
{
    return spell_token(((const struct attn_subword *)self)->readings, rank, out);
}

static const char *text_of(const void *self, size_t rank, size_t *len)
{
    return reading_at(((const struct attn_subword *)self)->readings, rank, len);
}

/* An added token goes through the decoder as its own text, but it spells no bytes. */
static struct attn_spelled spelled(const struct attn_subword *b, int32_t id)
{
    size_t rank = attn_vocab_rank(b->rules.vocab, id);
    const struct attn_added_token *own = own_token(b->readings, rank);
    struct attn_spelled s = {.type = b->type ? b->type[rank] : ATTN_PIECE_NORMAL};
    s.s = attn_vocab_at(b->rules.vocab, rank, &s.len);
    if (own && !b->type)
        s = (struct attn_spelled){own->text, own->len, ATTN_PIECE_USER};
    return s;
}

static int decode(char **out, size_t *len, const void *self, const int32_t *ids, size_t n, struct attn_err *err)
{
    const struct attn_subword *b = self;
    struct attn_spelled *token = malloc((n + 1) * sizeof *token);
    if (!token)
        return attn_no_memory(err, NULL, "for the text of %zu tokens", n);
    for (size_t i = 0; i < n; i++)
        token[i] = spelled(b, ids[i]);
    int rc = attn_decoder_run(out, len, &b->decoder, token, n, err);
    free(token);
    return rc;
}

static void free_self(void *self) { attn_subword_free(self); }

static int32_t unknown_of(const void *self)
{
    const struct attn_subword *b = self;
    return b->unigram ? b->unigram->unknown : b->lookup ? b->lookup->unknown : b->rules.unknown;
}

#define BY(name) \
    {.kind = name, .encode = encode, .decode = decode, .room = text_room, .spell = spell, .text = text_of, \
                  .unknown = unknown_of, .close = free_self}
static const struct attn_tokenizing by_bpe = BY("bpe"), by_unigram = BY("unigram"), by_words = BY("wordlevel"),
                                    by_word_pieces = BY("wordpiece");
#undef BY

int attn_tokenizer_subword(struct attn_tokenizer **out, struct attn_subword *b, const char *name, struct attn_err *err)
{
    const struct attn_tokenizing *as = b->unigram ? &by_unigram : !b->lookup ? &by_bpe :
                                       b->lookup->parts ? &by_word_pieces : &by_words;
    return attn_tokenizer_new(out, as, b, b->rules.vocab, name, err);
}

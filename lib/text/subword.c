#include "text/subword.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

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
    attn_readings_free(b->readings);
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

static void find_bytes(struct attn_bpe_rules *r)
{
    char spelled[4];
    for (int i = 0; i < 256; i++) {
        size_t len = attn_bytes_spell(spelled, (unsigned char)i);
        r->byte[i] = attn_vocab_own_id(r->vocab, spelled, len);
    }
}

int attn_subword_finish(struct attn_subword *b, const char *name, struct attn_err *err)
{
    if (b->byte_level)
        find_bytes(&b->rules);
    if (!attn_added_index(&b->added[0]) || !attn_added_index(&b->added[1]))
        return no_memory(name, err);
    b->readings = attn_readings_new(b->rules.vocab, &b->decoder, b->type ? NULL : b->added);
    return b->readings ? ATTN_OK : no_memory(name, err);
}

/* ---- as a tokenizer -------------------------------------------------------------------- */

static int encode(struct attn_encoding *out, const void *self, const char *text, size_t len, const struct attn_encode_opts *o,
                  struct attn_err *err)
{
    return attn_subword_encode(out, self, text, len, o, err);
}

static size_t text_room(const void *self, size_t rank)
{
    return attn_readings_room(((const struct attn_subword *)self)->readings, rank);
}

static size_t spell(const void *self, size_t rank, char *out)
{
    return attn_readings_spell(((const struct attn_subword *)self)->readings, rank, out);
}

static const char *text_of(const void *self, size_t rank, size_t *len)
{
    return attn_readings_at(((const struct attn_subword *)self)->readings, rank, len);
}

/* An added token goes through the decoder as its own text, but it spells no bytes. */
static struct attn_spelled spelled(const struct attn_subword *b, int32_t id)
{
    size_t rank = attn_vocab_rank(b->rules.vocab, id);
    const struct attn_added_token *own = attn_readings_own(b->readings, rank);
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

static const struct attn_tokenizing by_bpe = {
    .kind = "bpe", .encode = encode, .decode = decode, .room = text_room, .spell = spell, .text = text_of, .close = free_self};
static const struct attn_tokenizing by_unigram = {
    .kind = "unigram", .encode = encode, .decode = decode, .room = text_room, .spell = spell, .text = text_of, .close = free_self};

int attn_tokenizer_subword(struct attn_tokenizer **out, struct attn_subword *b, const char *name, struct attn_err *err)
{
    return attn_tokenizer_new(out, b->unigram ? &by_unigram : &by_bpe, b, b->rules.vocab, name, err);
}

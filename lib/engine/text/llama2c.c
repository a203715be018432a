/* llama2c.c - reads llama2.c's tokenizer.bin.
 *
 * A u32, the most bytes of a token, then for each token its score (f32), its length (u32) and its bytes, all
 * little-endian, to the end of the file.  Tokens 1 and 2 begin and end a text, 3 to 258 are the bytes <0x00> to <0xFF>.
 * A space stands for itself.  A text gets a space in front; its characters merge by scores, as in sentencepiece. */
#include "text/subword.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

enum { BEGIN = 1, END = 2, FIRST_BYTE = 3 };

struct reader {
    const struct attn_text_file *file; size_t at; struct attn_subword *b; size_t room; struct attn_err *err;
};

static bool read_u32(struct reader *r, uint32_t *out)
{
    if (r->file->len - r->at < sizeof *out)
        return false;
    memcpy(out, r->file->text + r->at, sizeof *out);
    *out = le32toh(*out);
    r->at += sizeof *out;
    return true;
}

static int malformed(const struct reader *r, size_t token, const char *why)
{
    return attn_fail(r->err, ATTN_EFORMAT,
                     "%s: token %zu %s, expected a tokenizer.bin of llama2.c", r->file->name, token, why);
}

static int read_token(struct reader *r)
{
    struct attn_vocab *v = r->b->rules.vocab;
    size_t n = attn_vocab_size(v);
    uint32_t bits, len;
    float score, *scores;
    if (!read_u32(r, &bits) || !read_u32(r, &len) || len > r->file->len - r->at)
        return malformed(r, n, "ends beyond the file");
    memcpy(&score, &bits, sizeof score);
    if (len == 0 || len > ATTN_PIECE_LONGEST || !isfinite(score))
        return malformed(r, n, "has no text, more than 4096 bytes or a score that is no finite number");
    int rc = attn_vocab_append(v, r->file->text + r->at, len, r->file->name, r->err);
    if (rc)
        return rc;
    if (!(scores = attn_grow(r->b->score, &r->room, n + 1, sizeof *scores)))
        return attn_no_memory(r->err, r->file->name, "for its tokens");
    r->b->score = scores;
    scores[n] = score;
    r->at += len;
    return ATTN_OK;
}

static int check_bytes(struct reader *r)
{
    struct attn_bpe_rules *rules = &r->b->rules;
    attn_bpe_rules_bytes(rules);
    for (int i = 0; i < 256; i++)
        if (rules->byte[i] != FIRST_BYTE + i)
            return attn_fail(r->err, ATTN_EFORMAT,
                             "%s: token %d is not <0x%02X>, expected a tokenizer.bin of llama2.c", r->file->name,
                             FIRST_BYTE + i, (unsigned)i);
    return ATTN_OK;
}

/* What they are when they are decoded; in a text all are alike. */
static bool fill_types(struct attn_subword *b)
{
    size_t n = attn_vocab_size(b->rules.vocab);
    b->type = malloc(n);
    if (!b->type)
        return false;
    memset(b->type, ATTN_PIECE_NORMAL, n);
    memset(b->type + FIRST_BYTE, ATTN_PIECE_BYTE, 256);
    b->type[BEGIN] = b->type[END] = ATTN_PIECE_CONTROL;
    return true;
}

static bool add_steps(struct attn_subword *b)
{
    struct attn_normal *n = attn_subword_normal(b, ATTN_NORMAL_PREPEND);
    struct attn_decode_step *d = attn_subword_decode(b, ATTN_DECODE_SENTENCEPIECE);
    n->with = strdup(" ");
    n->with_len = 1;
    d->drop = true;
    d->find = strdup(" ");
    d->with = strdup("");
    return n->with && d->find && d->with;
}

static int read_all(struct reader *r)
{
    struct attn_bpe_rules *rules = &r->b->rules;
    uint32_t longest;
    int rc = read_u32(r, &longest) ? ATTN_OK : malformed(r, 0, "is not there");
    while (!rc && r->at < r->file->len)
        rc = read_token(r);
    if (!rc)
        rc = attn_vocab_index(rules->vocab, r->file->name, r->err);
    if (!rc)
        rc = check_bytes(r);
    if (rc)
        return rc;
    rules->chars = rules->fallback = true;
    rules->score = r->b->score;
    r->b->bos = BEGIN;
    r->b->eos = END;
    if (!fill_types(r->b) || !add_steps(r->b) || !attn_bpe_rules_index(rules))
        return attn_no_memory(r->err, r->file->name, "for its tokens");
    return attn_subword_finish(r->b, r->file->name, r->err);
}

int attn_llama2c_read(struct attn_subword **out, const struct attn_text_file *file, struct attn_err *err)
{
    struct reader r = {.file = file, .b = attn_subword_new(), .err = err};
    if (!r.b || !(r.b->rules.vocab = attn_vocab_new())) {
        attn_subword_free(r.b);
        return attn_no_memory(err, file->name, "for a tokenizer");
    }
    int rc = read_all(&r);
    if (rc)
        attn_subword_free(r.b);
    else
        *out = r.b;
    return rc;
}

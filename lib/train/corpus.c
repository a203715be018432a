#include "train/corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "text/documents.h"

/* ---- what is held out ---------------------------------------------------------------------- */

/* The start of the next line after `at`; without one, the start of the next character. */
static size_t next_line(const char *text, size_t len, size_t at)
{
    const char *end = memchr(text + at, '\n', len - at);
    if (end && end + 1 < text + len)
        return (size_t)(end - text) + 1;
    while (at < len && ((unsigned char)text[at] & 0xC0) == 0x80)
        at++;                           /* continuation byte of a character */
    return at;
}

size_t attn_corpus_cut(const char *text, size_t len, double percent)
{
    size_t at = len - (size_t)((double)len * percent / 100), n;
    const char *document;
    struct attn_documents walk = attn_documents_of(text, len);
    if (at >= len)
        return len;
    while (walk.rest < text + at && attn_documents_next(&walk, &document, &n))
        ;
    const char *cut = walk.rest;
    return attn_documents_next(&walk, &document, &n) ? (size_t)(cut - text) : next_line(text, len, at);
}

/* ---- text to ids --------------------------------------------------------------------------- */

int attn_corpus_mark(int32_t *mark, const struct attn_tokenizer *t, struct attn_err *err)
{
    static const char text[] = ATTN_END_OF_TEXT;
    struct attn_encode_opts o = {.special = true};
    struct attn_err why = {0};
    int32_t *ids = NULL;
    size_t n = 0, len = 0;
    *mark = -1;
    if (attn_encode_ids(&ids, &n, t, text, sizeof text - 1, &o, &why) == ATTN_OK && n == 1) {
        const char *raw = attn_tokenizer_raw(t, ids[0], &len);
        *mark = raw && !strcmp(raw, text) ? ids[0] : -1;
    }
    free(ids);
    if (why.code != ATTN_ENOMEM)        /* what cannot be encoded is in no vocabulary */
        return ATTN_OK;
    return attn_fail_as(err, &why);
}

static bool append(struct attn_corpus *c, const int32_t *ids, size_t n, int32_t mark)
{
    int32_t *more = attn_grow(c->ids, &c->room, c->n + n + 1, sizeof *more);
    if (!more)
        return false;
    c->ids = more;
    size_t *end = attn_grow(c->end, &c->end_room, c->documents + 1, sizeof *end);
    if (!end)
        return false;
    c->end = end;
    if (n > 0)
        memcpy(c->ids + c->n, ids, n * sizeof *ids);
    c->n += n;
    if (mark >= 0)
        c->ids[c->n++] = mark;
    end[c->documents++] = c->n;
    return true;
}

int attn_corpus_add(struct attn_corpus *c, const struct attn_tokenizer *t, const char *text, size_t len, struct attn_err *err)
{
    struct attn_documents walk = attn_documents_of(text, len);
    int32_t mark;
    const char *document;
    size_t bytes;
    int rc = attn_corpus_mark(&mark, t, err);
    while (!rc && attn_documents_next(&walk, &document, &bytes)) {
        int32_t *ids = NULL;
        size_t n = 0;
        rc = attn_encode_ids(&ids, &n, t, document, bytes, &(struct attn_encode_opts){.bos = ATTN_BOS_NO}, err);
        if (!rc && !append(c, ids, n, mark))
            rc = attn_fail(err, ATTN_ENOMEM, "no memory for the tokens of a text");
        free(ids);
    }
    return rc;
}

void attn_corpus_free(struct attn_corpus *c)
{
    free(c->ids);
    free(c->end);
    *c = (struct attn_corpus){0};
}

size_t attn_corpus_document(const struct attn_corpus *c, size_t at)
{
    size_t low = 0, high = c->documents;                /* finds the first whose end is after `at` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->end[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

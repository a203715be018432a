/* contexts.c - which tokens a step of training reads: from a text to token ids, from these to contexts.
 *
 * If the vocabulary has <|endoftext|>, each document of a text ends with it.  The last part of a text is held out: it
 * begins with the first document that begins there or, in a text with a single document, with a line.
 *
 * A context is a document, or a piece of at most n_ctx tokens of a longer one, and begins at position 0; if documents
 * are joined, all of them count as one.  An epoch reads every context once, in random order; a longer document is cut
 * at different positions in each epoch.  All of this follows from the seed and the context's number, so that nothing
 * else needs to be saved.  The last token of a document has nothing to predict and so no target. */
#include "train/trainer.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/size.h"
#include "base/splitmix.h"
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

int attn_corpus_add(struct attn_corpus *c, const struct attn_tokenizer *t, const char *text, size_t len,
                    struct attn_err *err)
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
            rc = attn_no_memory(err, NULL, "for the tokens of a text");
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

/* ---- sentences ----------------------------------------------------------------------------- */

int attn_contexts_new(struct attn_contexts *c, size_t room, struct attn_err *err)
{
    *c = (struct attn_contexts){.room = room, .ids = calloc(room, sizeof *c->ids), .targets = calloc(room,
                                sizeof *c->targets),
                                .T = calloc(room, sizeof *c->T)};
    if (c->ids && c->targets && c->T)
        return ATTN_OK;
    attn_contexts_free(c);
    return attn_no_memory(err, NULL, "for contexts of %zu tokens together", room);
}

void attn_contexts_free(struct attn_contexts *c)
{
    free(c->ids);
    free(c->targets);
    free(c->T);
    *c = (struct attn_contexts){0};
}

void attn_contexts_clear(struct attn_contexts *c)
{
    c->n = c->seqs = c->N = 0;
}

/* Whether a token has a successor to predict. */
static bool goes_on(const struct attn_corpus *from, size_t at, bool join)
{
    return at + 1 < from->n && (join || from->end[attn_corpus_document(from, at)] > at + 1);
}

void attn_contexts_add(struct attn_contexts *c, const struct attn_corpus *from, const struct attn_token_range *s,
                       bool join)
{
    bool more = goes_on(from, s->at + s->n - 1, join);
    for (size_t i = 0; i < s->n; i++) {
        c->ids[c->n + i] = from->ids[s->at + i];
        c->targets[c->n + i] = i + 1 < s->n || more ? from->ids[s->at + i + 1] : -1;
    }
    c->T[c->seqs++] = s->n;
    c->n += s->n;
    c->N += s->n - !more;
}

enum { REPEATED = 4 };                  /* tokens that are said again when they come again, as in Welleck et al. */

/* Whether the token at `at` is the last of some that came before, in the same order.  Attention reads them all, too. */
static bool said_before(const int32_t *ids, size_t at)
{
    for (size_t i = REPEATED - 1; at + 1 > REPEATED && i < at; i++)
        if (ids[i] == ids[at] && !memcmp(ids + i + 1 - REPEATED, ids + at + 1 - REPEATED, REPEATED * sizeof *ids))
            return true;
    return false;
}

void attn_contexts_add_against(struct attn_contexts *c, const struct attn_corpus *from,
                               const struct attn_token_range *s)
{
    int32_t *ids = c->ids + c->n;
    memcpy(ids, from->ids + s->at, s->n * sizeof *ids);
    for (size_t i = 0; i < s->n; i++) {
        bool again = i + 1 < s->n && said_before(ids, i + 1);
        c->targets[c->n + i] = again ? attn_unlikely(ids[i + 1]) : -1;
        c->N += again;
    }
    c->T[c->seqs++] = s->n;
    c->n += s->n;
}

/* ---- drawing ------------------------------------------------------------------------------- */

/* A number in 0 .. n - 1; n is far too small for the bias of the remainder to matter. */
static size_t below(uint64_t *state, size_t n)
{
    return (size_t)(attn_splitmix_next(state) % n);
}

/* The range of first cuts in a document longer than a context.  All of them give the same number of pieces: the least
 * possible or one more, whichever leaves more positions to choose from. */
struct cuts { size_t first, last, pieces; };

static struct cuts cuts_of(size_t tokens, size_t length)
{
    size_t whole = (tokens - 1) / length, rest = (tokens - 1) % length + 1;
    if (whole == 0)
        return (struct cuts){tokens, tokens, 1};
    if (rest > length / 2 + 1)
        return (struct cuts){1, rest - 1, whole + 2};
    return (struct cuts){rest, length, whole + 1};
}

static size_t cut_document(struct attn_token_range *out, size_t at, size_t end, size_t length, uint64_t *state)
{
    struct cuts c = cuts_of(end - at, length);
    size_t first = c.first + below(state, c.last - c.first + 1), n = 0;
    for (size_t next = at + first; at < end; at = next, next += length) {
        next = smaller(next, end);
        out[n++] = (struct attn_token_range){at, next - at};
    }
    return n;
}

/* The number of documents; joined ones count as one. */
static size_t documents(const struct attn_deck *d)
{
    return d->join ? 1 : d->corpus->documents;
}

static size_t end_of(const struct attn_deck *d, size_t document)
{
    return d->join ? d->corpus->n : d->corpus->end[document];
}

static size_t count_contexts(const struct attn_deck *d)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < documents(d); at = end_of(d, i++))
        n += end_of(d, i) > at ? cuts_of(end_of(d, i) - at, d->length).pieces : 0;
    return n;
}

static void deal(struct attn_deck *d, uint64_t epoch)
{
    uint64_t state = attn_splitmix(d->seed) ^ attn_splitmix(epoch);
    size_t n = 0, at = 0;
    d->epoch = epoch;
    for (size_t i = 0; i < documents(d); at = end_of(d, i++))
        n += cut_document(d->context + n, at, end_of(d, i), d->length, &state);
    for (size_t i = n; i > 1; i--) {
        size_t k = below(&state, i);
        struct attn_token_range last = d->context[i - 1];
        d->context[i - 1] = d->context[k];
        d->context[k] = last;
    }
}

int attn_deck_new(struct attn_deck *d, const struct attn_corpus *corpus, size_t length, bool join, uint64_t seed,
                  const char *name, struct attn_err *err)
{
    *d = (struct attn_deck){.corpus = corpus, .length = length, .join = join, .seed = seed};
    if (corpus->n < length + 1)
        return attn_fail(err, ATTN_EFORMAT, "%s: %zu token%s to train on, expected at least %zu: a context and the one "
                                            "after it; take a longer text or a smaller n_ctx", name, corpus->n,
                         corpus->n == 1 ? "" :
                         "s", length + 1);
    d->count = count_contexts(d);
    d->context = calloc(d->count + 1, sizeof *d->context);
    if (!d->context)
        return attn_no_memory(err, NULL, "for %zu contexts", d->count);
    deal(d, 0);
    return ATTN_OK;
}

void attn_deck_free(struct attn_deck *d)
{
    free(d->context);
    *d = (struct attn_deck){0};
}

struct attn_token_range attn_deck_at(struct attn_deck *d, uint64_t i)
{
    if (i / d->count != d->epoch)
        deal(d, i / d->count);
    return d->context[i % d->count];
}

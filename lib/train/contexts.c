#include "train/contexts.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/size.h"
#include "base/splitmix.h"

/* ---- sentences ----------------------------------------------------------------------------- */

int attn_contexts_new(struct attn_contexts *c, size_t room, struct attn_err *err)
{
    *c = (struct attn_contexts){.room = room, .ids = calloc(room, sizeof *c->ids), .targets = calloc(room, sizeof *c->targets),
                                .T = calloc(room, sizeof *c->T)};
    if (c->ids && c->targets && c->T)
        return ATTN_OK;
    attn_contexts_free(c);
    return attn_fail(err, ATTN_ENOMEM, "no memory for contexts of %zu tokens together", room);
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
    c->n = c->sentences = c->N = 0;
}

/* Whether a token has a successor to predict. */
static bool goes_on(const struct attn_corpus *from, size_t at, bool join)
{
    return at + 1 < from->n && (join || from->end[attn_corpus_document(from, at)] > at + 1);
}

void attn_contexts_add(struct attn_contexts *c, const struct attn_corpus *from, const struct attn_token_range *s, bool join)
{
    bool more = goes_on(from, s->at + s->n - 1, join);
    for (size_t i = 0; i < s->n; i++) {
        c->ids[c->n + i] = from->ids[s->at + i];
        c->targets[c->n + i] = i + 1 < s->n || more ? from->ids[s->at + i + 1] : -1;
    }
    c->T[c->sentences++] = s->n;
    c->n += s->n;
    c->N += s->n - !more;
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

int attn_deck_new(struct attn_deck *d, const struct attn_corpus *corpus, size_t length, bool join, uint64_t seed, const char *name,
                  struct attn_err *err)
{
    *d = (struct attn_deck){.corpus = corpus, .length = length, .join = join, .seed = seed};
    if (corpus->n < length + 1)
        return attn_fail(err, ATTN_EFORMAT, "%s: %zu token%s to train on, expected at least %zu: a context and the one after it; "
                         "take a longer text or a smaller n_ctx", name, corpus->n, corpus->n == 1 ? "" : "s", length + 1);
    d->count = count_contexts(d);
    d->context = calloc(d->count + 1, sizeof *d->context);
    if (!d->context)
        return attn_fail(err, ATTN_ENOMEM, "no memory for %zu contexts", d->count);
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

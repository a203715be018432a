/* repeat.c - texts r r of random tokens: what comes the second time can be known only by looking back.
 *
 * r is drawn for each text from the ids of the model, ascending, without those that end or begin a text, by the first
 * steps of a Fisher-Yates shuffle: item i is swapped with item i + next % (n - i).  All texts take their numbers from
 * one sequence of splitmix64, which begins with the seed; the list is in order again for each text. */
#include "attn_ask.h"
#include "base/err.h"
#include "base/size.h"
#include "base/splitmix.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL = 24, USUAL_TEXTS = 8 };

struct drawing {
    const struct attn_model *model;
    const struct attn_repeat_opts *o;
    struct attn_tokens *before, *bos;   /* what the tokenizer puts in front; what it would if asked to; or NULL */
    int32_t *usable; size_t n;
};

/* ---- which ids --------------------------------------------------------------------------- */

/* Both are what an empty text is encoded as. */
static int find_bos(struct drawing *g, struct attn_err *err)
{
    const struct attn_encode_opts as_told = {.bos = g->o->bos}, always = {.bos = ATTN_BOS_YES};
    if (!g->o->tokenizer)
        return g->o->bos == ATTN_BOS_YES ? attn_fail(err, ATTN_EUSAGE,
                                                     "a beginning-of-text token is asked for, but there is no "
                                                     "tokenizer")
                                         : ATTN_OK;
    int rc = attn_encode_with(&g->before, g->o->tokenizer, "", 0, &as_told, err);
    if (!rc && attn_encode_with(&g->bos, g->o->tokenizer, "", 0, &always, NULL))
        g->bos = NULL;                  /* it has none */
    return rc;
}

static bool is_usable(const struct drawing *g, int32_t id)
{
    for (size_t i = 0; g->bos && i < g->bos->n; i++)
        if (g->bos->tok[i].id == id)
            return false;
    return g->model->config.begin != (size_t)id + 1 && !attn_model_ends(g->model, id);
}

/* Puts the list in order. */
static void list_usable(struct drawing *g)
{
    g->n = 0;
    for (size_t id = 0; id < g->model->w.n.V; id++)
        if (is_usable(g, (int32_t)id))
            g->usable[g->n++] = (int32_t)id;
}

/* ---- drawing ----------------------------------------------------------------------------- */

static int choose_length(struct attn_repeated *out, const struct drawing *g, struct attn_err *err)
{
    size_t n_ctx = g->model->w.n.n_ctx, before = g->before ? g->before->n : 0;
    size_t most = n_ctx > before ? (n_ctx - before) / 2 : 0, usual = smaller(USUAL, smaller((n_ctx - 1) / 2, g->n));
    out->n = g->o->n ? g->o->n : smaller(usual, most);
    if (!out->n)
        return attn_fail(err, ATTN_EUSAGE, "--repeat: model %s takes %zu tokens and has %zu ids to draw: too few to "
                                           "repeat any",
                         g->model->source.name, n_ctx, g->n);
    if (out->n > g->n)
        return attn_fail(err, ATTN_EUSAGE,
                         "--repeat: %zu distinct ids are asked for, and model %s has %zu that neither begin nor end a "
                         "text",
                         out->n, g->model->source.name, g->n);
    if (out->n > most)
        return attn_fail(err, ATTN_EUSAGE, "--repeat: %zu tokens twice%s are more than the %zu that model %s takes "
                                           "(n_ctx): at most %zu",
                         out->n, before ? " and what begins a text" : "", n_ctx, g->model->source.name, most);
    out->T = before + 2 * out->n;
    return ATTN_OK;
}

static void draw_text(int32_t *ids, const struct attn_repeated *out, struct drawing *g, uint64_t *state)
{
    list_usable(g);
    for (size_t i = 0; g->before && i < g->before->n; i++)
        *ids++ = g->before->tok[i].id;
    for (size_t i = 0; i < out->n && i < g->n; i++) {
        size_t j = i + (size_t)(attn_splitmix_next(state) % (g->n - i));
        int32_t id = g->usable[j];
        g->usable[j] = g->usable[i];
        g->usable[i] = ids[i] = ids[i + out->n] = id;
    }
}

static int draw(struct attn_repeated *out, struct drawing *g, struct attn_err *err)
{
    size_t bytes = 0;
    uint64_t state = g->o->seed;
    int rc = choose_length(out, g, err);
    if (rc)
        return rc;
    out->texts = g->o->texts ? g->o->texts : USUAL_TEXTS;
    bool fits = !__builtin_mul_overflow(out->texts, out->T * sizeof *out->ids, &bytes);
    out->ids = fits ? malloc(bytes) : NULL;
    if (!out->ids)
        return attn_no_memory(err, NULL, "for %zu texts of %zu tokens", out->texts, out->T);
    for (size_t i = 0; i < out->texts; i++)
        draw_text(out->ids + i * out->T, out, g, &state);
    return ATTN_OK;
}

int attn_repeat(struct attn_repeated *out, const struct attn_model *m, const struct attn_repeat_opts *o,
                struct attn_err *err)
{
    struct drawing g = {.model = m, .o = o};
    *out = (struct attn_repeated){0};
    int rc = find_bos(&g, err);
    if (!rc && !(g.usable = calloc(m->w.n.V + 1, sizeof *g.usable)))
        rc = attn_no_memory(err, NULL, "to list %zu ids", m->w.n.V);
    if (!rc) {
        list_usable(&g);
        rc = draw(out, &g, err);
    }
    attn_tokens_free(g.before);
    attn_tokens_free(g.bos);
    free(g.usable);
    return rc;
}

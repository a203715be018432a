/* doubts.c - where the files of a model contradict its tokenizer.
 *
 * A directory may hold a tokenizer that was made for another model, or whose special tokens were changed and
 * config.json was not. All that can be computed is; what a text would meet is said beforehand. */
#include "attn_tools.h"

#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "model/model.h"
#include "text/tokens.h"

/* What a doubt is about. */
struct pair { const struct attn_model *model; const struct attn_tokenizer *t; const struct attn_said *said; size_t T,
             V; };

static const char *spelled(char buf[64], const struct pair *p, int32_t id)
{
    size_t len = 0;
    const char *raw = attn_tokenizer_raw(p->t, id, &len);
    snprintf(buf, 64, raw ? "%d '%.*s'" : "%d", (int)id, attn_shown_of(raw ? raw : "", len, 40), raw);
    return buf;
}

static bool beyond(char *out, const struct pair *p)
{
    char last[64];
    int32_t top = attn_vocab_top(attn_tokenizer_vocab(p->t));
    if ((size_t)top < p->V)
        return false;
    snprintf(out, ATTN_DOUBT, "the tokenizer has ids up to %s, but the model takes 0 to %zu (vocab_size %zu): a text "
                              "that holds such a token cannot be run", spelled(last, p, top), p->V - 1, p->V);
    return true;
}

/* Embeddings have unused rows, to a multiple of 64 to 1024.  More of them than that, or than tokens, hint that the
 * tokenizer is another model's. */
static bool fewer(char *out, const struct pair *p)
{
    enum { PADDING = 1024, SMALL = 128 };
    size_t n = (size_t)attn_vocab_top(attn_tokenizer_vocab(p->t)) + 1, unused = p->V > n ? p->V - n : 0;
    if (unused <= PADDING && (unused < SMALL || unused <= n))
        return false;
    snprintf(out, ATTN_DOUBT, "the tokenizer has ids up to %zu, and the model up to %zu (vocab_size %zu): more than is "
                              "usual for padding; are they of one model?", n - 1, p->V - 1, p->V);
    return true;
}

static const char *ends_in(const struct attn_config *c)
{
    return c->ends_apart ? "generation_config.json" : "config.json";
}

static bool end_outside(char *out, const struct pair *p)
{
    const struct attn_config *c = &p->model->config;
    for (size_t i = 0; i < c->n_eos; i++)
        if ((size_t)c->eos[i] >= p->V) {
            snprintf(out, ATTN_DOUBT, "%s ends texts with id %d (eos_token_id), but the model has 0 to %zu: it never "
                                      "comes",
                     ends_in(c), (int)c->eos[i], p->V - 1);
            return true;
        }
    return false;
}

static bool begin_outside(char *out, const struct pair *p)
{
    if (p->said->config_bos < 0 || (size_t)p->said->config_bos < p->V)
        return false;
    snprintf(out, ATTN_DOUBT, "config.json begins texts with id %d (bos_token_id), but the model has 0 to %zu",
             (int)p->said->config_bos, p->V - 1);
    return true;
}

static bool other_end(char *out, const struct pair *p)
{
    char a[64], b[64];
    const struct attn_config *c = &p->model->config;
    if (p->said->eos < 0 || !c->n_eos || attn_model_ends(p->model, p->said->eos))
        return false;
    snprintf(out, ATTN_DOUBT, "a text ends with %s by %s (eos_token_id) and with %s by tokenizer_config.json "
                              "(eos_token): generate stops at the former", spelled(a, p, c->eos[0]), ends_in(c),
             spelled(b, p, p->said->eos));
    return true;
}

static bool other_begin(char *out, const struct pair *p)
{
    char a[64], b[64];
    if (p->said->bos < 0 || p->said->config_bos < 0 || p->said->bos == p->said->config_bos)
        return false;
    snprintf(out, ATTN_DOUBT,
             "a text begins with %s by config.json (bos_token_id) and with %s by tokenizer_config.json (bos_token)",
             spelled(a, p, p->said->config_bos), spelled(b, p, p->said->bos));
    return true;
}

/* Tokenizers without a limit state one of 10^30. */
static bool too_long(char *out, const struct pair *p)
{
    struct attn_info info;
    attn_model_info(p->model, &info);
    if (!(p->said->longest >= 1) || p->said->longest >= (double)info.n_ctx || (double)p->T <= p->said->longest)
        return false;
    attn_snprintf(out, ATTN_DOUBT, "tokenizer_config.json limits texts to %.0f tokens (model_max_length), config.json "
                                   "to %zu: longer ones are run, but perhaps none was in training", p->said->longest,
                  info.n_ctx);
    return true;
}

bool attn_model_doubt(char out[ATTN_DOUBT], size_t i, const struct attn_model *m, const struct attn_tokenizer *t,
                      size_t T)
{
    static bool (*const doubts[])(char *out, const struct pair *p) = {beyond, fewer, end_outside, begin_outside,
                                                                      other_end, other_begin, too_long};
    const struct pair p = {m, t, attn_tokenizer_says(t), T, m->w.n.V};
    for (size_t k = 0; k < sizeof doubts / sizeof *doubts; k++)
        if (doubts[k](out, &p) && i-- == 0)
            return true;
    return false;
}

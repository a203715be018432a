/* predicts.c - whether a model, with a kind of attention, can predict the next token, and go on from cached keys. */
#include "attn.h"
#include "base/err.h"
#include "compute/mask.h"
#include "model/model.h"

int attn_model_predicts(const struct attn_model *m, const struct attn_kind *kind, struct attn_err *err)
{
    static const struct attn_kind own;
    if (!m->config.unembed)
        return attn_fail(err, ATTN_EFORMAT, "model %s has no output layer (\"unembed\": false): it predicts no tokens: "
                         "'init --unembed' makes one that has, 'train' one that has learnt something", m->source.name);
    const struct attn_kind k = attn_kind_in(kind ? kind : &own, m->config.causal, 0);
    bool past = attn_kind_past(&k) || k.form == ATTN_CAUSAL_RENORM;
    char text[ATTN_KIND_TEXT];
    if (!past && m->config.causal)
        return attn_fail(err, ATTN_EUSAGE, "attention %s lets tokens see those after them, so that model %s cannot "
                                           "predict the next one", attn_kind_text(text, &k), m->source.name);
    if (!past)
        return attn_fail(err, ATTN_EFORMAT, "model %s has no mask (\"mask\": \"none\"): its tokens see those after "
                                            "them, so it cannot predict the next one", m->source.name);
    return ATTN_OK;
}

int attn_model_continues(const struct attn_model *m, const struct attn_kind *kind, struct attn_err *err)
{
    int rc = attn_model_predicts(m, kind, err);
    if (rc || !kind || kind->form != ATTN_CAUSAL_RENORM)
        return rc;
    return attn_fail(err, ATTN_EUSAGE,
                     "attention causal-renorm takes its softmax over all tokens before it hides those after: each new "
                     "token would change the roundings of the rows before it; causal does not");
}

#include "run/masked.h"

#include "attend/attend.h"
#include "compute/mask.h"
#include "model/model.h"

/* Derivatives of what is hidden are 0.  Another text is seen as a whole, unless a mask over it is given. */
bool attn_masks(const struct attn_masking *m, int act)
{
    bool of_gradient = act == ATTN_ACT_DOTS || act == ATTN_ACT_SCORES || act == ATTN_ACT_PATTERN;
    bool of_run = act == ATTN_ACT_SCORES || act == ATTN_ACT_PATTERN || act == ATTN_ACT_NORMS || act == ATTN_ACT_ROLLOUT;
    return m->of && (m->gradient ? of_gradient : of_run) && (!m->cross || m->of->attend);
}

/* Where a rollout comes from no layer that sees later keys, none of them is in it. */
static struct attn_kind kind_of_rollout(const struct attn_masking *m, int layer)
{
    const struct attn_weights *w = &m->of->w;
    bool past = !m->of->attend;
    for (int i = 0; i <= layer && past; i++) {
        struct attn_kind k = attn_kind_in(&m->kind, w->causal, w->block[i].window);
        past = attn_kind_past(&k) || k.form == ATTN_CAUSAL_RENORM;
    }
    return (struct attn_kind){.form = past ? ATTN_CAUSAL : ATTN_FULL};
}

struct attn_kind attn_masked_by(const struct attn_masking *m, int act, int layer)
{
    const struct attn_weights *w = &m->of->w;
    if (act == ATTN_ACT_ROLLOUT)
        return kind_of_rollout(m, layer);
    struct attn_kind k = attn_kind_in(&m->kind, w->causal, w->block[layer].window);
    bool late = k.form == ATTN_CAUSAL_RENORM && act != ATTN_ACT_PATTERN && act != ATTN_ACT_NORMS;
    k.form = m->cross || late ? ATTN_FULL : k.form;
    return k;
}

static bool is_given(const struct attn_attend *a)
{
    return a && (a->view[ATTN_ATTEND_MASK].x || a->view[ATTN_ATTEND_SCORES].x);
}

const char *attn_masked_text(char text[ATTN_KIND_TEXT], const struct attn_masking *m, int act, int layer)
{
    *text = '\0';
    if (!attn_masks(m, act) || is_given(m->of->attend))
        return text;
    struct attn_kind k = attn_masked_by(m, act, layer);
    if (k.form != ATTN_WINDOW && !attn_kind_picks(&k))      /* the others differ in how they compute */
        k.form = attn_kind_past(&k) || k.form == ATTN_CAUSAL_RENORM ? ATTN_CAUSAL : ATTN_FULL;
    return attn_kind_text(text, &k);
}

/* masked.h - which kind of attention has masked an activation, for pictures, and for dumps that say so. */
#ifndef ATTN_RUN_MASKED_H
#define ATTN_RUN_MASKED_H

#include "attn.h"

/* How it was computed; cross: the keys are another text's; gradient: in its place stand derivatives. */
struct attn_masking { const struct attn_model *of; struct attn_kind kind; bool cross, gradient; };

/* Whether a mask may have hidden numbers of this activation. */
bool attn_masks(const struct attn_masking *m, int act);
/* The kind by which an activation of a layer is masked, apart from a mask that is given. */
struct attn_kind attn_masked_by(const struct attn_masking *m, int act, int layer);
/* What hides keys, as the text of a kind: "causal", "window:4"; "full" if nothing does; "" if none says all of it. */
const char *attn_masked_text(char text[ATTN_KIND_TEXT], const struct attn_masking *m, int act, int layer);

#endif

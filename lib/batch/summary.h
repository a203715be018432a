/* summary.h - one line of plottable numbers for each sentence: what its attention does, how likely it is.
 *
 *     record,line,id,tokens,logprob,next_id,next,next_p,L0H0_entropy,L0H0_distance,L0H0_first,...,error
 *
 * There are three columns for each selected head, each a mean over all queries: `entropy` of the weights in nats,
 * `distance` between query and key in tokens, and `first`, the weight of the first token.  `logprob` is the sum over
 * all tokens but the first, `next` the likeliest next token; these are empty if the model does not predict. */
#ifndef ATTN_BATCH_SUMMARY_H
#define ATTN_BATCH_SUMMARY_H

#include "base/out.h"
#include "base/team.h"
#include "sinks/sink.h"

struct attn_summary;
/* Covers the heads of the patterns that `select` selects.  team: for logits. */
int attn_summary_new(struct attn_summary **out, const struct attn_model *m, const struct attn_kind *kind,
                     const struct attn_select *select, struct attn_team *team, struct attn_err *err);
void attn_summary_free(struct attn_summary *s);                     /* NULL is fine */
void attn_summary_header(const struct attn_summary *s, struct attn_out *o);

/* Prepares for a pass of these n sentences, which the observer then watches. */
int attn_summary_start(struct attn_summary *s, const int32_t *ids, const struct attn_seq *seq, size_t n, struct attn_err *err);
struct attn_observer attn_summary_observer(struct attn_summary *s);
/* Writes the line of sentence i of the pass. */
void attn_summary_line(const struct attn_summary *s, size_t i, struct attn_out *o, const struct attn_sink_job *job);
void attn_summary_failed(const struct attn_summary *s, struct attn_out *o, const struct attn_sink_job *job, const char *why);

#endif

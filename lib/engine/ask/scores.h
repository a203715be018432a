/* scores.h - what does a head do?  Numbers that say so, each a mean over the rows of its patterns.
 *
 * The numbers are the rows of one table, struct attn_head_score of attn_ask.h.  Whoever prints one takes it from here:
 * the command heads, the summary of a batch, the first look at a run and its page.  A row of a pattern offers a number
 * or, where the question makes no sense, none: then it does not count.  Row 0, which in a causal model sees only
 * itself, never does.  Rows of several texts are pooled: sums and counts are added up, then divided.
 *
 *     scores.c          the table: what each number is for a row, and after which of them a head is named
 *     score_sums.c      an observer that adds them up over the rows of each text of a pass
 *     copying.c         the number that needs no text: what a head's weights alone would do with what it looks at */
#ifndef ATTN_ASK_SCORES_H
#define ATTN_ASK_SCORES_H

#include "attn_ask.h"
#include "base/team.h"

enum { ATTN_HEAD_SCORES = 12 };         /* at least the rows of the table */
size_t attn_head_score_index(const struct attn_head_score *s);      /* which row of the table it is */
enum { ATTN_HEAD_SCORE_LIST = 256 };
const char *attn_head_score_list(char list[ATTN_HEAD_SCORE_LIST]);  /* "previous, self, ... or copying"; returns list */

/* What a share of the attention must be to be the main role of a head: so many times what a head has that looks at all
 * keys alike, so much above it, and a mean of so many rows. */
enum { ATTN_ROLE_ROWS = 3 };
#define ATTN_ROLE_TIMES 2.0
#define ATTN_ROLE_ABOVE 0.1

/* All that is known of a head, by row of the table of scores. */
struct attn_head_place { size_t layer, head; };
struct attn_head_scored {
    struct attn_head_place at;
    double score[ATTN_HEAD_SCORES];     /* NaN: no row offers it, or it was not asked for */
    size_t rows[ATTN_HEAD_SCORES];      /* of how many rows it is the mean */
    double chance[ATTN_HEAD_SCORES];    /* what equal weights give in its layer; NaN: nothing */
    const struct attn_head_score *role; double share;   /* the largest share that can be a main role, or NULL, NaN */
};
/* Fills in the role and its share from the rest. */
void attn_head_scored_name(struct attn_head_scored *h);
/* For qsort: heads with the largest share in their main role first, those without one last, else by layer and head. */
int attn_head_scored_order(const void *a, const void *b);

struct attn_head_row {                  /* a row of a pattern: the weights that a query gives to the keys */
    const float *weight;
    size_t lo, hi;                      /* those of keys outside of lo <= k < hi are 0 */
    size_t q;
    size_t seen;                        /* how many of the keys the query may look at */
    double most;                        /* ln(seen): no entropy is larger */
    const size_t *same;                 /* [q + 1]: 1 + the place of the last earlier token that is the same, or 0 */
    const bool *marks;                  /* [q + 1]: which tokens are punctuation; NULL: not known */
    double entropy, distance; bool measured;    /* computed in one pass when one is asked for */
};

/* ---- score_sums.c ---- */

struct attn_scores_opts {
    const struct attn_head_score *column[ATTN_HEAD_SCORES]; size_t n;   /* of those that a row offers; 0: all, in the
                                                                         * order of the table */
    bool chance;                        /* also what a head that looks at all keys alike gives: attn_scores_chance */
    const char *(*text)(void *ctx, int32_t id, size_t *len); void *ctx;     /* of a token, NULL: it has none; may be
                                                                             * NULL: then punctuation is not known */
};
struct attn_score_sum { double sum; size_t n; };        /* over n rows */
/* NaN: no rows */
static inline double attn_score_mean(const struct attn_score_sum *s) { return s->sum / (double)s->n; }

/* The columns that `o` names, of the patterns of `heads`, which must outlive it. */
struct attn_scores;
int attn_scores_new(struct attn_scores **out, const struct attn_model *m, const struct attn_kind *kind,
                    const struct attn_select *heads,
                    const struct attn_scores_opts *o, struct attn_team *team, struct attn_err *err);
void attn_scores_free(struct attn_scores *t);             /* NULL is fine */
size_t attn_scores_heads(const struct attn_scores *t);    /* how many heads all layers have that are selected */
size_t attn_scores_layers(const struct attn_scores *t);   /* how many layers these are of, each of which has as many */
size_t attn_scores_columns(const struct attn_scores *t);  /* how many sums there are of each head */
/* Head i of these, by layer, then head. */
struct attn_head_place attn_scores_place(const struct attn_scores *t, size_t i);
/* Prepares for a pass of n texts, whose ids must stay until it is done; the scores then watch it. */
int attn_scores_start(struct attn_scores *t, const int32_t *ids, const struct attn_seq *seq, size_t n,
                      struct attn_err *err);
unsigned attn_scores_wants(const struct attn_scores *t, int act, int layer);
int attn_scores_watch(struct attn_scores *t, const struct attn_probe *p, struct attn_err *err);
/* What equal weights give in the i-th selected layer in text `text` of the pass, [columns]. */
const struct attn_score_sum *attn_scores_chance(const struct attn_scores *t, size_t text, size_t i);
/* The sums of head i in text `text` of the pass, [columns]. */
const struct attn_score_sum *attn_scores_sums(const struct attn_scores *t, size_t text, size_t i);
/* What sums of head i say of it, and those of equal weights in its layer; each [columns]. */
struct attn_head_scored attn_scores_tell(const struct attn_scores *t, size_t i, const struct attn_score_sum *sum,
                                         const struct attn_score_sum *chance);
/* The same of the first text of the pass. */
struct attn_head_scored attn_scores_head(const struct attn_scores *t, size_t i);

/* ---- copying.c ---- */

/* Computes out[L * H], the score of each head.  Fails without an output layer.  step, unless NULL, is told from time to
 * time what part of the work is done, 0 to 1, and ends it by returning non-zero. */
struct attn_copying_watch { int (*step)(void *self, double done, struct attn_err *err); void *self; };
int attn_copying(double *out, const struct attn_model *m, struct attn_team *team,
                 const struct attn_copying_watch *watch, struct attn_err *err);

#endif

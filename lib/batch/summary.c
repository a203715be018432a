/* summary.c - one line of plottable numbers for each sentence: what its attention does, how likely it is.
 *
 *     record,line,id,tokens,logprob,next_id,next,next_p,L0H0_entropy,L0H0_distance,L0H0_first,...,error
 *
 * There are three columns for each selected head, each a mean over all queries: `entropy` of the weights in nats,
 * `distance` between query and key in tokens, and `first`, the weight of the first token.  `logprob` is the sum over
 * all tokens but the first, `next` the likeliest next token; these are empty if the model does not predict. */
#include "batch/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/num.h"
#include "sinks/csv.h"
#include "trace/strip.h"

/* Evaluating a token takes a core about as long as this many operations for each entry of the vocabulary. */
static const double COST = 20;

struct means { double entropy, distance, first; };      /* summed over queries, divided when printed */

struct sentence { size_t T, start; double logprob; size_t n_next; struct attn_likely next; };

struct attn_summary {
    struct attn_info info;
    struct attn_select *heads;          /* the patterns of the selected heads */
    size_t kept;                        /* heads in each layer */
    size_t *layer, layers;              /* [L]: index among the selected layers, from 1; 0: not selected */
    bool predicts;
    struct attn_team *team;
    const int32_t *ids;
    struct sentence *sentence; size_t room;
    struct means *means; size_t means_room;     /* [n, layers, kept] */
    double *row; size_t row_room;       /* log-probabilities of the rows of a band */
};

/* ---- collecting -------------------------------------------------------------------------- */

static void choose_layers(struct attn_summary *s)
{
    attn_select_heads(s->heads, ATTN_ACT_PATTERN, &s->kept);
    for (size_t layer = 0; layer < s->info.L; layer++)
        if (attn_select_wants(s->heads, ATTN_ACT_PATTERN, (int)layer))
            s->layer[layer] = ++s->layers;
}

int attn_summary_new(struct attn_summary **out, const struct attn_model *m, const struct attn_kind *kind,
                     const struct attn_select *select, struct attn_team *team, struct attn_err *err)
{
    struct attn_summary *s = *out = calloc(1, sizeof *s);
    if (!s)
        return attn_no_memory(err, NULL, "for a summary");
    struct attn_asked asked = attn_select_asked(select);
    attn_model_info(m, &s->info);
    s->team = team;
    s->predicts = attn_model_predicts(m, kind, NULL) == ATTN_OK;
    s->layer = calloc(s->info.L, sizeof *s->layer);
    int rc = s->layer ? attn_select_new(&s->heads, m, kind, "pattern", asked.layers, asked.heads, err)
                      : attn_no_memory(err, NULL, "for a summary");
    if (rc) {
        attn_summary_free(s);
        *out = NULL;
        return rc;
    }
    choose_layers(s);
    return ATTN_OK;
}

void attn_summary_free(struct attn_summary *s)
{
    if (!s)
        return;
    attn_select_free(s->heads);
    free(s->layer);
    free(s->sentence);
    free(s->means);
    free(s->row);
    free(s);
}

int attn_summary_start(struct attn_summary *s, const int32_t *ids, const struct attn_seq *seq, size_t n, struct attn_err *err)
{
    size_t start = 0, each = s->layers * s->kept;
    struct sentence *sentence = attn_grow(s->sentence, &s->room, n, sizeof *sentence);
    if (sentence)
        s->sentence = sentence;
    struct means *means = attn_grow(s->means, &s->means_room, n * each + 1, sizeof *means);
    if (means)
        s->means = means;
    if (!sentence || !means)
        return attn_no_memory(err, NULL, "to sum up %zu sentences of %zu heads", n, each);
    s->ids = ids;
    for (size_t i = 0; i < n; i++) {
        sentence[i] = (struct sentence){.T = seq[i].T, .start = start};
        start += seq[i].T;
    }
    for (size_t i = 0; i < n * each; i++)
        means[i] = (struct means){0};
    return ATTN_OK;
}

static unsigned wants(void *self, int act, int layer)
{
    const struct attn_summary *s = self;
    if (act == ATTN_ACT_LOGITS)
        return s->predicts ? ATTN_WATCH : 0;
    return attn_strip_wants(s->heads, act, layer, false);
}

static struct means *means_of(const struct attn_summary *s, size_t seq, int layer, size_t nth)
{
    return &s->means[(seq * s->layers + s->layer[layer] - 1) * s->kept + nth];
}

static void add_row(struct means *m, const float *p, size_t cols, size_t query)
{
    double entropy = 0, distance = 0;
    for (size_t k = 0; k < cols; k++)
        if (p[k] > 0) {
            entropy -= p[k] * log(p[k]);
            distance += p[k] * fabs((double)query - (double)k);
        }
    m->entropy += entropy;
    m->distance += distance;
    m->first += p[0];
}

struct band { const struct attn_summary *s; const struct attn_probe *p; };

/* Scores the token that follows row i of a band of logits. */
static void score_row(void *ctx, size_t i, int worker)
{
    (void)worker;
    const struct band *b = ctx;
    const struct sentence *of = &b->s->sentence[b->p->seq];
    size_t next = b->p->row0 + i + 1;
    b->s->row[i] = 0;
    if (next < of->T && attn_logprob(&b->s->row[i], b->p->data + i * b->p->ld, b->p->cols, b->s->ids[of->start + next], NULL))
        b->s->row[i] = NAN;
}

static int watch_logits(struct attn_summary *s, const struct attn_probe *p, struct attn_err *err)
{
    struct sentence *of = &s->sentence[p->seq];
    struct band band = {s, p};
    double *row = attn_grow(s->row, &s->row_room, p->rows, sizeof *row);
    if (!row)
        return attn_no_memory(err, NULL, "to score %zu tokens", p->rows);
    s->row = row;
    attn_team_run(s->team, p->rows, COST * (double)(p->rows * p->cols), score_row, &band);
    for (size_t i = 0; i < p->rows; i++)
        of->logprob += row[i];
    if (p->row0 + p->rows == of->T)
        attn_logits_top(&of->next, &of->n_next, 1, p->data + (p->rows - 1) * p->ld, p->cols, NULL);
    return ATTN_OK;
}

static int watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    struct attn_summary *s = self;
    struct attn_strip p;
    if (probe->act == ATTN_ACT_LOGITS)
        return watch_logits(s, probe, err);
    for (size_t at = 0; attn_strip_next(&p, s->heads, probe, &at);)
        for (size_t i = 0; i < p.rows; i++)
            add_row(means_of(s, probe->seq, probe->layer, p.nth), attn_strip_row(&p, i), p.cols, p.row0 + i);
    return ATTN_OK;
}

struct attn_observer attn_summary_observer(struct attn_summary *s)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = s};
}

/* ---- the table ------------------------------------------------------------------------- */

void attn_summary_header(const struct attn_summary *s, struct attn_out *o)
{
    size_t n;
    const size_t *heads = attn_select_heads(s->heads, ATTN_ACT_PATTERN, &n);
    attn_out_str(o, "record,line,id,tokens,logprob,next_id,next,next_p,");
    for (size_t layer = 0; layer < s->info.L; layer++)
        for (size_t i = 0; i < n && s->layer[layer]; i++)
            attn_out_printf(o, "L%zuH%zu_entropy,L%zuH%zu_distance,L%zuH%zu_first,", layer, heads[i], layer, heads[i],
                            layer, heads[i]);
    attn_out_str(o, "error\n");
}

static void number(struct attn_out *o, double x)
{
    char buf[ATTN_NUM_MAX];
    attn_out_write(o, buf, attn_num_f64(buf, x));
    attn_out_char(o, ',');
}

static void write_predictions(struct attn_out *o, const struct sentence *of, const struct attn_sink_job *job)
{
    size_t len = 0;
    number(o, of->logprob);
    if (!of->n_next) {                  /* logits that are not finite: no token is the likeliest */
        attn_out_str(o, ",,,");
        return;
    }
    int32_t id = of->next.id;
    const char *text = job->token_text ? job->token_text(job->token_ctx, id, &len) : NULL;
    attn_out_u64(o, (uint64_t)id);
    attn_out_char(o, ',');
    if (text)
        attn_cell_text(o, text, len);
    attn_out_char(o, ',');
    number(o, of->next.p);
}

static void write_sentence(const struct attn_summary *s, size_t i, struct attn_out *o, const struct attn_sink_job *job)
{
    const struct sentence *of = &s->sentence[i];
    attn_out_u64(o, of->T);
    attn_out_char(o, ',');
    if (s->predicts)
        write_predictions(o, of, job);
    else
        attn_out_str(o, ",,,,");
    const struct means *m = s->means + i * s->layers * s->kept;
    for (size_t j = 0; j < s->layers * s->kept; j++) {
        number(o, m[j].entropy / (double)of->T);
        number(o, m[j].distance / (double)of->T);
        number(o, m[j].first / (double)of->T);
    }
    attn_out_char(o, '\n');
}

void attn_summary_line(const struct attn_summary *s, size_t i, const char *failed, struct attn_out *o,
                       const struct attn_sink_job *job)
{
    attn_cell_record(o, job->record->of);
    if (!failed) {
        write_sentence(s, i, o, job);
        return;
    }
    for (size_t k = 0; k < 5 + 3 * s->layers * s->kept; k++)
        attn_out_char(o, ',');
    attn_cell_text(o, failed, strlen(failed));
    attn_out_char(o, '\n');
}

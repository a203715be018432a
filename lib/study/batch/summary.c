/* summary.c - plottable numbers for each sentence: what its attention does, how likely it is.
 *
 * The wide form has one line for each sentence:
 *
 *     record,line,id,tokens,logprob,next_id,next,next_p,L0H0_entropy,L0H0_distance,L0H0_first,...,error
 *
 * There are three columns for each selected head, three of the scores of ask/scores.h: means over the rows of the
 * sentence from 1 on, empty if it has none.  `logprob` is the sum over all tokens but the first, `next` the likeliest
 * next token; these are empty if the model does not predict.
 *
 * The tidy form has one line for each sentence, layer and head, with all scores of heads that a text gives; a score is
 * empty where no row offers it, and `copying`, which no text gives, always:
 *
 *     record,layer,head,previous,self,first,duplicate,induction,entropy,spread,distance,copying,punctuation,id,error
 *
 * Its texts have \n, \r and \\ for line feeds, carriage returns and backslashes, so that each row is one line. */
#include "batch/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/num.h"
#include "sinks/sink_csv.h"

/* Evaluating a token takes a core about as long as this many operations for each entry of the vocabulary. */
static const double COST = 20;

const char attn_summary_of_heads[] = "tidy";
static const char *const wide_columns[] = {"entropy", "distance", "first"};
enum { WIDE = sizeof wide_columns / sizeof *wide_columns };

struct sentence { size_t T, start; double logprob; size_t n_next; struct attn_likely next; };

struct attn_summary {
    struct attn_info info;
    struct attn_select *heads;          /* the patterns of the selected heads */
    struct attn_scores *scores;
    bool tidy, predicts;                /* predicts: the likelihood of the sentences is asked for and known */
    struct attn_team *team;
    const int32_t *ids;
    struct sentence *sentence; size_t room;
    double *row; size_t row_room;       /* log-probabilities of the rows of a band */
};

/* ---- collecting -------------------------------------------------------------------------- */

static int make(struct attn_summary *s, const struct attn_batch_opts *o, struct attn_reading *reading,
                struct attn_err *err)
{
    struct attn_asked asked = attn_select_asked(o->select);
    const struct attn_kind *kind = &o->plan.kind;
    const char *form = o->summary_form ? o->summary_form : "wide";
    s->tidy = !strcmp(form, attn_summary_of_heads);
    if (!s->tidy && strcmp(form, "wide") != 0)
        return attn_fail(err, ATTN_EUSAGE, "unknown form of a summary '%s': expected wide or %s", form,
                         attn_summary_of_heads);
    attn_model_info(o->model, &s->info);
    s->predicts = !s->tidy && attn_model_predicts(o->model, kind, NULL) == ATTN_OK;
    /* who pools texts, and no user, passes this very name */
    struct attn_scores_opts scores = {.text = attn_reading_text, .ctx = reading,
                                      .chance = o->summary_form == attn_summary_of_heads};
    for (size_t i = 0; i < WIDE && !s->tidy; i++)
        scores.column[scores.n++] = attn_head_score_find(wide_columns[i]);
    int rc = attn_select_new(&s->heads, o->model, kind, "pattern", asked.layers, asked.heads, err);
    return rc ? rc : attn_scores_new(&s->scores, o->model, kind, s->heads, &scores, s->team, err);
}

int attn_summary_new(struct attn_summary **out, const struct attn_batch_opts *o, struct attn_reading *reading,
                     struct attn_team *team, struct attn_err *err)
{
    struct attn_summary *s = *out = calloc(1, sizeof *s);
    if (!s)
        return attn_no_memory(err, NULL, "for a summary");
    s->team = team;
    int rc = make(s, o, reading, err);
    if (rc) {
        attn_summary_free(s);
        *out = NULL;
    }
    return rc;
}

void attn_summary_free(struct attn_summary *s)
{
    if (!s)
        return;
    attn_scores_free(s->scores);
    attn_select_free(s->heads);
    free(s->sentence);
    free(s->row);
    free(s);
}

const struct attn_scores *attn_summary_scores(const struct attn_summary *s)
{
    return s->scores;
}

int attn_summary_start(struct attn_summary *s, const int32_t *ids, const struct attn_seq *seq, size_t n,
                       struct attn_err *err)
{
    size_t start = 0;
    struct sentence *sentence = attn_grow(s->sentence, &s->room, n, sizeof *sentence);
    if (!sentence)
        return attn_no_memory(err, NULL, "to sum up %zu sentences", n);
    s->sentence = sentence;
    s->ids = ids;
    for (size_t i = 0; i < n; i++) {
        sentence[i] = (struct sentence){.T = seq[i].T, .start = start};
        start += seq[i].T;
    }
    return attn_scores_start(s->scores, ids, seq, n, err);
}

static unsigned wants(void *self, int act, int layer)
{
    const struct attn_summary *s = self;
    if (act == ATTN_ACT_LOGITS)
        return s->predicts ? ATTN_WATCH : 0;
    return attn_scores_wants(s->scores, act, layer);
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
    if (next < of->T &&
        attn_logprob(&b->s->row[i], b->p->data + i * b->p->ld, b->p->cols, b->s->ids[of->start + next], NULL))
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
    return probe->act == ATTN_ACT_LOGITS ? watch_logits(s, probe, err) : attn_scores_watch(s->scores, probe, err);
}

struct attn_observer attn_summary_observer(struct attn_summary *s)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = s};
}

/* ---- one line for each sentence --------------------------------------------------------- */

static void wide_header(const struct attn_summary *s, struct attn_out *o)
{
    attn_out_str(o, "record,line,id,tokens,logprob,next_id,next,next_p,");
    for (size_t i = 0; i < attn_scores_heads(s->scores); i++) {
        struct attn_head_place at = attn_scores_place(s->scores, i);
        for (size_t c = 0; c < WIDE; c++)
            attn_out_printf(o, "L%zuH%zu_%s,", at.layer, at.head, wide_columns[c]);
    }
    attn_out_str(o, "error\n");
}

static void number(struct attn_out *o, double x)
{
    char buf[ATTN_NUM_MAX];
    attn_out_write(o, buf, attn_num_f64(buf, x));
}

static void cell(struct attn_out *o, double x)
{
    number(o, x);
    attn_out_char(o, ',');
}

/* A score that no row offers is empty. */
static void score(struct attn_out *o, const struct attn_score_sum *sum)
{
    if (sum->n)
        number(o, attn_score_mean(sum));
}

static void write_predictions(struct attn_out *o, const struct sentence *of, const struct attn_sink_job *job)
{
    size_t len = 0;
    cell(o, of->logprob);
    if (!of->n_next) {                  /* logits that are not finite: no token is the likeliest */
        attn_out_str(o, ",,,");
        return;
    }
    int32_t id = of->next.id;
    const char *text = job->token_text ? job->token_text(job->token_ctx, id, &len) : NULL;
    attn_out_u64(o, (uint64_t)id);
    attn_out_char(o, ',');
    if (text)
        attn_cell_text(o, text, len, job->csv_safe);
    attn_out_char(o, ',');
    cell(o, of->next.p);
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
    const struct attn_score_sum *sum = attn_scores_sums(s->scores, i, 0);
    for (size_t j = 0; j < attn_scores_heads(s->scores) * WIDE; j++) {
        score(o, &sum[j]);
        attn_out_char(o, ',');
    }
    attn_out_char(o, '\n');
}

static void wide_line(const struct attn_summary *s, size_t i, const char *failed, struct attn_out *o,
                      const struct attn_sink_job *job)
{
    enum { BEFORE = 5 };                /* columns between those of the record and those of heads */
    attn_cell_record(o, job->record->of, job->csv_safe);
    if (!failed) {
        write_sentence(s, i, o, job);
        return;
    }
    for (size_t k = 0; k < BEFORE + WIDE * attn_scores_heads(s->scores); k++)
        attn_out_char(o, ',');
    attn_cell_text(o, failed, strlen(failed), job->csv_safe);
    attn_out_char(o, '\n');
}

/* ---- one line for each head of a sentence ------------------------------------------------ */

static void tidy_header(struct attn_out *o)
{
    attn_out_str(o, "record,layer,head");
    for (const struct attn_head_score *c = NULL; (c = attn_head_score_next(c));)
        attn_out_printf(o, ",%s", c->name);
    attn_out_str(o, ",id,error\n");
}

static void write_head(const struct attn_summary *s, size_t sentence, size_t head, struct attn_out *o)
{
    struct attn_head_place at = attn_scores_place(s->scores, head);
    const struct attn_score_sum *sum = attn_scores_sums(s->scores, sentence, head);
    attn_out_printf(o, ",%zu,%zu", at.layer, at.head);
    for (const struct attn_head_score *c = NULL; (c = attn_head_score_next(c));) {
        attn_out_char(o, ',');
        if (c->of)
            score(o, sum++);
    }
}

static void tidy_lines(const struct attn_summary *s, size_t i, const char *failed, struct attn_out *o,
                       const struct attn_sink_job *job)
{
    for (size_t head = 0; head < (failed ? 1 : attn_scores_heads(s->scores)); head++) {
        attn_out_u64(o, job->record->of->number);
        if (!failed)
            write_head(s, i, head, o);
        else
            for (size_t k = 0; k < 2 + attn_head_score_count(); k++)
                attn_out_char(o, ',');
        attn_cell_end(o, job->record->of, failed, job->csv_safe);
    }
}

/* ---- the table ------------------------------------------------------------------------- */

void attn_summary_header(const struct attn_summary *s, struct attn_out *o)
{
    if (s->tidy)
        tidy_header(o);
    else
        wide_header(s, o);
}

void attn_summary_line(const struct attn_summary *s, size_t i, const char *failed, struct attn_out *o,
                       const struct attn_sink_job *job)
{
    if (s->tidy)
        tidy_lines(s, i, failed, o, job);
    else
        wide_line(s, i, failed, o, job);
}

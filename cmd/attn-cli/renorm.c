#include "renorm.h"

#include "attention.h"
#include "input.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>

/* Limits the memory for the patterns that are compared: 256 MB for each of the two kinds. */
enum { NUMBERS_MOST = 1 << 26 };

/* How many layers, from the first on, have patterns that fit into that memory. */
static size_t layers_that_fit(const struct attn_info *info, size_t T)
{
    double each = (double)info->H * (double)T * (double)T, fit = NUMBERS_MOST / each;
    return fit < (double)info->L ? (size_t)fit : info->L;
}

static int patterns(struct attn_dump **out, const struct attn_model *m, const struct attn_tokens *tokens, size_t layers,
                    struct attn_kind kind, int threads, struct attn_err *err)
{
    char spec[32];
    struct attn_select *what;
    struct attn_plan how = {.threads = threads, .bf16 = compute_bf16(), .kind = kind};
    snprintf(spec, sizeof spec, "0-%zu", layers - 1);
    int code = attn_select_new(&what, m, &kind, "pattern", spec, NULL, err);
    if (!code)
        code = attn_dump_run(out, m, tokens, NULL, what, &how, NULL, err);
    attn_select_free(what);
    return code;
}

static void say_difference(const struct attn_diff *d)
{
    size_t n;
    const struct attn_diff_row *row = attn_diff_rows(d, &n), *most = row;
    for (size_t i = 1; i < n; i++)
        if (row[i].max_abs > most->max_abs)
            most = &row[i];
    if (most->max_abs > 0)
        say_note("causal-renorm: on this text no weight is more than %.2g from that of causal, which masks with -inf (the "
                 "furthest: layer %d, head %zu, query %zu, key %zu)", most->max_abs, most->layer, most->at[0], most->at[1], most->at[2]);
    else
        say_note("causal-renorm: on this text all weights are those of causal, which masks with -inf");
}

static int compare(const struct attn_model *m, const struct attn_tokens *tokens, size_t layers, int threads, struct attn_err *err)
{
    struct attn_dump *a = NULL, *b = NULL;
    struct attn_diff *d = NULL;
    struct attn_diff_opts exact = {.exact = true};
    struct attn_kind kind = attention_kind();
    int code = patterns(&a, m, tokens, layers, kind, threads, err);
    kind.form = ATTN_CAUSAL;
    if (!code)
        code = patterns(&b, m, tokens, layers, kind, threads, err);
    if (!code)
        code = attn_diff_new(&d, a, b, &exact, err);
    if (!code)
        say_difference(d);
    attn_diff_free(d);
    attn_dump_free(a);
    attn_dump_free(b);
    return code;
}

static int count_lost(const struct attn_model *m, const struct attn_tokens *tokens, int threads, struct attn_err *err)
{
    struct attn_run *run = NULL;
    struct attn_plan plan = {.rows = tokens->n, .seqs = 1, .threads = threads, .bf16 = compute_bf16(), .kind = attention_kind()};
    struct attn_seq seq = {.T = tokens->n};
    struct attn_lost lost = {0};
    int32_t *ids;
    int code = input_ids(&ids, tokens, err);
    if (!code)
        code = attn_run_new(&run, m, &plan, NULL, 0, err);
    if (!code)
        code = attn_run_forward(run, ids, &seq, 1, err);
    if (!code)
        lost = attn_run_lost(run);
    if (lost.rows)
        say_note("causal-renorm: all weights of %zu row%s were rounded to 0, because of larger scores of later tokens: nothing is "
                 "left to divide by, and %s stay 0 (the first: layer %d, head %zu, query %zu)", lost.rows, lost.rows == 1 ? "" : "s",
                 lost.rows == 1 ? "it" : "they", lost.layer, lost.head, lost.row);
    attn_run_free(run);
    free(ids);
    return code;
}

int renorm_report(const struct attn_model *m, const struct attn_tokens *tokens, int threads, struct attn_err *err)
{
    struct attn_info info;
    if (attention_kind().form != ATTN_CAUSAL_RENORM || common.quiet)
        return ATTN_OK;
    attn_model_info(m, &info);
    size_t layers = layers_that_fit(&info, tokens->n);
    int code = layers ? compare(m, tokens, layers, threads, err) : ATTN_OK;
    return code ? code : count_lost(m, tokens, threads, err);
}

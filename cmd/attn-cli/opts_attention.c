#include "opts_attention.h"
#include "attn_tools.h"

#include "input.h"
#include "say.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static struct { const char *form, *scale; struct real dropout; struct attn_kind kind; } o;
struct number dropout_seed;

static int check_form(const struct option *row, struct attn_err *err)
{
    struct attn_err why = {0};
    (void)row;
    if (attn_kind_parse(&o.kind, o.form, &why))
        return attn_fail(err, ATTN_EUSAGE, "--%s", why.msg);
    return o.kind.scaling ? attn_scale_parse(&o.kind, o.scale, err) : ATTN_OK;
}

static int check_scale(const struct option *row, struct attn_err *err)
{
    (void)row;
    return attn_scale_parse(&o.kind, o.scale, err);
}

static int check_dropout(const struct option *row, struct attn_err *err)
{
    (void)row;
    if (!(o.dropout.x >= 0 && o.dropout.x < 1))
        return attn_fail(err, ATTN_EUSAGE, "--dropout: %s is not from 0 to below 1", excerpt(o.dropout.given).text);
    o.kind.dropout = o.dropout.x;
    return ATTN_OK;
}

struct attn_kind attention_kind(void)
{
    struct attn_kind kind = o.kind;
    kind.dropout_seed = dropout_seed.n;
    return kind;
}

void note_unused_seed(const struct command *c)
{
    for (const struct option *const *g = c->groups; *g; g++)
        if (*g == dropout_seed_options && c != &explain_command && dropout_seed.given && o.kind.dropout <= 0)
            say_note("--seed %s: nothing is drawn here; it is the seed of --dropout, which is not given",
                     excerpt(dropout_seed.given).text);
}

struct attn_plan plan_asked(void)
{
    return (struct attn_plan){.threads = (int)common.threads.n, .bf16 = compute_bf16(), .kind = attention_kind()};
}

enum { KINDS_MOST = 32 };

const struct pair *attention_forms(bool notes)
{
    static struct pair list[KINDS_MOST + 1];
    size_t n = 0;
    for (const struct attn_kind_row *row = NULL; (row = attn_kind_next(row)) && n < KINDS_MOST;)
        list[n++] = (struct pair){row->form, notes ? row->note : NULL};
    return list;
}

static void explain_forms(char help[OPTION_HELP])
{
    char forms[OPTION_HELP / 2];
    list_terms(forms, sizeof forms, attention_forms(true), " or ");
    snprintf(help, OPTION_HELP, "attention in every layer: %s; see 'attn-cli help kinds'", forms);
}

const struct option attention_options[] = {
    {0, "attention", OPT_TEXT, &o.form, "KIND", NULL, .explain = explain_forms, .check = check_form,
     .section = OF_ATTENTION, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "scale", OPT_TEXT, &o.scale, "SCALE", "factor of the dot products in every layer, instead of the model's own: "
                                              "none (1), sqrt (1 over the square root of a head's width) or a number",
     .check = check_scale,
     .section = OF_ATTENTION, .flags = OPT_COUNTS},
    {0, "dropout", OPT_REAL, &o.dropout, "P", "set each attention weight to 0 with probability P and divide the others "
                                              "by 1 - P, as in training (default: 0).  A row then no longer sums to 1: "
                                              "shares of it can be above 1, entropies below 0",
     .check = check_dropout, .section = OF_ATTENTION, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct option kind_options[] = {
    {0, "kind", OPT_TEXT, &o.form, "KIND", "another name for --attention", .check = check_form, .section = OF_ATTENTION,
     .flags = OPT_USUAL},
    {.name = NULL},
};

const struct option dropout_seed_options[] = {
    {0, "seed", OPT_NUMBER, &dropout_seed, "N",
     "seed of the random numbers of --dropout (default: 0)", .max = UINT64_MAX,
     .section = OF_ATTENTION, .flags = OPT_COUNTS},
    {.name = NULL},
};

const char attention_title[] = "Attention (what --attention takes; q and k count tokens from 0)";

const struct pair *attention_kinds(void)
{
    static const struct pair dropout = {
        "--dropout P", "drops the weight of q for k where S(S(S(S(SEED + layer) + head) + q) + k), its 53 high bits "
                       "read as a number from 0 to 1, is below P; S(x) is the first number of splitmix64 seeded with "
                       "x.  So neither threads nor batches change it"};
    static struct pair list[KINDS_MOST + 2];
    size_t n = 0;
    for (const struct attn_kind_row *row = NULL; (row = attn_kind_next(row)) && n < KINDS_MOST;)
        list[n++] = (struct pair){row->form, row->help};
    list[n] = dropout;
    return list;
}

/* ---- causal-renorm, beside causal -------------------------------------------------------- */

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
    struct attn_plan plan = {.threads = threads, .bf16 = compute_bf16(), .kind = kind};
    snprintf(spec, sizeof spec, "0-%zu", layers - 1);
    int code = attn_select_new(&what, m, &kind, "pattern", spec, NULL, err);
    if (!code)
        code = attn_dump_run(out, m, tokens, NULL, what, &plan, NULL, err);
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
        say_note("causal-renorm: on this text no weight is more than %.2g from that of causal, which masks with -inf "
                 "(the furthest: layer %d, head %zu, query %zu, key %zu)", most->max_abs, most->layer, most->at[0],
                 most->at[1], most->at[2]);
    else
        say_note("causal-renorm: on this text all weights are those of causal, which masks with -inf");
}

static int compare(const struct attn_model *m, const struct attn_tokens *tokens, size_t layers, int threads,
                   struct attn_err *err)
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
    struct attn_plan plan = {.rows = tokens->n, .seqs = 1, .threads = threads, .bf16 = compute_bf16(),
                             .kind = attention_kind()};
    struct attn_seq seq = {.T = tokens->n};
    struct attn_lost lost = {0};
    int32_t *ids;
    int code = attn_tokens_to_ids(&ids, tokens, err);
    if (!code)
        code = attn_run_new(&run, m, &plan, NULL, 0, err);
    if (!code)
        code = attn_run_forward(run, ids, &seq, 1, err);
    if (!code)
        lost = attn_run_lost(run);
    if (lost.rows)
        say_note("causal-renorm: all weights of %zu row%s were rounded to 0, because of larger scores of later tokens: "
                 "nothing is left to divide by, and %s stay 0 (the first: layer %d, head %zu, query %zu)", lost.rows,
                 lost.rows == 1 ? "" : "s", lost.rows == 1 ? "it" : "they", lost.layer, lost.head, lost.row);
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

/* cmd_score.c - prints how likely a text is, token by token. */
#include "opts_attention.h"
#include "opts_output.h"
#include "outputs.h"
#include "cli_print.h"
#include "say.h"
#include "session.h"
#include "texts.h"

#include "base/err.h"
#include "table/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct { const char *format; struct number stride; } o;

struct score {
    struct session of;
    struct attn_info info;
    int32_t *ids;
    double *logprob;                    /* [n], for all tokens but the first */
    size_t stride;
    double sum;
};

static double perplexity(const struct score *s)
{
    return exp(-s->sum / (double)(s->of.tokens->n - 1));
}

static bool has_windows(const struct score *s)
{
    return s->of.tokens->n > s->info.n_ctx;
}

/* ---- printing ---------------------------------------------------------------------------- */

static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    static char part[ATTN_READING];     /* of a row at a time */
    const struct score *s = self;
    const struct attn_token *t = &s->of.tokens->tok[i];
    *cell++ = attn_datum_whole(i);
    *cell++ = attn_datum_index(t->id);
    if (t->known) {
        cell[0] = attn_datum_text(t->text, t->text_len);
        cell[0].read = attn_token_reading(part, t, &cell[0].read_len);
        cell[1] = attn_datum_text(t->raw, t->raw_len);
    }
    if (i)
        cell[2] = attn_datum_real(s->logprob[i]);
}

static struct attn_table table_of(const struct score *s)
{
    static const struct attn_column columns[] = {
        {.name = "index", .kind = ATTN_COLUMN_WHOLE, .flags = ATTN_COLUMN_FLAT, .width = 5},
        {.name = "id", .kind = ATTN_COLUMN_WHOLE, .width = 7, .gap = 1},
        {.name = "text", .kind = ATTN_COLUMN_TOKEN, .heading = "token"},
        {.name = "raw", .kind = ATTN_COLUMN_TEXT, .flags = ATTN_COLUMN_DATA},
        {.name = "logprob", .kind = ATTN_COLUMN_REAL, .digits = 4, .width = 9}};
    return (struct attn_table){.column = columns, .columns = sizeof columns / sizeof *columns, .rows = s->of.tokens->n,
                               .row = fill, .self = s, .spaced = true, .csv_safe = csv_safe()};
}

static void print_likely(const char *heading, const struct attn_likely *list, size_t n,
                         const struct attn_tokenizer *tokenizer)
{
    printf("\n%s\nprobability      id%s\n", heading, tokenizer ? "  token" : "");
    for (size_t i = 0; i < n; i++) {
        size_t len = 0;
        const char *text = tokenizer ? attn_tokenizer_text(tokenizer, list[i].id, &len) : NULL;
        printf("%11.4f %7d  ", list[i].p, list[i].id);
        if (text)
            print_visible(stdout, text, len);
        putchar('\n');
    }
}

/* What the edits did to the token after the text. */
static void print_compare(const struct score *s)
{
    struct attn_compared c;
    if (!s->of.edits.compare || attn_compare_result(s->of.edits.compare, &c, NULL))
        return;
    print_likely("likeliest next tokens, before the edits", c.before, c.n_before, s->of.tokenizer);
    print_likely("likeliest next tokens, after the edits", c.after, c.n_after, s->of.tokenizer);
    printf("\nKL(before || after)  %.4f nats\n", c.kl);
}

static int print_report(const struct score *s, const struct attn_table *table, struct attn_err *err)
{
    size_t n = s->of.tokens->n - 1;
    if (table_print(table, "text", err))
        return err->code;
    printf("\nscored      %zu token%s\nlogprob     %.4f\n", n, n == 1 ? "" : "s", s->sum);
    if (n)
        printf("perplexity  %.4f\n", perplexity(s));
    if (has_windows(s))
        printf("windows     of %zu tokens, %zu apart\n", s->info.n_ctx, s->stride);
    for (size_t i = 0; i < attn_edits_count(s->of.edits.list); i++)
        printf("%sedit: %s\n", i ? "" : "\n", attn_edits_text(s->of.edits.list, i));
    print_compare(s);
    return ATTN_OK;
}

static void json_likely(const char *key, const struct attn_likely *list, size_t n,
                        const struct attn_tokenizer *tokenizer)
{
    printf("\"%s\": [", key);
    for (size_t i = 0; i < n; i++) {
        size_t len = 0;
        const char *s = tokenizer ? attn_tokenizer_text(tokenizer, list[i].id, &len) : NULL;
        printf("%s{\"id\": %d, \"text\": ", i ? ", " : "", (int)list[i].id);
        json_string(stdout, s, len);
        fputs(", \"probability\": ", stdout);
        json_real(stdout, list[i].p);
        fputc('}', stdout);
    }
    fputc(']', stdout);
}

/* What the edits did to the next token, {"kl", "before", "after"} or null. */
static void json_compare(const struct score *s)
{
    struct attn_compared c;
    fputs(",\n \"compare\": ", stdout);
    if (!s->of.edits.compare || attn_compare_result(s->of.edits.compare, &c, NULL)) {
        fputs("null", stdout);
        return;
    }
    fputs("{\"kl\": ", stdout);
    json_real(stdout, c.kl);
    fputs(",\n  ", stdout);
    json_likely("before", c.before, c.n_before, s->of.tokenizer);
    fputs(",\n  ", stdout);
    json_likely("after", c.after, c.n_after, s->of.tokenizer);
    fputc('}', stdout);
}

static int print_json(const struct score *s, const struct attn_table *table, struct attn_err *err)
{
    printf("{\"version\": \"%s\",\n \"model\": ", attn_version());
    if (json_model(stdout, s->of.model, err))
        return err->code;
    fputs(",\n \"text\": ", stdout);
    json_string(stdout, s->of.in.text, s->of.in.len);
    json_kind(stdout, attention_kind());
    fputs(",\n \"tokens\": [", stdout);
    if (table_objects(table, "\n  ", "\n  ", err))
        return err->code;
    fputc(']', stdout);
    json_edits(stdout, s->of.edits.list);
    fputs(",\n \"logprob\": ", stdout);
    json_real(stdout, s->sum);
    fputs(",\n \"perplexity\": ", stdout);
    s->of.tokens->n > 1 ? json_real(stdout, perplexity(s)) : (void)fputs("null", stdout);
    printf(",\n \"n\": %zu,\n \"window\": %zu,\n \"stride\": %zu", s->of.tokens->n - 1, s->info.n_ctx, s->stride);
    if (s->of.edits.list)
        json_compare(s);
    fputs("}\n", stdout);
    return ATTN_OK;
}

/* ---- scoring ----------------------------------------------------------------------------- */

static int choose_stride(struct score *s, struct attn_err *err)
{
    size_t n_ctx = s->info.n_ctx;
    s->stride = o.stride.given ? (size_t)o.stride.n : n_ctx > 2 ? n_ctx / 2 : 1;
    if (o.stride.given && s->stride >= n_ctx)
        return attn_fail(err, ATTN_EUSAGE,
                         "--stride: %s is not in 1..%zu, below the model's n_ctx", o.stride.given, n_ctx - 1);
    return ATTN_OK;
}

static int open_all(struct score *s, struct attn_err *err)
{
    struct attn_kind kind = attention_kind();
    if (session_read(&s->of, 0, err) || open_model(&s->of.model, &score_command, err) ||
        attn_model_predicts(s->of.model, &kind, err))
        return err->code;
    attn_model_info(s->of.model, &s->info);
    if (choose_stride(s, err) || session_encode(&s->of, o.format, NULL, SESSION_EMPTY, err))
        return err->code;
    if (!s->of.tokens->n)
        return attn_fail(err, ATTN_EFORMAT, "the text is empty: there is no token to score");
    int code = session_edit(&s->of, EDITS_WINDOWS, err);
    return code ? code : edits_compare(&s->of.edits, s->of.model, err);
}

static int score_tokens(struct score *s, struct attn_err *err)
{
    size_t n = s->of.tokens->n;
    if (attn_tokens_to_ids(&s->ids, s->of.tokens, err))
        return err->code;
    s->logprob = calloc(n, sizeof *s->logprob);
    if (!s->logprob)
        return attn_no_memory(err, NULL, "for %zu tokens", n);
    progress_start(&s->of.progress, s->of.model, true);
    struct attn_observer observers[3] = {progress_observer(&s->of.progress)};
    struct attn_score_opts opts = {.stride = s->stride, .kind = attention_kind(), .threads = (int)common.threads.n,
                                   .bf16 = compute_bf16(),
                                   .observers = observers, .n_observers = 1};
    struct attn_compare *compare = s->of.edits.compare;
    int code = ATTN_OK;
    if (compare) {
        observers[opts.n_observers++] = attn_compare_before(compare);
        code = attn_score(s->logprob, s->of.model, s->ids, n, &opts, err);
    }
    opts.n_observers = edits_observe(&s->of.edits, observers);
    observers[opts.n_observers++] = progress_observer(&s->of.progress);
    if (compare)
        observers[opts.n_observers++] = attn_compare_after(compare);
    if (!code)
        code = attn_score(s->logprob, s->of.model, s->ids, n, &opts, err);
    progress_end(&s->of.progress);
    if (code)
        return code;
    for (size_t i = 1; i < n; i++)
        s->sum += s->logprob[i];
    return ATTN_OK;
}

static int score_text(struct score *s, struct attn_err *err)
{
    if (open_all(s, err) || score_tokens(s, err))
        return err->code;
    struct attn_table table = table_of(s);
    if (!o.format || !strcmp(o.format, "text"))
        return print_report(s, &table, err);
    return strcmp(o.format, "json") ? table_print(&table, o.format, err) : print_json(s, &table, err);
}

static int score(struct attn_err *err)
{
    struct score s = {.ids = NULL};
    int code = score_text(&s, err);
    free(s.logprob);
    free(s.ids);
    session_close(&s.of);
    return code;
}

static void explain_format(char help[OPTION_HELP])
{
    explain_tables(help, "a table and totals", "; default: text");
}

static const struct option options[] = {
    {0, "stride", OPT_NUMBER, &o.stride, "N", "how far apart the windows of a longer text start (default: half of "
                                              "n_ctx)",
     .min = 1, .max = INT32_MAX, .flags = OPT_COUNTS | OPT_USUAL},
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = table_format, .explain = explain_format,
     .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {.name = NULL},
};

const struct command score_command = {
    .name = "score",
    .schemas = (const char *const[]){"score", "many", NULL},
    .run = score,
    .texts = TEXTS,
    .usage = "score TEXT... [-f FILE] [-m DIR|NAME] [--stride N] [--format F]",
    .section = IN_TEXTS,
    .summary = "per-token log-probability, total and perplexity of a text",
    .about = "Prints the natural log-probability of each token given those before it (the first has none), their sum, "
             "and the perplexity exp(-mean).  A text longer than n_ctx is read in windows of n_ctx tokens that start "
             "--stride apart: each token after the first window is scored once, with at least n_ctx - N tokens before "
             "it.  A smaller stride gives more context and takes longer.",
    .examples = (const struct pair[]){
        {"attn-cli score -s \"The little girl was happy.\"", "a table of tokens, and the totals"},
        {"attn-cli score -s \"The little girl was happy.\" --ablate L0H1", "the same without a head"},
        {"attn-cli score -m ./gpt2 -f book.txt --stride 256 --format json | jq .perplexity", "of a whole book"},
        {NULL, NULL}},
    .refused = (const struct pair[]){
        {"cross",
         "a token would not see the tokens before it, and so not predict the next; 'run' and 'explain' look at another "
         "text"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_options, record_options, nth_options,
                                             encode_options, ids_options, label_options,
                                             options, edit_options, from_options, compare_options, csv_options,
                                             attention_options, dropout_seed_options, compute_options,
                                             thread_options, printed_options, general_options, NULL},
    .report = true,
};

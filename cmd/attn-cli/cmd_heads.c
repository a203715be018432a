/* cmd_heads.c - ranks the heads of a model by what they do. */
#include "attn_ask.h"
#include "attn_tools.h"
#include "opts_attention.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "cli_report.h"
#include "opts_language.h"
#include "process.h"
#include "say.h"
#include "session.h"
#include "texts.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL = 24 };                    /* of --repeat */

static struct {
    const char *by, *format, *path;
    struct number repeat, samples, top;
    bool copying;
} o;

struct heads {
    struct session of;
    struct attn_select *select;
    struct attn_records_opts records;
    struct attn_repeated repeated;
    int32_t *ids; size_t *T, texts;     /* NULL: the texts are records */
    struct attn_labels *labels;         /* what the ids of a text read */
    char about[160];                    /* what the texts are; "": nothing to say */
    struct report report;
    struct steps steps;                 /* of `copying` */
};

/* ---- the texts --------------------------------------------------------------------------- */

static bool repeats(void)
{
    return !texts_typed() && !common.file && !common.ids;
}

static int check(struct attn_err *err)
{
    if (!repeats() && (o.samples.given || (dropout_seed.given && attention_kind().dropout <= 0)))
        return attn_fail(err, ATTN_EUSAGE,
                         "--%s is for random texts: it goes with --repeat", o.samples.given ? "samples"
                         : "seed");
    int code = input_check_labels(err);
    return code ? code : output_choose_format(&o.format, o.path, &heads_command, err);
}

/* A model without a tokenizer puts nothing in front of texts. */
static int open_for(struct heads *s, enum attn_bos bos, struct attn_err *err)
{
    int code = s->of.tokenizer || bos == ATTN_BOS_NO ? ATTN_OK : open_tokenizer(&s->of.tokenizer, err);
    if (code != ATTN_EIO || bos == ATTN_BOS_YES)
        return code;
    *err = (struct attn_err){0};
    return ATTN_OK;
}

static int draw_texts(struct heads *s, struct attn_err *err)
{
    enum attn_bos bos = input_encode_opts().bos;
    int code = open_for(s, bos, err);
    const bool usual = o.repeat.n == USUAL;     /* the default, spelled out, is no other length */
    const struct attn_repeat_opts opts = {.tokenizer = s->of.tokenizer, .bos = bos,
                                          .n = usual ? 0 : (size_t)o.repeat.n,
                                          .texts = (size_t)o.samples.n, .seed = dropout_seed.n};
    if (!code)
        code = attn_repeat(&s->repeated, s->of.model, &opts, err);
    if (code)
        return code;
    if (usual && s->repeated.n < USUAL)
        say_note("--repeat %d: the model has room for %zu, which are repeated", USUAL, s->repeated.n);
    s->ids = s->repeated.ids;
    s->texts = s->repeated.texts;
    s->T = calloc(s->texts, sizeof *s->T);
    for (size_t i = 0; i < s->texts && s->T; i++)
        s->T[i] = s->repeated.T;
    snprintf(s->about, sizeof s->about, "%zu random ids, twice (seed %" PRIu64 ")", s->repeated.n, dropout_seed.n);
    return s->T ? ATTN_OK : attn_no_memory(err, NULL, "for %zu texts", s->texts);
}

/* The tokens of ids in a row, as far as they have names. */
static void say_tokens(struct heads *s)
{
    const struct attn_tokens *t = s->of.tokens;
    bool words = s->of.tokenizer && !strcmp(attn_tokenizer_kind(s->of.tokenizer), "word");
    const char *between = words || input_labels_read() ? " " : "";
    size_t n = 0;
    for (size_t i = 0; i < t->n && t->tok[i].known && n < sizeof s->about; i++)
        n += (size_t)snprintf(s->about + n, sizeof s->about - n, "%s%s", i ? between : "", t->tok[i].text);
    snprintf(s->about, sizeof s->about, "%s", excerpt(s->about).text);
}

static int read_text(struct heads *s, struct attn_err *err)
{
    if (session_read(&s->of, 0, err) || session_encode(&s->of, o.format, o.path, SESSION_EMPTY, err) ||
        attn_tokens_to_ids(&s->ids, s->of.tokens, err))
        return err->code;
    s->T = calloc(1, sizeof *s->T);
    if (!s->T)
        return attn_no_memory(err, NULL, "for a text");
    s->T[0] = s->of.tokens->n;
    s->texts = 1;
    if (s->of.in.text)
        snprintf(s->about, sizeof s->about, "%s", excerpt(s->of.in.text).text);
    else
        say_tokens(s);
    return s->of.tokenizer ? attn_labels_new(&s->labels, s->of.tokenizer, err) : ATTN_OK;
}

static int open_records(struct heads *s)
{
    s->records = texts_records();
    snprintf(s->about, sizeof s->about, "%s", excerpt(texts_source()).text);
    return ATTN_OK;
}

/* ---- ranking ----------------------------------------------------------------------------- */

/* Tells how far the product of embedding and output layer is. */
static int say_step(void *self, double done, struct attn_err *err)
{
    struct heads *s = self;
    (void)err;
    steps_say(&s->steps, "copying: %.0f %%", 100 * done);
    return ATTN_OK;
}

static int rank(struct heads *s, struct attn_err *err)
{
    bool terminal = terminal_is(o.path);
    struct attn_heads_state state;
    const struct attn_batch_opts over = {
        .model = s->of.model, .select = s->select, .records = &s->records,
        .encode = input_encode_opts(), .labels = s->labels,
        .edits = s->of.edits.list, .from = s->of.edits.from,
        .plan = plan_asked(), .progress = report_progress,
        .failed = s->texts ? NULL : report_failed, .opened = doubt_tokenizer, .self = &s->report};
    const struct attn_heads_opts opts = {
        .over = &over, .ids = s->ids, .T = s->T, .texts = s->texts, .repeat = s->repeated.n,
        .copying = o.copying, .by = o.by, .top = (size_t)o.top.n,
        .format = o.format, .path = o.path, .about = *s->about ? s->about : NULL, .width = terminal_columns(terminal),
        .bars = terminal, .picture = picture_look(terminal), .step = say_step, .step_self = s};
    report_start(&s->report, "heads", common.file || texts_typed() > 1 ? texts_source() : "", false);
    s->report.patient = true;
    int code = attn_heads(&state, &opts, err);
    erase_line(&s->report.shown);
    erase_line(&s->steps.shown);
    if (code)
        return code;
    report_overflow(&s->report, state.overflowed);
    if (state.failed)
        report_failures(&s->report, state.failed, state.failed + state.texts, ", and do not count");
    common.status = state.failed ? SOME_FAILED : 0;
    return ATTN_OK;
}

static int open_all(struct heads *s, struct attn_err *err)
{
    struct attn_kind kind = attention_kind();
    if (check(err) || open_model(&s->of.model, &heads_command, err) ||
        attn_select_new(&s->select, s->of.model, &kind, "pattern", selection.layer, selection.head, err) ||
        edits_open(&s->of.edits, &s->of.tokenizer, err))
        return err->code;
    return repeats() ? draw_texts(s, err) : common.file || texts_typed() > 1 ? open_records(s) : read_text(s, err);
}

static int heads(struct attn_err *err)
{
    struct heads s = {.select = NULL};
    int code = open_all(&s, err);
    if (!code)
        code = rank(&s, err);
    free(s.ids);
    free(s.T);
    attn_labels_free(s.labels);
    attn_select_free(s.select);
    session_close(&s.of);
    return code;
}

/* ---- options ----------------------------------------------------------------------------- */

/* The table of scores: those with a flag, or all; the names alone, or what they are. */
static const struct pair *list_scores(unsigned flag, bool help)
{
    enum { MOST = 16 };
    static struct pair list[MOST + 1];
    size_t n = 0;
    for (const struct attn_head_score *s = NULL; (s = attn_head_score_next(s)) && n < MOST;)
        if (!flag || s->flags & flag)
            list[n++] = (struct pair){s->name, help ? s->help : NULL};
    list[n] = (struct pair){NULL, NULL};
    return list;
}

static const char *score_choice(size_t i) { return list_scores(0, false)[i].term; }
static const struct pair *score_list(void) { return list_scores(0, true); }

static void explain_by(char help[OPTION_HELP])
{
    char shares[OPTION_HELP / 2];
    list_terms(shares, sizeof shares, list_scores(ATTN_SCORE_SHARE, false), ", ");
    snprintf(help, OPTION_HELP,
             "sort the heads by this score, the largest first, in every format but pictures (default: by the share of "
             "the main role, which is one of %s)", shares);
}

static void explain_format(char help[OPTION_HELP])
{
    explain_answers(help, "the best first; the others, too, with --by or --top, else by layer and head",
                    "a picture, layers by heads for each score");
}

static const struct option text_rows[] = {
    {'s', "sentence", OPT_TEXT, &common.sentence, "TEXT", "the text itself",
     .section = OF_INPUT, .flags = OPT_INPUT | OPT_COUNTS | OPT_USUAL},
    {'f', "file", OPT_FILE, &common.file, "PATH",
     "many texts, as batch reads them, - is standard input: the rows of all of "
     "them count alike", .section = OF_INPUT, .flags = OPT_INPUT | OPT_COUNTS | OPT_USUAL},
    {0, "ids", OPT_TEXT, &common.ids, "IDS", "token ids in place of a text, as in 5,1,2; they need no tokenizer",
     .section = OF_INPUT, .flags = OPT_INPUT | OPT_COUNTS},
    {0, "repeat", OPT_NUMBER, &o.repeat, "N", "N random ids, twice, so that only looking back can predict the second "
                                              "half; used when no text is given (default: 24, or as many as fit)",
     .min = 1, .max = INT32_MAX, .section = OF_INPUT, .flags = OPT_INPUT | OPT_COUNTS | OPT_USUAL},
    {0, "samples", OPT_NUMBER, &o.samples, "S", "how many such texts (default: 8)", .min = 1, .max = 1 << 20,
     .section = OF_INPUT, .flags = OPT_COUNTS},
    {0, "seed", OPT_NUMBER, &dropout_seed, "K",
     "seed of the random ids, and of --dropout (default: 0)", .max = UINT64_MAX,
     .section = OF_INPUT, .flags = OPT_COUNTS},
    {.name = NULL},
};

static const struct option options[] = {
    {0, "by", OPT_CHOICE, &o.by, "SCORE", NULL, .choice = score_choice, .explain = explain_by,
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "top", OPT_NUMBER, &o.top, "K",
     "only the first K of them; pictures have all (default: all)", .min = 1, .max = INT32_MAX,
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "copying", OPT_FLAG, &o.copying, NULL, "compute the score `copying`, too, which takes V d^2 operations once",
     .flags = OPT_COUNTS},
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = answer_format, .explain = explain_format,
     .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file (default: -, standard output)",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {.name = NULL},
};

const struct command heads_command = {
    .name = "heads",
    .schemas = (const char *const[]){"heads", NULL},
    .run = heads,
    .texts = TEXTS_STREAMED,
    .usage = "heads [TEXT... | -f FILE | --ids IDS | --repeat N] [-m DIR|NAME] [--by SCORE] [--top K] [--format F] [-o "
             "PATH]",
    .section = IN_HEADS,
    .summary = "which head does what: all heads, ranked by scores of their attention",
    .about = "Computes scores of every head from its attention patterns and prints a table.  Each row (a query q and "
             "its weights for the keys k) gives one number, and a score is their mean; rows that give none are left "
             "out, and where no row gives one the score is - (null in JSON, empty in CSV).  Rows of several texts are "
             "pooled.  The line `chance` is what equal weights would give, `rows` how many rows a score is the mean "
             "of.  A head is named after the largest of its shares that is at least twice chance, 0.1 above it and a "
             "mean of three rows or more; without such a share it gets no name.  The first look of 'run' and its page "
             "have the same scores and names.  Without a text, random ids are repeated: there `induction` is the share "
             "of what came after the same token the first time, and the losses of both halves say whether the model "
             "repeats at all.  With edits, scores are those of the edited run, except `copying`, which depends only on "
             "weights.  For more texts than one machine can take, 'batch --summary PATH --summary-form tidy' writes "
             "the scores of each, in shards that 'merge' joins.",
    .examples = (const struct pair[]){
        {"attn-cli heads -m induction --repeat 24",
         "which heads look back to the same token, and to what came after it"},
        {"attn-cli heads -s \"Tom went home, and Tom slept\" --by previous --top 5", "in one sentence"},
        {"attn-cli heads -m ./gpt2 -f sentences.txt --copying -o heads.csv",
         "over many, and how strongly their OV circuits copy"},
        {"attn-cli heads -m ./gpt2 --repeat 50 -o heads.png", "layers by heads, one picture per score"},
        {"attn-cli heads -m tiny --repeat 24 --ablate L0H1", "what the others do without one of them"},
        {"attn-cli heads --repeat 24 --format json | jq '.rows | max_by(.induction)'", "the induction head"},
        {NULL, NULL}},
    .list_title = "Scores (A: the pattern without row 0, which in a causal model sees only itself)",
    .rows = score_list,
    .refused = (const struct pair[]){
        {"words", "what a head does is told from its tokens: previous, induction and the rest look at each of them; "
                  "'run' merges words"},
        {"cross", "previous, self, duplicate and induction compare a text with itself; 'run' shows the patterns"},
        {"show", "the patterns alone have scores; 'run' and 'batch' show activations"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_rows, record_options, encode_options, label_options,
                                             options, place_options, edit_options, from_options,
                                             page_language_options, picture_options, attention_options,
                                             compute_options, thread_options, general_options, NULL},
    .report = true,
};

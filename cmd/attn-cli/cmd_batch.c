/* cmd_batch.c - runs many sentences through a model and writes what run writes, one record per sentence. */
#include "attn_ask.h"
#include "attn_tools.h"
#include "opts_attention.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "process.h"
#include "cli_report.h"
#include "say.h"
#include "session.h"
#include "texts.h"

#include "base/err.h"
#include "base/format.h"
#include "base/map.h"
#include "base/out.h"
#include "base/sha256.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    const char *format, *path, *summary, *summary_form, *shard;
    const char *over, *metric, *method;
    struct attn_batch_grid grid;
    struct real max_seconds;
    bool stride, resume, force, fail_fast, keep_going, dry_run, progress;
} o;

/* ---- what the options say ---------------------------------------------------------------- */

/* ".jsonl" is what others call ndjson. */
static bool is_lines(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    return dot && (!strcasecmp(dot, ".ndjson") || !strcasecmp(dot, ".jsonl"));
}

/* Without --format, the ending of the path decides.  With --summary alone, the summary becomes the main output. */
static int choose_format(struct attn_err *err)
{
    const char *by_name = output_format_of(o.path);
    if (o.summary && !o.path && !o.format) {
        o.format = "summary";
        o.path = o.summary;
        o.summary = NULL;
    }
    if (!o.format && !by_name && !is_lines(o.path))
        return output_check_format(NULL, o.path, err);
    if (o.format || !by_name || !strcmp(by_name, "json"))
        return ATTN_OK;
    if (!strcmp(by_name, "html"))
        return attn_fail(err, ATTN_EUSAGE, "%s: batch writes no pages: run writes one per sentence", o.path);
    if (strcmp(by_name, "csv") && strcmp(by_name, "tidy"))
        return attn_fail(err, ATTN_EUSAGE, "%s: batch writes %s as a directory with one per record: name a directory "
                                           "and give --format %s%s", o.path, by_name, by_name, strcmp(by_name, "npy") ?
                         "" :
                         ", or --format stack for one array of all records");
    o.format = "tidy";
    return ATTN_OK;
}

static bool is_grid(void)
{
    return o.over || o.metric || o.method;
}

/* With --over and --metric there is a grid for each record, in place of activations. */
static int check_grid(struct attn_err *err)
{
    const struct { const char *given, *option, *instead; } refused[] = {
        {sourcing.text, "from", "each record has its own, the field \"from\""},
        {sourcing.ids, "from-ids", "each record has its own, the field \"from_ids\""},
        {selection.show, "show", "--patch says which activation"}, {selection.layer, "layer", "a grid has all layers"},
        {selection.head, "head", "a grid has all heads"},
        {o.summary_form, "summary-form", "a grid's summary has one form"}};
    if (!is_grid())
        return ATTN_OK;
    int code = edits_take_patch(&o.grid.what, err);
    if (code)
        return code;
    if (!o.over || !o.metric)
        return attn_fail(err, ATTN_EUSAGE,
                         "a grid for each record takes --patch NAME, --over AXES and --metric METRIC: --%s is missing",
                         o.over ? "metric" : "over");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].given)
            return attn_fail(err, ATTN_EUSAGE,
                             "--%s does not go with a grid for each record (--over, --metric): %s", refused[i].option,
                             refused[i].instead);
    o.grid.over = o.over;
    o.grid.metric = o.metric;
    o.grid.method = o.method;
    return ATTN_OK;
}

static int check(struct attn_err *err)
{
    if (!common.file && !texts_typed())
        return attn_fail(err, ATTN_EUSAGE, "no input: give texts, each in quotes, or a file with one in each line, -f "
                                           "PATH (-f - is standard input)");
    if (o.resume && o.force)
        return attn_fail(err, ATTN_EUSAGE, "--resume continues and --force starts anew: give only one of them");
    if (o.fail_fast && o.keep_going)
        return attn_fail(err, ATTN_EUSAGE, "--fail-fast and --keep-going do not go together");
    if (o.max_seconds.given && o.max_seconds.x <= 0)
        return attn_fail(err, ATTN_EUSAGE, "--max-seconds is %s, expected more than 0", o.max_seconds.given);
    if (o.stride && !o.shard)
        return attn_fail(err, ATTN_EUSAGE, "--stride is how shards are chosen: give --shard, too");
    int code = check_grid(err);
    if (!code)
        code = choose_format(err);
    if (!code)
        code = picture_check(&batch_command, o.format ? o.format : "ndjson", err);
    const struct attn_format *f = code || !o.format ? NULL : attn_format_find(o.format);
    if (!code && o.summary_form && !o.summary && !(f && f->flags & ATTN_FORMAT_SUMMARY))
        code = attn_fail(err, ATTN_EUSAGE,
                         "--summary-form is how a summary is written: give --summary PATH or --format summary, too");
    return code;
}

static int read_share(struct attn_share *share, struct attn_err *err)
{
    *share = (struct attn_share){0};
    int code = o.shard ? attn_share_parse(share, o.shard, getenv, err) : ATTN_OK;
    share->stride = o.stride;
    return code;
}

static bool stop(void *self)
{
    (void)self;
    return stop_asked();
}

/* ---- what the user is told --------------------------------------------------------------- */

static void print_bytes(const char *what, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double x = (double)bytes;
    size_t unit = 0;
    for (; x >= 1000 && unit < 4; unit++)
        x /= 1000;
    printf("%-10s about %.*f %s\n", what, unit && x < 10, x, units[unit]);
}

static void report_estimate(const struct attn_batch_estimate *e)
{
    char time[32];
    printf("%-10s %" PRIu64, "records", e->records);
    if (e->failed)
        printf(", %" PRIu64 " of them bad", e->failed);
    printf("\n%-10s %" PRIu64 "\n%-10s %" PRIu64 "\n", "tokens", e->tokens, "numbers", e->numbers);
    print_bytes("output", e->bytes);
    print_bytes("memory", e->memory);
    put_duration(time, sizeof time, e->seconds);
    printf("%-10s about %s\n", "time", e->seconds < 1 ? "a second" : time);
}

/* ---- one batch --------------------------------------------------------------------------- */

struct batch {
    struct session of;                  /* its tokenizer is NULL unless edits or labels need it */
    struct attn_select *select;
    struct attn_records_opts records;
    struct attn_batch_option *options; size_t n_options;
    char content[65];                   /* digest of the files that options name */
    const struct attn_labels *labels;   /* of records that are ids; NULL: none */
    char *edited;                       /* the edits in canonical form, one per line */
    char *command;
    struct report report;
};

/* Edits that are typed differently but do the same are the same option. */
static int list_edits(struct batch *s, struct attn_err *err)
{
    struct attn_out *to = NULL;
    size_t len;
    if (!s->of.edits.list)
        return ATTN_OK;
    int code = attn_out_open_memory(&to, err);
    for (size_t i = 0; !code && i < attn_edits_count(s->of.edits.list); i++) {
        attn_out_str(to, i ? "\n" : "");
        attn_out_str(to, attn_edits_text(s->of.edits.list, i));
    }
    if (!code)
        code = attn_out_take(to, &s->edited, &len, err);
    attn_out_close(to);
    if (code)
        return code;
    s->options[s->n_options++] = (struct attn_batch_option){"edit", s->edited};
    return ATTN_OK;
}

/* Those in canonical form say more. */
static bool is_edit(const struct option *row)
{
    const struct option *e = edit_options;
    while (e->name && e != row)
        e++;
    return e->name != NULL;
}

/* Adds what a file holds that an option names; a pipe can be read only once. */
static int add_content(struct attn_sha256 *sha, size_t *files, const char *path, struct attn_err *err)
{
    struct attn_map map;
    struct stat st;
    bool there = path && stat(path, &st) == 0;
    /* else a word such as auto, or whoever reads it says so */
    if (path && !there && errno != ENOENT && errno != ENOTDIR)
        return attn_fail_errno(err, path, "read");
    if (!there || !S_ISREG(st.st_mode))
        return ATTN_OK;
    int code = attn_map_open(&map, path, SIZE_MAX, err);
    if (code)
        return code;
    uint64_t len = map.len;
    attn_sha256_add(sha, &len, sizeof len);
    attn_sha256_add(sha, map.data, map.len);
    attn_map_close(&map);
    ++*files;
    return ATTN_OK;
}

/* With another content behind the same name they are other options. */
static int list_content(struct batch *s, struct attn_err *err)
{
    const struct option *row;
    struct attn_sha256 sha;
    size_t files = 0;
    int code = ATTN_OK;
    attn_sha256_start(&sha);
    for (size_t i = 0; !code && (row = option_at(&batch_command, i)); i++)
        if (row->type == OPT_FILE && row->flags & OPT_COUNTS && row->to != &common.file && !is_edit(row))
            code = add_content(&sha, &files, option_given(row), err);
    for (size_t i = 0; !code && i < attn_edits_count(s->of.edits.list); i++)
        code = add_content(&sha, &files, attn_edits_file(s->of.edits.list, i), err);
    attn_sha256_end(&sha, s->content);
    if (!code && files)
        s->options[s->n_options++] = (struct attn_batch_option){"content", s->content};
    return code;
}

/* Lists the options that change the result, leaving out those that the sidecar has a field of its own for. */
static int list_options(struct batch *s, struct attn_err *err)
{
    const struct option *row;
    size_t n = 0;
    while (option_at(&batch_command, n))
        n++;
    s->options = calloc(n + 4, sizeof *s->options);
    if (!s->options)
        return attn_no_memory(err, NULL, "for %zu options", n);
    for (size_t i = 0; (row = option_at(&batch_command, i)); i++) {
        const char *value = row->flags & OPT_COUNTS ? option_given(row) : NULL;
        if (value && row->to != &common.model && row->to != &o.format && !is_edit(row))
            s->options[s->n_options++] = (struct attn_batch_option){row->name, value};
    }
    if (is_grid())
        s->options[s->n_options++] = (struct attn_batch_option){"patch", o.grid.what};
    int code = list_edits(s, err);
    return code ? code : list_content(s, err);
}

static int open_all(struct batch *s, struct attn_err *err)
{
    s->records = texts_records();
    s->records.stop = stop;
    struct attn_kind kind = attention_kind();
    int code = read_share(&s->records.share, err);
    if (!code)
        code = open_model(&s->of.model, &batch_command, err);
    if (!code)
        code = select_shown(&s->select, s->of.model, &kind, format_default_show(o.format), err);
    if (!code)
        code = edits_open(&s->of.edits, &s->of.tokenizer, err);
    if (!code)
        code = input_labels(&s->labels, &s->of.tokenizer, s->of.model,
                            output_is_seen(o.format ? o.format : "ndjson", o.path), err);
    if (!code)
        code = list_options(s, err);
    s->command = code ? NULL : repro_command(&batch_command);
    return code || s->command ? code : attn_no_memory(err, NULL, "for the command line");
}

static struct attn_batch_opts opts_of(struct batch *s)
{
    struct attn_picture_opts picture = picture_look(false);
    picture.note = NULL;                /* records are drawn at the same time */
    return (struct attn_batch_opts){
        .model = s->of.model, .select = s->select, .records = &s->records,
        .encode = input_encode_opts(),
        .format = o.format, .path = o.path, .summary = o.summary, .summary_form = o.summary_form, .options = s->options,
        .n_options = s->n_options, .command = s->command, .picture = picture, .edits = s->of.edits.list,
        .from = s->of.edits.from, .grid = is_grid() ? &o.grid : NULL, .labels = s->labels,
        .plan = plan_asked(), .resume = o.resume,
        .force = o.force, .fail_fast = o.fail_fast, .csv_safe = csv_safe(), .progress = report_progress,
        .failed = report_failed,
        .opened = doubt_tokenizer, .self = &s->report};
}

static int estimate(struct batch *s, struct attn_err *err)
{
    struct attn_batch_estimate e;
    struct attn_batch_opts opts = opts_of(s);
    int code = attn_batch_estimate(&e, &opts, err);
    if (!code)
        report_estimate(&e);
    return code;
}

static int run_all(struct batch *s, struct attn_err *err)
{
    struct attn_batch_state state;
    struct attn_batch_opts opts = opts_of(s);
    report_start(&s->report, "batch", texts_source(), o.progress);
    int code = attn_batch(&state, &opts, err);
    if (code)
        return code;
    report_end(&s->report, &state);
    if (state.complete && !state.records && !o.shard)      /* a shard may have none */
        say_note("attn-cli batch: %s: there is no sentence in it: the output has no record", s->report.input);
    common.status = !state.complete ? STOP_STATUS : state.failed && !state.unread ? SOME_FAILED : 0;
    return ATTN_OK;
}

static int batch(struct attn_err *err)
{
    struct batch s = {.select = NULL};
    int code = check(err);
    if (!code) {
        stop_watch(o.max_seconds.x);
        code = open_all(&s, err);
    }
    if (!code)
        code = o.dry_run ? estimate(&s, err) : run_all(&s, err);
    free(s.command);
    free(s.options);
    free(s.edited);
    attn_select_free(s.select);
    session_close(&s.of);
    return code;
}

/* ---- options ----------------------------------------------------------------------------- */

static const char *const forms[] = {"wide", "tidy", NULL}, *const methods[] = {"exact", "gradient", "ig:", NULL};

enum { STREAMS = ATTN_FORMAT_LINES | ATTN_FORMAT_SUMMARY };

/* Streams, then directories, then what is for all sentences together. */
static const char *format_choice(size_t i)
{
    static const unsigned uses[] = {STREAMS, ATTN_FORMAT_APART, ATTN_FORMAT_STACK};
    const char *name = NULL;
    for (size_t u = 0, j = i; u < 3 && !name; u++) {
        size_t n = 0;
        name = format_name(j, uses[u]);
        while (!name && format_name(n, uses[u]))
            n++;
        j -= n;
    }
    return name;
}

static void explain_format(char help[OPTION_HELP])
{
    char streams[OPTION_HELP / 3], apart[OPTION_HELP / 6];
    const char *stack = format_name(0, ATTN_FORMAT_STACK);
    list_formats(streams, sizeof streams, STREAMS, true, " or ");
    list_formats(apart, sizeof apart, ATTN_FORMAT_APART, false, " or ");
    snprintf(help, OPTION_HELP, "how to write: as a stream, %s; as one directory per sentence, %s; or %s, %s (default: "
             "ndjson; tidy where the path ends in .csv or .tidy)", streams, apart, stack,
             attn_format_find(stack)->help);
}

static const struct option input_options[] = {
    {'s', "sentence", OPT_TEXT, &common.sentence, "TEXT", "a text, as an argument is",
     .section = OF_INPUT, .flags = OPT_INPUT},
    {'f', "file", OPT_FILE, &common.file, "PATH", "the sentences, - is standard input; blank lines are skipped",
     .section = OF_INPUT, .flags = OPT_INPUT | OPT_USUAL},
    {.name = NULL},
};

static const struct option output_options[] = {
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = format_choice, .explain = explain_format,
     .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file, called PATH.part until it is complete, or to this "
                                               "directory (default: -, standard output)",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {0, "summary", OPT_FILE, &o.summary, "PATH",
     "a table for plots, beside the output or alone: tokens, log-probability, "
     "next token, and for each head the scores entropy, distance and first of 'heads', of this record alone; of grids: "
     "the mean metric and effect of each cell",
     .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {0, "summary-form", OPT_CHOICE, &o.summary_form, "FORM",
     "wide: a line per record, as above (the default); tidy: a line per "
     "record, layer and head, with all scores of 'heads'; `copying`, which no text gives, is empty there, and line "
     "ends in texts are \\n.  Both leave row 0 out, and where no row has a score it is empty; 'heads -f' pools the "
     "rows of all records, which a mean of these means does not", .choices = forms, .section = OF_OUTPUT,
     .flags = OPT_COUNTS},
    {.name = NULL},
};

static const struct option grid_options[] = {
    {0, "over", OPT_TEXT, &o.over, "AXES",
     "with --patch NAME and --metric: make for each record the grid of 'patch' in place of activations, with NAME "
     "taken from the run of the record's field \"from\" in pieces: layer, or with commas layer,head, layer,pos, "
     "layer,head,pos; pos alone for activations that belong to no layer, such as embed.  Here --patch is no edit",
     .flags = OPT_COUNTS},
    {0, "metric", OPT_TEXT, &o.metric, "METRIC",
     "what a grid measures, as in 'patch'; a token may be a field of the record, as in "
     "logit({answer})-logit({foil})", .flags = OPT_COUNTS},
    {0, "method", OPT_LIST, &o.method, "M", "how: exact (the default), gradient or ig:STEPS", .choices = methods,
     .flags = OPT_COUNTS},
    {.name = NULL},
};

static const struct option run_options[] = {
    {0, "resume", OPT_FLAG, &o.resume, NULL, "continue an unfinished output; what is done is not repeated",
     .section = OF_PROCESS, .flags = OPT_USUAL},
    {0, "force", OPT_FLAG, &o.force, NULL, "start anew: discard an unfinished output, replace a finished one",
     .section = OF_PROCESS},
    {0, "fail-fast", OPT_FLAG, &o.fail_fast, NULL,
     "stop at the first record that cannot be run", .section = OF_PROCESS},
    {0, "keep-going", OPT_FLAG, &o.keep_going, NULL,
     "turn a record that cannot be run into one that says why, and continue; "
     "status 3 at the end (the default)", .section = OF_PROCESS},
    {0, "max-seconds", OPT_REAL, &o.max_seconds, "S", "stop at a record after this many seconds, with status 75",
     .section = OF_PROCESS},
    {0, "shard", OPT_TEXT, &o.shard, "I/N", "only part I of N of the input, I from 0; auto: take both from Slurm, Open "
                                            "MPI or PMI",
     .section = OF_PROCESS, .flags = OPT_USUAL},
    {0, "stride", OPT_FLAG, &o.stride, NULL,
     "a shard is every N-th record, not a contiguous part", .section = OF_PROCESS},
    {0, "dry-run", OPT_FLAG, &o.dry_run, NULL, "read all of the input and say what a run would take: records, tokens, "
                                               "bytes, memory, time", .section = OF_PROCESS},
    {0, "progress", OPT_FLAG, &o.progress, NULL, "report progress in plain lines on standard error, terminal or not",
     .section = OF_PROCESS},
    {.name = NULL},
};

const struct command batch_command = {
    .name = "batch",
    .schemas = (const char *const[]){"record", "grid", "journal", "manifest", NULL},
    .run = batch,
    .product = true,
    .texts = TEXTS_STREAMED,
    .usage = "batch -f FILE|TEXT... [-m DIR|NAME] [--show LIST] [--format F] [-o PATH] [--resume]",
    .section = IN_MANY,
    .summary = "many sentences: the same outputs, interruptible",
    .about = "Runs each line of a file through the model and writes what run would write, one record per sentence, in "
             "the order of the input.  Sentences are computed together, but each gets exactly the numbers it would get "
             "alone.  A record that cannot be run becomes a record with an error, and the exit status is 3.  Until it "
             "is complete, an output has PATH.part.json beside it and, if it is a file, is called PATH.part; SIGINT, "
             "SIGTERM and --max-seconds stop it at a record (status 75), and --resume continues, also after a crash.",
    .examples = (const struct pair[]){
        {"attn-cli batch -f sentences.txt -o all.ndjson",
         "one JSON document per line; add --resume after an interruption"},
        {"cat sentences.txt | attn-cli batch -f - --show pattern | jq -c .tokens", "a stream, line by line"},
        {"attn-cli batch -m ./gpt2 -f s.csv --column sentence --format npy -o out",
         "out/000000/blocks.0.attn.pattern.npy ..."},
        {"attn-cli batch -m ./gpt2 -f s.txt --summary heads.csv", "figures of every head, for plots"},
        {"attn-cli batch -m ./gpt2 -f s.txt --summary heads.csv --summary-form tidy",
         "one line per sentence, layer and head"},
        {"attn-cli batch -f s.txt --shard 2/7 -o part.2.ndjson", "one of seven parts, which merge joins"},
        {"attn-cli batch -m ./gpt2 -f pairs.ndjson --patch context --over layer,head --metric "
         "'logit({answer})-logit({foil})' -o grids.ndjson --summary mean.csv",
         "which heads matter, in each of many pairs of texts and on average"},
        {"attn-cli batch -m ./gpt2 -f s.txt --format npy -o out --dry-run", "how large, how long"},
        {NULL, NULL}},
    .list_title = "How records are read",
    .list = (const struct pair[]){
        {"text", "one sentence per line"},
        {"ndjson", "one object per line, {\"text\": \"...\"} or {\"ids\": [5, 1]}, with or without an \"id\", a string "
                   "or a number; other members are ignored"},
        {"csv, tsv", "RFC 4180: one row per record, with as many fields as the first row, which names the columns; a "
                     "text that contains a comma, a tab or a line end stands in double quotes.  The column called id, "
                     "if there is one, is the id"},
        {"pairs", "a grid (--over) takes records with two texts: {\"text\": \"...\", \"from\": \"...\", \"answer\": \" "
                  "Mary\", \"foil\": 5}, or \"ids\" and \"from_ids\", and the fields that the metric names, a text "
                  "that is one token or its id; or the columns text, from and so on, where digits alone are an id"},
        {"lines", "end in \\n or \\r\\n; lines of only white space are no records, but count as lines.  A byte order "
                  "mark at the very start is dropped.  Nothing else ends a line, neither \\r alone nor NUL, which is "
                  "an error for words and a byte for BPE"},
        {"lists", "a file that is one JSON list, [{...}, ...], is refused if its name ends in .json: jq -c '.[]' makes "
                  "lines of it"},
        {"ids", "are labels: two records may have the same id, and equal texts stay two records"},
        {"errors", "a line that is not UTF-8, longer than 16 MiB, not JSON or nested deeper than 64 levels, or a row "
                   "with more or fewer fields, becomes a record with an error; a quote that is not closed takes in "
                   "everything after it"},
        {NULL, NULL}},
    .refused = (const struct pair[]){
        {"words", "a batch writes what was computed, token by token; 'plot --words' draws the words of what it saved, "
                  "and 'run --words' writes those of one sentence"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, input_options, record_options, encode_options,
                                             label_options, select_options, output_options, run_options, grid_options,
                                             edit_options, from_options, csv_options, picture_options,
                                             key_picture_options, attention_options, dropout_seed_options,
                                             compute_options, thread_options, general_options, NULL},
};

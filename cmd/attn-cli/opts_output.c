#include "opts_output.h"
#include "attn_ask.h"
#include "attn_tools.h"

#include "opts_attention.h"
#include "cli_print.h"
#include "opts_edits.h"
#include "opts_language.h"
#include "opts_picture.h"
#include "input.h"
#include "pager.h"
#include "say.h"

#include "base/err.h"
#include "base/format.h"
#include "table/columns.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- terminals --------------------------------------------------------------------------- */

enum { WIDTH_OF_FILES = 80 };

bool terminal_is(const char *path)
{
    return (!path || !strcmp(path, "-")) && isatty(pager_out());
}

int terminal_columns(bool terminal)
{
    struct winsize w;
    if (!terminal)
        return WIDTH_OF_FILES;
    if (!ioctl(pager_out(), TIOCGWINSZ, &w) && w.ws_col)
        return w.ws_col;
    const char *env = getenv("COLUMNS");
    long n = env ? strtol(env, NULL, 10) : 0;
    return n > 0 && n < 10000 ? (int)n : WIDTH_OF_FILES;
}

/* Without memory it is printed as it comes. */
void wrapping_start(struct wrapping *w)
{
    *w = (struct wrapping){0};
    FILE *f = terminal_is(NULL) ? open_memstream(&w->text, &w->len) : NULL;
    if (!f)
        return;
    w->out = stdout;
    stdout = f;
}

void wrapping_end(struct wrapping *w)
{
    if (!w->out)
        return;
    fclose(stdout);
    stdout = w->out;
    if (w->text)
        print_wrapped(stdout, w->text, (size_t)terminal_columns(true));
    free(w->text);
}

bool terminal_colored(bool terminal)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return terminal && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

/* ---- formats ----------------------------------------------------------------------------- */

const char *format_name(size_t i, unsigned uses)
{
    const struct attn_format *f = NULL;
    while ((f = attn_format_next(f)))
        if ((f->flags & uses) && i-- == 0)
            return f->name;
    return NULL;
}

void list_formats(char *out, size_t size, unsigned uses, bool notes, const char *last)
{
    enum { FORMATS_MOST = 32 };
    struct pair list[FORMATS_MOST + 1] = {{NULL, NULL}};
    size_t n = 0;
    for (const struct attn_format *f = NULL; (f = attn_format_next(f)) && n < FORMATS_MOST;)
        if (f->flags & uses)
            list[n++] = (struct pair){f->name, notes ? f->help : NULL};
    list_terms(out, size, list, last);
}

const char *table_format(size_t i)
{
    return format_name(i, ATTN_FORMAT_TABLE);
}

const char *answer_format(size_t i)
{
    return format_name(i, ATTN_FORMAT_TABLE | ATTN_FORMAT_PICTURE);
}

void explain_tables(char help[OPTION_HELP], const char *words, const char *rest)
{
    char more[OPTION_HELP / 2] = "";
    const char *name;
    for (size_t i = 1; (name = table_format(i)); i++)
        snprintf(more + strlen(more), sizeof more - strlen(more), "%s%s", table_format(i + 1) ? ", " : " or ", name);
    snprintf(help, OPTION_HELP, "%s (%s)%s; csv and tidy are the same table, tsv has tabs in it, ndjson an object "
                                "per row%s",
             table_format(0), words, more, rest);
}

void explain_answers(char help[OPTION_HELP], const char *words, const char *picture)
{
    char pictures[OPTION_HELP / 4], rest[OPTION_HELP / 2];
    list_formats(pictures, sizeof pictures, ATTN_FORMAT_PICTURE, false, ", ");
    snprintf(rest, sizeof rest, "; or %s: %s (default: by the ending of the -o path, else text)", picture, pictures);
    explain_tables(help, words, rest);
}

/* Standard output, after what was printed there; `format` NULL: objects. */
static int print_rows(const struct attn_table *t, const char *format, const char *first, const char *between,
                      struct attn_err *err)
{
    struct attn_out *out;
    fflush(stdout);
    int code = attn_out_open(&out, NULL, err);
    if (code)
        return code;
    code = format ? attn_table_write(out, t, format, err) : attn_table_objects(out, t, first, between, err);
    return attn_out_end(out, code, err);
}

int table_print(const struct attn_table *t, const char *format, struct attn_err *err)
{
    return print_rows(t, format, NULL, NULL, err);
}

int table_objects(const struct attn_table *t, const char *first, const char *between, struct attn_err *err)
{
    return print_rows(t, NULL, first, between, err);
}

bool output_is_seen(const char *format, const char *path)
{
    const struct attn_format *f = format ? attn_format_find(format) : NULL;
    bool text = !format || !strcmp(format, "text");
    return text ? terminal_is(path) : f && f->flags & ATTN_FORMAT_PICTURE;
}

const char *output_format_of(const char *path)
{
    const struct attn_format *f = attn_format_of_path(path);
    return f ? f->name : NULL;
}

const char *activations_format_of(const char *path)
{
    bool directory = path && *path && path[strlen(path) - 1] == '/';
    const struct attn_format *f = attn_format_of_path(path);
    return directory ? "csv" : f && f->flags & ATTN_FORMAT_RUN ? f->name : NULL;
}

const char *format_default_show(const char *format)
{
    const struct attn_format *f = format ? attn_format_find(format) : NULL;
    const char *show = f && f->flags & ATTN_FORMAT_PICTURE ? picture_default_show() : NULL;
    return show ? show : f ? f->show : NULL;
}

int select_shown(struct attn_select **out, const struct attn_model *m, const struct attn_kind *kind, const char *show,
                 struct attn_err *err)
{
    int code = attn_select_new(out, m, kind, selection.show ? selection.show : show, selection.layer, selection.head,
                               err);
    if (!code && attn_select_note(*out))
        say_note("%s", attn_select_note(*out));
    return code;
}

#define PICTURES "pictures are .png, .svg, .pdf or .html"
#define TABLES "tables are .csv"
#define ARRAYS "arrays are .npz, .npy or, for tables, .csv"
#define DOCUMENTS "documents are .json, and of a batch .ndjson"
#define COMPRESSED(tool, ending) ending, "compressed output is not supported; drop " ending " or pipe to " tool

/* Endings that promise what nothing here writes: without an error, such a file would hold a text table. */
static const struct { const char *ending, *instead; } foreign[] = {
    {".gif", PICTURES}, {".jpg", PICTURES}, {".jpeg", PICTURES}, {".webp", PICTURES}, {".bmp", PICTURES},
    {".tif", PICTURES}, {".tiff", PICTURES}, {".eps", PICTURES}, {".ps", PICTURES}, {".htm", "pages are .html"},
    {".md", "explain writes .md, this command .html"}, {".tsv", "tables of activations are .csv or .tidy"},
    {".xls", TABLES}, {".xlsx", TABLES}, {".ods", TABLES},
    {".parquet", ARRAYS}, {".feather", ARRAYS}, {".arrow", ARRAYS}, {".h5", ARRAYS}, {".hdf5", ARRAYS},
    {".pkl", ARRAYS},
    {".pt", ARRAYS}, {".mat", ARRAYS}, {".safetensors", ARRAYS}, {".jsonl", DOCUMENTS}, {".ndjson", DOCUMENTS},
    {COMPRESSED("gzip", ".gz")}, {COMPRESSED("xz", ".xz")}, {COMPRESSED("zstd", ".zst")}, {COMPRESSED("bzip2", ".bz2")},
    {".zip", "archives are .npz"},
};

static const char *instead_of(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof foreign / sizeof *foreign; i++)
        if (!strcasecmp(dot, foreign[i].ending))
            return foreign[i].instead;
    return NULL;
}

/* A format of tables whose name the path ends in: no other has that ending. */
static bool ends_in_table(const char *path, const char *name)
{
    const struct attn_format *f = attn_format_find(name);
    const char *dot = path ? strrchr(path, '.') : NULL;
    return dot && f && f->flags & ATTN_FORMAT_TABLE && !strcasecmp(dot + 1, name);
}

const char *table_of_path(const char *path)
{
    const char *name = NULL;
    for (size_t i = 0; (name = table_format(i)) && !ends_in_table(path, name);)
        i++;
    return name;
}

/* The format that a path ends in, where another was asked for; a table has one of two names. */
static const char *meant_file(const char *format, const char *path)
{
    const struct attn_format *f = format ? attn_format_find(format) : NULL, *by_path = attn_format_of_path(path);
    const char *ending = by_path ? by_path->name : path ? table_of_path(path) : NULL;
    struct stat st;
    bool there = path && !stat(path, &st) && S_ISDIR(st.st_mode);
    bool rows = f && by_path && f->flags & by_path->flags & ATTN_FORMAT_TABLE && !strcmp(f->name, "tidy");
    return f && ending && strcmp(f->name, ending) && !there && !rows ? ending : NULL;
}

int output_check_format(const char *format, const char *path, struct attn_err *err)
{
    const char *ending = meant_file(format, path);
    if (ending)
        return attn_fail(err, ATTN_EUSAGE, "%s: the name ends in .%s, and --format is %s: leave out --format, or "
                         "choose another name", path, ending, format);
    if (!format && instead_of(path))
        return attn_fail(err, ATTN_EUSAGE, "%s: %s; with --format the name may be any", path, instead_of(path));
    const struct attn_format *f = format ? attn_format_find(format) : NULL;
    if (f && (f->flags & ATTN_FORMAT_BINARY) && terminal_is(path))
        return attn_fail(err, ATTN_EUSAGE, "%s is not for a terminal: give a file or directory with -o", format);
    return ATTN_OK;
}

const struct option *format_row(const struct command *c)
{
    const struct option *o = NULL;
    for (size_t i = 0; (o = option_at(c, i)) && strcmp(o->name, "format");)
        i++;
    return o;
}

int output_choose_format(const char **format, const char *path, const struct command *c, struct attn_err *err)
{
    const char *by_path = *format ? NULL : output_format_of(path), *choice;
    const struct option *row = format_row(c);
    char list[160] = "";
    for (size_t i = 0; !*format && !by_path && (choice = option_choice(row, i)); i++)
        if (ends_in_table(path, choice))
            by_path = choice;
    for (size_t i = 0; by_path && (choice = option_choice(row, i)); i++) {
        if (!strcmp(choice, by_path))
            *format = by_path;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", choice);
    }
    if (by_path && !*format)
        return attn_fail(err, ATTN_EUSAGE,
                         "%s: '%s' writes no %s, only %s; with --format the name may be any", path, c->name, by_path,
                         list);
    const struct attn_format *f = attn_format_find(*format ? *format : c->plain ? c->plain : "text");
    const char *seen = f && c->plain && !strcmp(f->name, "text") ? c->plain : f ? f->name : *format;
    int code = picture_check(c, seen, err);
    return code ? code : output_check_format(*format, path, err);
}

/* ---- tables that spreadsheets read ---------------------------------------------------------- */

static bool safe;

const struct option csv_options[] = {
    {0, "csv-safe", OPT_FLAG, &safe, NULL, "tables: put a single quote before text that a spreadsheet would run as a "
     "formula, which begins with = + - @, a tab or a carriage return; numbers stay as they are", .section = OF_OUTPUT,
     .flags = OPT_COUNTS},
    {.name = NULL},
};

bool csv_safe(void)
{
    return safe;
}

/* ---- activations ------------------------------------------------------------------------- */

static int open_sink(struct attn_sink **sink, const struct output *d, const char *command, struct attn_err *err)
{
    bool terminal = terminal_is(d->path);
    struct attn_sink_opts o = {
        .format = d->format ? d->format : "text", .path = d->path, .model = d->model, .select = d->select,
        .tokens = d->tokens, .text = d->text, .text_len = d->len, .cross = d->cross, .cross_text = d->cross_text,
        .cross_len = d->cross_len, .tokenizer = d->tokenizer, .labels = input_labels_read(), .command = command,
        .kind = attention_kind(), .gradient = d->gradient, .hints = d->hints, .ablated = d->ablated,
        .n_ablated = d->n_ablated,
        .threads = (int)common.threads.n, .precision = d->precision, .width = terminal_columns(terminal),
        .limit = terminal ? OUTPUT_NUMBERS : 0,
        .color = terminal_colored(terminal), .csv_safe = safe,
        .bf16 = compute_bf16(), .picture = picture_look(terminal), .words = d->words, .live = d->live,
        .lang = language_of(terminal)};
    if (d->edits) {
        o.edits = d->edits->list;
        o.compare = d->edits->compare;
    }
    if (d->gradient && !o.picture.palette)
        o.picture.palette = "balance";  /* gradients have signs */
    return attn_sink_open(sink, &o, err);
}

static int forward(const struct output *d, struct attn_sink *sink, struct attn_err *err)
{
    struct attn_observer to = attn_sink_observer(sink);
    if (d->slopes)
        return attn_slopes_show(d->slopes, &to, err);
    struct attn_plan plan = {.threads = (int)common.threads.n, .bf16 = compute_bf16(), .kind = attention_kind()};
    struct progress progress;
    progress_start(&progress, d->model, !terminal_is(d->path));
    struct attn_observer observers[4] = {progress_observer(&progress)};
    struct attn_compare *compare = d->edits ? d->edits->compare : NULL;
    size_t n = 1;
    int code = ATTN_OK;
    if (compare) {
        observers[n++] = attn_compare_before(compare);
        code = attn_run_tokens(d->model, &plan, d->tokens, d->cross, observers, n, err);
    }
    n = d->edits ? edits_observe(d->edits, observers) : 0;
    observers[n++] = to;
    observers[n++] = progress_observer(&progress);
    if (compare)
        observers[n++] = attn_compare_after(compare);
    if (!code)
        code = attn_run_tokens(d->model, &plan, d->tokens, d->cross, observers, n, err);
    progress_end(&progress);
    return code;
}

int output_write(const struct output *d, struct attn_err *err)
{
    struct attn_sink *sink = NULL;
    if (attn_run_check_tokens(d->model, d->tokens, d->cross, err))
        return err->code;               /* before the output has a first byte: no half-written document */
    char *command = repro_command(d->command);
    int code = command ? open_sink(&sink, d, command, err) : attn_no_memory(err, NULL, "for the command line");
    if (!code)
        code = forward(d, sink, err);
    if (!code)
        code = attn_sink_finish(sink, err);
    if (!code && attn_sink_note(sink))
        say_note("%s", attn_sink_note(sink));
    if (!code && !d->slopes && !d->cross)
        code = renorm_report(d->model, d->tokens, (int)common.threads.n, err);
    attn_sink_close(sink);
    free(command);
    return code;
}

/* ---- protecting what is there ------------------------------------------------------------ */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool has_end(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* The length of the directory part, "dir/" in "dir/name"; 0 if there is none. */
static size_t directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/* Whether `file`, in the directory of `path`, contains a text.  Files larger than any configuration are not read. */
static bool file_beside_says(const char *path, const char *file, const char *text)
{
    enum { LARGEST = 64 << 20 };
    char *neighbour = NULL, *all = NULL;
    size_t len = 0;
    struct stat st;
    struct attn_err ignored;
    bool says = attn_asprintf(&neighbour, "%.*s%s", (int)directory(path), path, file) >= 0 &&
                stat(neighbour, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= LARGEST &&
                    file_read(&all, &len, neighbour, &ignored) == ATTN_OK &&
                strstr(all, text);
    free(all);
    free(neighbour);
    return says;
}

/* A model's files are known by name and by the config.json beside them; other files there may be results. */
static bool is_named_as_of_model(const char *path)
{
    static const char *const known[] = {"config.json", "vocab.json", "merges.txt", "tokenizer.json",
                                        "tokenizer_config.json",
                                        "added_tokens.json", "special_tokens_map.json", "generation_config.json",
                                        "tokenizer.model",
                                        "tokenizer.bin", "model.safetensors",
                                        "model.safetensors.index.json", "pytorch_model.bin",
                                        "pytorch_model.bin.index.json",
                                        "train.json", "checkpoint.safetensors", NULL};
    const char *name = path + directory(path);
    if (!file_beside_says(path, "config.json", "\"model_type\""))
        return false;
    for (const char *const *k = known; *k; k++)
        if (!strcmp(name, *k))
            return true;
    char *shard = NULL;                 /* which an index names */
    bool is = attn_asprintf(&shard, "\"%s\"", name) >= 0 &&
              (file_beside_says(path, "model.safetensors.index.json", shard) ||
               file_beside_says(path, "pytorch_model.bin.index.json", shard));
    free(shard);
    return is;
}

/* Models may be symbolic links, so the link's target is checked as well. */
static bool is_of_model(const char *path)
{
    char *real = realpath(path, NULL);
    bool is = is_named_as_of_model(path) || (real && is_named_as_of_model(real));
    free(real);
    return is;
}

static bool is_file(const struct stat *st, const char *path)
{
    struct stat other;
    bool standard = path && !strcmp(path, "-");
    return path && (standard ? fstat(STDIN_FILENO, &other) : stat(path, &other)) == 0 && is_same(st, &other);
}

/* Whether `path` is or would be a dump's file: one with its ending in the directory `dump`, or in its manifest's. */
static bool is_in_dump(const char *path, const char *dump)
{
    static const char *const endings[] = {".npy", ".csv", ".json", NULL};
    struct stat of, in;
    char *dir = strndup(path, directory(path));
    char *from = has_end(dump, "manifest.json") ? strndup(dump, directory(dump)) : strdup(dump);
    bool is = false;
    if (dir && from && stat(*dir ? dir : ".", &of) == 0 && stat(*from ? from : ".", &in) == 0 && is_same(&of, &in))
        for (const char *const *e = endings; *e; e++)
            is |= has_end(path, *e);
    free(dir);
    free(from);
    return is;
}

/* Whether the file is named by an input option or a positional argument, or belongs to a dump that one names. */
static bool is_input(const struct command *c, const char *path, const struct stat *st)
{
    const struct option *o;
    struct given given;
    for (size_t i = 0; (o = option_at(c, i)); i++)
        for (size_t k = 0; option_each(&given, c, o, k); k++)
            if ((given.of->type == OPT_FILE || given.of->type == OPT_MANY_FILES) && !(given.of->flags & OPT_OUTPUT) &&
                is_file(st, given.value))
                return true;
    for (size_t i = 0; c->paths && i < common.n_words; i++)
        if (is_file(st, common.words[i]))
            return true;
    const char *const word[] = {common.word, common.second};
    for (size_t i = 0; c->paths && i < 2; i++)
        if (word[i] && (is_file(st, word[i]) || is_in_dump(path, word[i])))
            return true;
    return false;
}

static int protect(const struct command *c, const struct option *output, struct attn_err *err)
{
    const char *path = option_given(output);
    struct stat st;
    if (!path || !strcmp(path, "-") || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return ATTN_OK;
    if (is_input(c, path, &st))
        return attn_fail(err, ATTN_EUSAGE,
                         "%s: is the input, and would be written to (--%s): choose another name", path,
                         output->name);
    bool makes = (output->flags & OPT_VOCABULARY) && has_end(path, "vocab.json");
    if (!makes && is_of_model(path))
        return attn_fail(err, ATTN_EUSAGE, "%s: is a file of a model, and would be written to (--%s): choose another "
                                           "name",
                         path, output->name);
    return ATTN_OK;
}

int protect_inputs(const struct command *c, struct attn_err *err)
{
    const struct option *o;
    for (size_t i = 0; (o = option_at(c, i)); i++)
        if ((o->flags & OPT_OUTPUT) && protect(c, o, err))
            return err->code;
    return ATTN_OK;
}

int protect_training(const char *dir, struct attn_err *err)
{
    char *path = NULL;
    if (attn_asprintf(&path, "%s%s", strchr(dir, '/') ? "" : "./", dir) < 0)
        return attn_no_memory(err, NULL, "for a path");
    int code = attn_train_spare(path, err);
    free(path);
    return code;
}

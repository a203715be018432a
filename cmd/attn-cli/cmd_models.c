/* cmd_models.c - lists the models that this program finds without being given a directory. */
#include "attn_tools.h"
#include "opts_output.h"
#include "outputs.h"
#include "cli_print.h"
#include "table.h"

#include "base/err.h"
#include "table/columns.h"

#include <stdio.h>
#include <string.h>

static struct { const char *format; } o;

static const char names[] = "names";

/* What a model is, or why it cannot be opened. */
static bool look(const struct attn_listed *m, struct attn_info *info, struct attn_model **model, struct attn_err *why)
{
    if (attn_model_open(model, m->path ? m->path : m->name, why))
        return false;
    attn_model_info(*model, info);
    return true;
}

/* "124.4 M" and the like. */
static void put_scaled(char out[16], uint64_t n)
{
    static const char *const unit[] = {"", " k", " M", " G"};
    double x = (double)n;
    int i = 0;
    for (; i < 3 && x >= 1000; i++)
        x /= 1000;
    snprintf(out, 16, i ? "%.1f%s" : "%.0f%s", x, unit[i]);
}

/* A name may hold whatever a file name may. */
static void put_name(const char *s, size_t width)
{
    size_t len = strlen(s);
    print_text(stdout, s, len, terminal_is(NULL));
    printf("%*s  ", len < width ? (int)(width - len) : 0, "");
}

static void text_row(const struct attn_listed *m, size_t width)
{
    struct attn_info info;
    struct attn_model *model = NULL;
    struct attn_err why = {0};
    char size[16];
    put_name(m->name, width);
    if (!look(m, &info, &model, &why)) {
        printf("%s\n  cannot be opened: ", m->where);
        print_text(stdout, why.msg, strlen(why.msg), terminal_is(NULL));
        putchar('\n');
        return;
    }
    put_scaled(size, info.parameters);
    printf("%-12s  %10s  %7zu  %s\n", info.family, size, info.n_ctx, m->where);
    attn_model_close(model);
}

/* What the row that is being written borrows from. */
struct seen { struct attn_model *model; struct attn_err why; };
struct listing { const struct attn_listed *list; struct seen *seen; };

static void fill(struct attn_datum *cell, const void *self, size_t i)
{
    const struct listing *l = self;
    const struct attn_listed *m = &l->list[i];
    struct attn_info info;
    attn_model_close(l->seen->model);
    *l->seen = (struct seen){.model = NULL};
    cell[0] = attn_datum_str(m->name);
    cell[1] = attn_datum_str(m->path);
    cell[2] = attn_datum_str(m->where);
    if (!look(m, &info, &l->seen->model, &l->seen->why)) {
        cell[7] = attn_datum_str(l->seen->why.msg);
        return;
    }
    cell[3] = attn_datum_str(info.family);
    cell[4] = attn_datum_whole(info.parameters);
    cell[5] = attn_datum_whole(info.bytes);
    cell[6] = attn_datum_whole(info.n_ctx);
}

/* In every format but text. */
static int write_rows(const struct attn_listed *list, size_t n, struct attn_err *err)
{
    static const struct attn_column columns[] = {
        {.name = "name"}, {.name = "path", .flags = ATTN_COLUMN_DATA}, {.name = "where"}, {.name = "family"},
        {.name = "parameters", .kind = ATTN_COLUMN_WHOLE}, {.name = "bytes", .kind = ATTN_COLUMN_WHOLE},
        {.name = "n_ctx", .kind = ATTN_COLUMN_WHOLE}, {.name = "error"}};
    struct seen seen = {.model = NULL};
    const struct listing listing = {list, &seen};
    const struct attn_table t = {.column = columns, .columns = sizeof columns / sizeof *columns, .rows = n, .row = fill,
                                 .self = &listing, .spaced = true, .csv_safe = csv_safe()};
    bool json = !strcmp(o.format, "json");
    fputs(json ? "[" : "", stdout);
    int code = json ? table_objects(&t, "", "\n ", err) : table_print(&t, o.format, err);
    fputs(json && !code ? "]\n" : "", stdout);
    attn_model_close(seen.model);
    return code;
}

static void print_table(const struct attn_listed *list, size_t n)
{
    size_t width = strlen("model");
    for (size_t i = 0; i < n; i++)
        width = strlen(list[i].name) > width && strlen(list[i].name) <= 32 ? strlen(list[i].name) : width;
    printf("%-*s  %-12s  %10s  %7s  %s\n", (int)width, "model", "family", "parameters", "context", "where");
    for (size_t i = 0; i < n; i++)
        text_row(&list[i], width);
}

static int models(struct attn_err *err)
{
    struct attn_listed *list = NULL;
    size_t n = 0;
    if (attn_models_list(&list, &n, err))
        return err->code;
    int code = ATTN_OK;
    if (!o.format || !strcmp(o.format, "text"))
        print_table(list, n);
    else if (strcmp(o.format, names))
        code = write_rows(list, n, err);
    for (size_t i = 0; i < n && o.format && !strcmp(o.format, names); i++)
        puts(list[i].name);
    attn_models_free(list, n);
    return code;
}

static const char *format_choice(size_t i)
{
    const char *table = table_format(i);
    return table ? table : table_format(i - 1) ? names : NULL;
}

static void explain_format(char help[OPTION_HELP])
{
    explain_tables(help, "one line per model", "; or names alone, one per line (default: text)");
}

static const struct option options[] = {
    {0, "format", OPT_CHOICE, &o.format, "F", NULL, .choice = format_choice, .explain = explain_format},
    {.name = NULL},
};

const struct command models_command = {
    .name = "models",
    .schemas = (const char *const[]){"models", NULL},
    .run = models,
    .usage = "models [--format F]",
    .section = IN_MODELS,
    .summary = "list the models that are there: built in, installed, in Hugging Face's cache",
    .about = "Lists every model that -m takes by name: those built in, the directories in ATTN_MODEL_PATH, the "
             "installed ones, and what Hugging Face's tools have downloaded (HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, "
             "HF_HOME, or ~/.cache/huggingface/hub), with family, number of parameters and context.  Where two have "
             "the same name, the later one has its path instead.  Nothing is downloaded.",
    .examples = (const struct pair[]){
        {"attn-cli models", "which models can I use?"},
        {"attn-cli models --format json | jq -r '.[] | select(.error == null) | .name'",
         "those that can be opened, for scripts"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){options, csv_options, printed_options, general_options, NULL},
    .report = true,
};

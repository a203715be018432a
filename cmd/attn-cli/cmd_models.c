/* cmd_models.c - lists the models that this program finds without being given a directory. */
#include "attn_tools.h"
#include "opts_output.h"
#include "cli_print.h"
#include "table.h"

#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct { const char *format; } o;

static const char *const formats[] = {"text", "json", "names", NULL};

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

static void json_row(const struct attn_listed *m)
{
    struct attn_info info;
    struct attn_model *model = NULL;
    struct attn_err why = {0};
    fputs("{\"name\": ", stdout);
    json_text(stdout, m->name);
    fputs(", \"path\": ", stdout);
    m->path ? json_text(stdout, m->path) : (void)fputs("null", stdout);
    printf(", \"where\": \"%s\"", m->where);
    if (look(m, &info, &model, &why)) {
        fputs(", \"family\": ", stdout);
        json_text(stdout, info.family);
        printf(", \"parameters\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"n_ctx\": %zu, \"error\": null}", info.parameters, info.bytes,
               info.n_ctx);
    } else {
        fputs(", \"family\": null, \"parameters\": null, \"bytes\": null, \"n_ctx\": null, \"error\": ", stdout);
        json_text(stdout, why.msg);
        putchar('}');
    }
    attn_model_close(model);
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
    bool json = o.format && !strcmp(o.format, "json"), names = o.format && !strcmp(o.format, "names");
    if (!json && !names)
        print_table(list, n);
    for (size_t i = 0; i < n && names; i++)
        puts(list[i].name);
    for (size_t i = 0; i < n && json; i++) {
        fputs(i ? ",\n " : "[", stdout);
        json_row(&list[i]);
    }
    if (json)
        puts("]");
    attn_models_free(list, n);
    return ATTN_OK;
}

static const struct option options[] = {
    {0, "format", OPT_CHOICE, &o.format, "F", "how to print: text, json, or names alone, one a line (default: text)", .choices = formats},
    {.name = NULL},
};

const struct command models_command = {
    .name = "models",
    .run = models,
    .usage = "models [--format F]",
    .summary = "list the models that are there: built in, installed, in Hugging Face's cache",
    .about = "Lists every model that -m takes by name: those built in, the directories in ATTN_MODEL_PATH, the installed ones, and "
             "what Hugging Face's tools have downloaded (HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, or ~/.cache/huggingface/hub), "
             "with family, number of parameters and context.  Where two have the same name, the later one has its path instead.  Nothing is downloaded.",
    .examples = (const struct pair[]){
        {"attn-cli models", "which models can I use?"},
        {"attn-cli models --format json | jq -r '.[] | select(.error == null) | .name'", "those that can be opened, for scripts"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){options, general_options, NULL},
    .report = true,
};

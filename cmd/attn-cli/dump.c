#include "dump.h"

#include "attention.h"
#include "canonical.h"
#include "input.h"
#include "picture.h"
#include "progress.h"
#include "renorm.h"
#include "say.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TERMINAL_NUMBERS = 4000 };

const char *dump_format_of(const char *path)
{
    static const struct pair known[] = {{".csv", "csv"}, {".npy", "npy"}, {".npz", "npz"}, {".json", "json"},
                                        {".png", "png"}, {".svg", "svg"}, {".html", "html"}, {NULL, NULL}};
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (const struct pair *p = known; dot && p->term; p++)
        if (!strcasecmp(dot, p->term))
            return p->text;
    return NULL;
}

/* Endings of pictures that are not supported: without an error, such a file would hold a text table. */
static bool not_drawn(const char *path)
{
    static const char *const endings[] = {".gif", ".jpg", ".jpeg", ".pdf", ".webp", ".bmp", ".tif", ".tiff", ".eps", ".ps", NULL};
    const char *dot = path ? strrchr(path, '.') : NULL;
    size_t i = 0;
    while (dot && endings[i] && strcasecmp(dot, endings[i]))
        i++;
    return dot && endings[i];
}

int dump_check_format(const char *format, const char *path, struct attn_err *err)
{
    if (!format && not_drawn(path))
        return fail(err, ATTN_EUSAGE, "%s: pictures are .png, .svg or .html; with --format the name may be any", path);
    bool binary = format && (!strcmp(format, "npy") || !strcmp(format, "npz") || !strcmp(format, "png"));
    if (binary && terminal_is(path))
        return fail(err, ATTN_EUSAGE, "%s is not for a terminal: give a file or directory with -o", format);
    return ATTN_OK;
}

/* Cached, because finding out reads files. */
static int threads(void)
{
    static int n;
    if (!n)
        n = common.threads.n ? (int)common.threads.n : attn_threads_available();
    return n;
}

static int open_sink(struct attn_sink **sink, const struct dump *d, const char *command, struct attn_err *err)
{
    bool terminal = terminal_is(d->path);
    struct attn_sink_opts o = {
        .format = d->format ? d->format : "text", .path = d->path, .model = d->model, .select = d->select,
        .tokens = d->tokens, .text = d->text, .text_len = d->len, .cross = d->cross, .cross_text = d->cross_text,
        .cross_len = d->cross_len, .tokenizer = d->tokenizer, .command = command, .kind = attention_kind(),
        .threads = threads(), .precision = d->precision, .width = terminal_columns(terminal),
        .limit = terminal ? TERMINAL_NUMBERS : 0, .color = terminal_colored(terminal),
        .picture = picture_look(terminal)};
    return attn_sink_open(sink, &o, err);
}

static int forward(const struct dump *d, struct attn_sink *sink, struct attn_err *err)
{
    struct attn_plan how = {.threads = threads(), .bf16 = compute_bf16(), .kind = attention_kind()};
    struct progress progress;
    progress_start(&progress, d->model, !terminal_is(d->path));
    struct attn_observer watchers[] = {attn_sink_observer(sink), progress_observer(&progress)};
    int code = attn_run_tokens(d->model, &how, d->tokens, d->cross, watchers, sizeof watchers / sizeof *watchers, err);
    progress_end(&progress);
    return code;
}

int dump_write(const struct dump *d, struct attn_err *err)
{
    struct attn_sink *sink = NULL;
    if (attn_run_check_tokens(d->model, d->tokens, d->cross, err))
        return err->code;               /* before the output has a first byte: no half-written document */
    char *command = canonical_command(d->command);
    int code = command ? open_sink(&sink, d, command, err) : fail(err, ATTN_ENOMEM, "no memory for the command line");
    if (!code)
        code = forward(d, sink, err);
    if (!code)
        code = attn_sink_finish(sink, err);
    if (!code && attn_sink_note(sink))
        say_note("%s", attn_sink_note(sink));
    if (!code)
        code = renorm_report(d->model, d->tokens, threads(), err);
    attn_sink_close(sink);
    free(command);
    return code;
}

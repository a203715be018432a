#include "say.h"

#include "pager.h"
#include "process.h"
#include "cli_print.h"
#include "table.h"

#include "base/clock.h"
#include "base/format.h"
#include "base/near.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* What was typed may contain escape sequences: they are made visible. */
static void print_line(FILE *f, const char *before, const char *text, const char *after)
{
    fputs(before, f);
    print_text(f, text, strlen(text), true);
    fprintf(f, "\n%s", after);
}

/* 0: standard error is no terminal, or one that does not say. */
static size_t columns(void)
{
    struct winsize w;
    return isatty(STDERR_FILENO) && !ioctl(STDERR_FILENO, TIOCGWINSZ, &w) ? w.ws_col : 0;
}

/* Prints in one write, so that lines of parallel processes do not mix; without memory, piece by piece. */
static void say(const char *before, const char *text, const char *after)
{
    char *line = NULL, *wrapped = NULL;
    size_t len = 0, most = columns();
    FILE *to = pager_messages(), *f = open_memstream(&line, &len);
    if (f)
        print_line(f, before, text, after);
    if (f && fclose(f) == 0 && line && most && (f = open_memstream(&wrapped, &len))) {
        print_wrapped(f, line, most);
        fclose(f);
    }
    if (line)
        fwrite(wrapped ? wrapped : line, 1, len, to);
    else
        print_line(to, before, text, after);
    fflush(to);                         /* others write to the same descriptor */
    free(wrapped);
    free(line);
}

int say_error(const char *command, const struct attn_err *err)
{
    char before[64], after[64];
    const char *blank = command ? " " : "";
    bool usage = err->code == ATTN_EUSAGE;
    command = command ? command : "";
    snprintf(before, sizeof before, "attn-cli%s%s: ", blank, command);
    snprintf(after, sizeof after, "try 'attn-cli help%s%s'\n", blank, command);
    say(before, err->msg, usage ? after : "");
    return usage ? 2 : process_trouble();
}

static void say_list(const char *fmt, va_list ap)
{
    char text[2 * sizeof ((struct attn_err *)NULL)->msg];
    attn_vsnprintf(text, sizeof text, fmt, ap);
    say("", text, "");
}

void say_note(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!common.quiet)
        say_list(fmt, ap);
    va_end(ap);
}

void say_failure(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say_list(fmt, ap);
    va_end(ap);
}

/* ---- what was typed ---------------------------------------------------------------------- */

struct excerpt excerpt(const char *typed)
{
    enum { MARK = 3 };
    struct excerpt e;
    size_t n = strlen(typed), most = sizeof e.text - 1;
    if (n > most)
        for (n = most - MARK; n > 0 && ((unsigned char)typed[n] & 0xC0) == 0x80; n--)
            ;                           /* do not cut a character in two */
    snprintf(e.text, sizeof e.text, "%.*s%s", (int)n, typed, typed[n] ? "..." : "");
    return e;
}

static const struct attn_meaning meanings[] = {
    {"text", "sentence"}, {"prompt", "sentence"}, {"input", "sentence"}, {"string", "sentence"},
    {"vocab", "model"}, {"vocabulary", "model"}, {"tokenizer", "model"}, {"weights", "model"}, {"checkpoint", "model"},
    {"out", "output"}, {"save", "output"},
    {"sort", "by"}, {"sort-by", "by"}, {"order", "by"}, {"rank", "by"},
    {"compare", "diff"},
    {"attention", "run"}, {"show", "run"}, {"visualize", "run"}, {"visualise", "run"},
    {"draw", "plot"}, {"heatmap", "plot"}, {"heatmap", "term"}, {"heatmap", "png"},
    {"image", "png"}, {"picture", "png"},
    {"encode", "tokenize"},
    {"complete", "generate"}, {"predict", "generate"}, {"continue", "generate"}, {"sample", "generate"},
    {"perplexity", "score"}, {"loss", "score"},
    {"derive", "explain"}, {"induction", "heads"}, {"benchmark", "bench"}, {"articles", "lesson"}, {"article",
        "lesson"}, {"worksheet", "lesson"}, {"teach", "lesson"},
    {0}};

void nearest_offer(struct nearest *n, const char *name)
{
    struct attn_near near;
    size_t len = strlen(n->typed);
    attn_near_start(&near, n->typed, len);
    bool means = attn_near_means(meanings, n->typed, len, name);
    unsigned distance = means ||
                        (len && !strncmp(n->typed, name, len)) ? 0 : attn_near(&near, name, strlen(name), ATTN_FAR);
    n->also = means && n->means && !n->also ? name : n->also;
    n->means |= means;
    if (distance == ATTN_FAR || (n->best && n->distance <= distance))
        return;
    n->best = name;
    n->distance = distance;
}

struct excerpt nearest_hint(const struct nearest *n, const char *before)
{
    struct excerpt hint = {""};
    if (n->best && n->also)
        snprintf(hint.text, sizeof hint.text, ", the nearest are '%s%s' and '%s%s'", before, n->best, before, n->also);
    else if (n->best)
        snprintf(hint.text, sizeof hint.text, ", the nearest is '%s%s'", before, n->best);
    return hint;
}

/* ---- long runs --------------------------------------------------------------------------- */

static struct attn_lost first;          /* of the first pass that has any */
static bool more;                       /* another one has, too */

void note_overflow(void *self, const struct attn_lost *rows)
{
    (void)self;
    more = first.rows > 0;
    if (!more)
        first = *rows;
}

void say_overflow(void)
{
    if (first.rows)
        say_note("attention: dots overflow float32, to inf or NaN that no weight holds, in %zu row%s%s (the first: "
                 "layer %d, head %zu, query %zu): their weights are NaN, or 0 for -inf; run --show dots shows them",
                 first.rows, first.rows == 1 ? "" : "s", more ? " of one pass, and in other passes" :
                 "", first.layer, first.head, first.row);
}

void progress_start(struct progress *p, const struct attn_model *m, bool wanted)
{
    struct attn_info info;
    attn_model_info(m, &info);
    *p = (struct progress){.on = wanted && !common.quiet && isatty(STDERR_FILENO), .layers = info.L,
                           .start = attn_clock_now()};
}

/* Each block ends with this activation, and it is computed anyway, so watching it costs nothing. */
static unsigned wants(void *self, int act, int layer)
{
    const struct progress *p = self;
    return p->on && layer >= 0 && act == ATTN_ACT_RESID_POST ? ATTN_WATCH : 0;
}

static int watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    (void)err;
    struct progress *p = self;
    char run[32] = "";
    p->runs += probe->layer == 0 && probe->row0 == 0;
    if (p->runs > 1)
        snprintf(run, sizeof run, "run %zu, ", p->runs);
    if (attn_clock_now() - p->start >= 1)
        p->shown = fprintf(stderr, "\r%slayer %d of %zu%s", run, probe->layer + 1, p->layers, *run ? " " : "") - 1;
    return ATTN_OK;
}

struct attn_observer progress_observer(struct progress *p)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = p, .overflow = note_overflow};
}

void progress_end(struct progress *p)
{
    erase_line(&p->shown);
}

void steps_say(struct steps *s, const char *fmt, ...)
{
    va_list ap;
    if (s->start == 0)
        s->start = attn_clock_now();
    if (common.quiet || !isatty(STDERR_FILENO) || attn_clock_now() - s->start < 1)
        return;
    erase_line(&s->shown);
    va_start(ap, fmt);
    s->shown = vfprintf(stderr, fmt, ap);
    va_end(ap);
}

int put_duration(char *buf, size_t size, double seconds)
{
    unsigned long s = seconds < 1e9 ? (unsigned long)(seconds + 0.5) : 1000000000;
    if (s >= 3600)
        return snprintf(buf, size, "%lu h %02lu min", s / 3600, s % 3600 / 60);
    return s >= 60 ? snprintf(buf, size, "%lu min %02lu s", s / 60, s % 60) : snprintf(buf, size, "%lu s", s);
}

void erase_line(int *columns)
{
    if (*columns > 0)
        fprintf(stderr, "\r%*s\r", *columns, "");
    *columns = 0;
}

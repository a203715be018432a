#include "batch_report.h"

#include "clock.h"
#include "say.h"
#include "table.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { FAILURES = 10 };                 /* failures reported one by one; the output lists all of them */

void batch_report_start(struct batch_report *r, const char *input, bool lines)
{
    bool shows = lines || (!common.quiet && isatty(STDERR_FILENO));
    *r = (struct batch_report){.input = input, .lines = lines, .shows = shows, .start = clock_now(), .told = clock_now()};
}

static void wipe(struct batch_report *r)
{
    if (r->shown > 0)
        fprintf(stderr, "\r%*s\r", r->shown, "");
    r->shown = 0;
}

/* The part of the input that is done, between 0 and 1; 0 also when it is not known. */
static double done(const struct attn_batch_state *s)
{
    if (s->total != UINT64_MAX && s->total)
        return (double)s->records / (double)s->total;
    return s->all ? (double)s->read / (double)s->all : 0;
}

/* "1200 of 5000 records, 612/s, 6 s left" */
static void put_progress(char *buf, size_t size, const struct batch_report *r, const struct attn_batch_state *s)
{
    double spent = clock_now() - r->start, part = done(s), new = (double)(s->records - s->before);
    int n = s->total != UINT64_MAX ? snprintf(buf, size, "%" PRIu64 " of %" PRIu64 " records", s->records, s->total)
                                   : snprintf(buf, size, "%" PRIu64 " records", s->records);
    if (spent > 0)
        n += snprintf(buf + n, size - (size_t)n, ", %.*f/s", new < 10 * spent, new / spent);
    if (s->failed)
        n += snprintf(buf + n, size - (size_t)n, ", %" PRIu64 " failed", s->failed);
    double before = s->records ? part * (double)s->before / (double)s->records : 0;
    if (part > before && part < 1) {
        n += snprintf(buf + n, size - (size_t)n, ", ");
        n += clock_put(buf + n, size - (size_t)n, spent * (1 - part) / (part - before));
        snprintf(buf + n, size - (size_t)n, " left");
    }
}

void batch_report_progress(void *self, const struct attn_batch_state *s)
{
    struct batch_report *r = self;
    char line[160];
    if (!r->shows || clock_now() - r->told < (r->lines ? 1 : 0.2))
        return;
    r->told = clock_now();
    put_progress(line, sizeof line, r, s);
    if (r->lines) {
        fprintf(stderr, "%s\n", line);
        return;
    }
    int n = fprintf(stderr, "\r%s", line) - 1;
    if (n < r->shown)
        fprintf(stderr, "%*s", r->shown - n, "");
    r->shown = n;
}

void batch_report_failed(void *self, const struct attn_record *record, const char *why)
{
    struct batch_report *r = self;
    if (r->failures++ >= FAILURES || common.quiet)
        return;
    wipe(r);
    if (record)
        say_note("attn-cli batch: %s: line %" PRIu64 ": %s%s", r->input, record->line, why,
                 r->failures == FAILURES ? " (further ones are in the output)" : "");
}

void batch_report_end(struct batch_report *r, const struct attn_batch_state *s)
{
    char line[160];
    wipe(r);
    if (r->shows) {
        put_progress(line, sizeof line, r, s);
        fprintf(stderr, "%s\n", line);
    }
    if (!s->complete)
        say_note("attn-cli batch: stopped after %" PRIu64 " records: the same command with --resume continues", s->records);
    else if (s->failed)
        say_note("attn-cli batch: %" PRIu64 " of %" PRIu64 " records failed", s->failed, s->records);
    if (s->overflowed)
        say_note("attn-cli batch: attention: dots overflow float32, to inf or NaN that no weight holds, in %" PRIu64 " record%s: 'run' "
                 "names the first row of each", s->overflowed, s->overflowed == 1 ? "" : "s");
}

static void print_bytes(const char *what, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double x = (double)bytes;
    size_t unit = 0;
    for (; x >= 1000 && unit < 4; unit++)
        x /= 1000;
    printf("%-10s about %.*f %s\n", what, unit && x < 10, x, units[unit]);
}

void batch_report_estimate(const struct attn_batch_estimate *e)
{
    char time[32];
    printf("%-10s %" PRIu64, "records", e->records);
    if (e->failed)
        printf(", %" PRIu64 " of them bad", e->failed);
    printf("\n%-10s %" PRIu64 "\n%-10s %" PRIu64 "\n", "tokens", e->tokens, "numbers", e->numbers);
    print_bytes("output", e->bytes);
    print_bytes("memory", e->memory);
    clock_put(time, sizeof time, e->seconds);
    printf("%-10s about %s\n", "time", e->seconds < 1 ? "a second" : time);
}

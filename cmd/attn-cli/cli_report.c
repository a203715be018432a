#include "cli_report.h"

#include "say.h"
#include "table.h"

#include "base/clock.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum { FAILURES = 10 };                 /* failures reported one by one */

void report_start(struct report *r, const char *command, const char *input, bool lines)
{
    bool shows = lines || (!common.quiet && isatty(STDERR_FILENO));
    *r = (struct report){.command = command, .input = strcmp(input, "-") ? input : "standard input", .lines = lines,
                         .shows = shows, .start = attn_clock_now(), .last = attn_clock_now()};
}

/* The part of the input that is done, between 0 and 1; 0 also when it is not known. */
static double done(const struct attn_batch_state *s)
{
    if (s->total != UINT64_MAX && s->total)
        return (double)s->records / (double)s->total;
    return s->all ? (double)s->read / (double)s->all : 0;
}

/* "1200 of 5000 records, 612/s, 6 s left" */
static void put_progress(char *buf, size_t size, const struct report *r, const struct attn_batch_state *s)
{
    double spent = attn_clock_now() - r->start, part = done(s), new = (double)(s->records - s->before);
    int n = s->total != UINT64_MAX ? snprintf(buf, size, "%" PRIu64 " of %" PRIu64 " records", s->records, s->total)
                                   : snprintf(buf, size, "%" PRIu64 " records", s->records);
    if (spent > 0)
        n += snprintf(buf + n, size - (size_t)n, ", %.*f/s", new < 10 * spent, new / spent);
    if (s->failed)
        n += snprintf(buf + n, size - (size_t)n, ", %" PRIu64 " failed", s->failed);
    double before = s->records ? part * (double)s->before / (double)s->records : 0;
    if (part > before && part < 1) {
        n += snprintf(buf + n, size - (size_t)n, ", ");
        n += put_duration(buf + n, size - (size_t)n, spent * (1 - part) / (part - before));
        snprintf(buf + n, size - (size_t)n, " left");
    }
}

void report_progress(void *self, const struct attn_batch_state *s)
{
    struct report *r = self;
    char line[160];
    if (!r->shows || (r->patient && attn_clock_now() - r->start < 1) ||
        attn_clock_now() - r->last < (r->lines ? 1 : 0.2))
        return;
    r->last = attn_clock_now();
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

void report_failed(void *self, const struct attn_record *record, const char *why)
{
    struct report *r = self;
    if (record && !*r->first)
        snprintf(r->first, sizeof r->first, ", the first in line %" PRIu64 ": %.256s", record->line, why);
    if (r->failures++ >= FAILURES || common.quiet)
        return;
    erase_line(&r->shown);
    if (record)
        say_note("attn-cli %s: %s: line %" PRIu64 ": %s%s", r->command, r->input, record->line, why,
                 r->failures == FAILURES ? r->patient ? " (further ones are not listed)" : " (further ones are in the "
                                                                                           "output)" : "");
}

void report_column(void *self, const char *name, size_t len)
{
    (void)self;
    char row[sizeof(struct excerpt) + 1] = "";
    memcpy(row, name, len < sizeof row - 1 ? len : sizeof row - 1);
    say_note("%s: the first row, '%s', is taken for the name of its column: if it is a sentence, too, give --no-header",
             strcmp(common.file, "-") ? common.file : "standard input", excerpt(row).text);
}

void report_failures(const struct report *r, uint64_t failed, uint64_t all, const char *so)
{
    say_failure("attn-cli %s: %" PRIu64 " of %" PRIu64 " records failed%s%s", r->command, failed, all, so,
                common.quiet ? r->first : "");
}

void report_end(struct report *r, const struct attn_batch_state *s)
{
    char line[160];
    erase_line(&r->shown);
    if (r->shows) {
        put_progress(line, sizeof line, r, s);
        fprintf(stderr, "%s\n", line);
    }
    if (!s->complete)
        say_note("attn-cli batch: stopped after %" PRIu64 " records: the same command with --resume continues",
                 s->records);
    else if (s->before && s->before == s->records)
        say_note("attn-cli batch: all %" PRIu64 " records were done before: there was nothing to resume", s->records);
    if (s->complete && s->failed)
        report_failures(r, s->failed, s->records, "");
    report_overflow(r, s->overflowed);
}

void report_overflow(const struct report *r, uint64_t records)
{
    if (records)
        say_note("attn-cli %s: attention: dots overflow float32, to inf or NaN that no weight holds, in %" PRIu64
                 " record%s: 'run' names the first row of each", r->command, records, records == 1 ? "" : "s");
}

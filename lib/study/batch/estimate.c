/* estimate.c - what a batch would take: reads all of the input, runs a sample from its start, writes nothing. */
#include "attn_tools.h"
#include "batch/batch.h"

#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "picture/look.h"

/* Bytes, all estimated but the npy header: of a number in a line and in a tidy table, of a file in a manifest. */
enum { NPY_HEADER = 128, CSV_NUMBER = 12, TIDY_NUMBER = 70, FILE_ENTRY = 256 };

/* Estimated bytes of formats whose files are text or pictures: of a record, and more for each activation, each matrix
 * of one and each number, or each pixel where matrices have more numbers than a picture has squares. */
static const struct estimated { const char *format; double record, activation, matrix, number, squares,
                               pixel; } estimated[] = {
    {"csv", 0, 0, FILE_ENTRY, CSV_NUMBER, 0, CSV_NUMBER},
    {"png", 4000, 1500, 1200, 0.4, 2e4, 0.03},    /* its squares shrink */
    {"svg", 10000, 5000, 1400, 8, ATTN_SVG_SQUARES, 0.4},
    {"pdf", 8000, 4000, 1200, 15, ATTN_PDF_SQUARES, 1.1}};
static const double SAMPLE = 1;         /* approximate seconds to run records for */

struct sample { uint64_t tokens, bytes, records; double seconds; };

/* Runs one pass and formats its lines, which are discarded. */
static int run_pass(struct attn_engine *e, const struct attn_item *item, size_t n, struct sample *s,
                    struct attn_err *err)
{
    size_t captured = 0;
    bool apart = attn_batch_in_directory(e->writing.format);  /* its activations are not part of the lines */
    int rc = attn_engine_run(e, item, n, err);
    for (size_t i = 0; i < n && !rc; i++) {
        struct attn_record_lines lines;
        rc = attn_writing_lines(&lines, &e->writing, &item[i], captured, apart, err);
        captured += item[i].tokens != NULL;
        if (rc)
            break;
        s->tokens += item[i].tokens ? item[i].tokens->n : 0;
        s->bytes += lines.line_len + lines.row_len;
        s->records++;
        attn_writing_lines_free(&lines);
    }
    return rc;
}

/* Runs a record that would be written while it runs; the size of its lines is estimated. */
static int run_live(struct attn_engine *e, const struct attn_item *item, struct sample *s, struct attn_err *err)
{
    uint64_t numbers = attn_capture_numbers(e->capture, item->tokens->n);
    bool tidy = !strcmp(e->writing.format->name, "tidy");
    s->tokens += item->tokens->n;
    s->bytes += attn_batch_in_directory(e->writing.format) ? 0 : numbers * (tidy ? TIDY_NUMBER : CSV_NUMBER);
    s->records++;
    return attn_engine_live(e, item, &(struct attn_observer){0}, err);
}

/* Runs records of the group until the sample is large enough. */
static int run_some(struct attn_engine *e, struct sample *s, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t at = 0, step; at < e->group.n && !rc && s->seconds < SAMPLE; at += step) {
        bool live;
        double start = attn_clock_now();
        step = attn_engine_take(e, &e->group.item[at], e->group.n - at, &live);
        rc = live ? run_live(e, &e->group.item[at], s, err) : run_pass(e, &e->group.item[at], step, s, err);
        s->seconds += attn_clock_now() - start;
    }
    return rc;
}

static void count(const struct attn_engine *e, struct attn_batch_estimate *out)
{
    for (size_t i = 0; i < e->group.n; i++) {
        const struct attn_item *item = &e->group.item[i];
        out->records++;
        out->failed += item->failure.code != ATTN_OK;
        out->tokens += item->tokens ? item->tokens->n : 0;
        out->numbers += attn_engine_numbers(e, item);
    }
}

static uint64_t bytes_estimated(const struct estimated *x, const struct attn_engine *e,
                                const struct attn_batch_estimate *out)
{
    double records = (double)(out->records - out->failed),
    matrices = records * (double)attn_select_matrices(e->o->select);
    double numbers = (double)out->numbers, each = numbers > x->squares * matrices ? x->pixel : x->number;
    return (uint64_t)(records * (x->record + x->activation * (double)attn_select_activations(e->o->select)) +
                      matrices * x->matrix + numbers * each);
}

/* Bytes of files besides the lines: exact for npy, except for manifests. */
static uint64_t bytes_apart(const struct attn_engine *e, const struct attn_batch_estimate *out)
{
    uint64_t files = attn_select_activations(e->o->select), good = out->records - out->failed;
    if (!attn_batch_in_directory(e->writing.format))
        return 0;
    for (const struct estimated *x = estimated; x < estimated + sizeof estimated / sizeof *estimated; x++)
        if (!strcmp(e->writing.format->name, x->format))
            return bytes_estimated(x, e, out);
    bool stack = e->writing.format->flags & ATTN_FORMAT_STACK;
    return out->numbers * sizeof(float) + (stack ? files * NPY_HEADER : good * files * (NPY_HEADER + FILE_ENTRY));
}

static int finish(const struct attn_engine *e, const struct sample *s, struct attn_batch_estimate *out,
                  struct attn_err *err)
{
    double each = s->records ? (double)s->bytes / (double)s->records : 0;
    out->bytes = (uint64_t)(each * (double)out->records) + bytes_apart(e, out);
    out->seconds = s->tokens ? s->seconds / (double)s->tokens * (double)out->tokens : 0;
    return attn_engine_memory(e, out->tokens, &out->memory, err);
}

static int survey(struct attn_engine *e, struct attn_batch_estimate *out, struct attn_err *err)
{
    struct sample s = {0};
    bool end = false, stopped = false;
    int rc = ATTN_OK;
    while (!rc && !end && !stopped) {
        attn_group_clear(&e->group);
        rc = attn_group_read(&e->group, e->in, &e->reading, &end, &stopped, err);
        if (!rc)
            rc = attn_engine_encode(e, err);
        if (!rc)
            rc = run_some(e, &s, err);
        count(e, out);
    }
    return rc ? rc : finish(e, &s, out, err);
}

int attn_batch_estimate(struct attn_batch_estimate *out, const struct attn_batch_opts *o, struct attn_err *err)
{
    struct attn_engine e = {0};
    *out = (struct attn_batch_estimate){0};
    int rc = attn_engine_open(&e, o, err);
    if (!rc)
        rc = survey(&e, out, err);
    attn_engine_close(&e);
    return rc;
}

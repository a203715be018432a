/* means.c - the mean of each cell of a grid over many records, from the rows of all of them.
 *
 * Sums are added up in the order of the rows, that of the records, in double precision: whoever has the same rows gets
 * the same bits.  Memory grows with the cells, not with the records. */
#include "batch/grids.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/format.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/num.h"
#include "batch/batch.h"
#include "io/fields.h"
#include "sinks/sink_csv.h"
#include "sinks/grid.h"

enum { AXES = 3, FIELDS_MOST = 1 + AXES + 4 };          /* record, axes, metric, effect, id, error */

struct mean { uint64_t at[AXES], n, effects; double metric, effect; };
struct means {
    const char *path; uint64_t line;    /* for messages */
    unsigned over; size_t axes;
    void *tree;                         /* of cells, by at[] */
    struct mean **cell; size_t n, room; /* the same */
};

struct field { const char *s; size_t len; };

static int refuse(const struct means *m, const char *expected, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT,
                     "%s: line %" PRIu64 ": is no row of a grid, expected %s", m->path, m->line, expected);
}

/* ---- rows -------------------------------------------------------------------------------- */

/* Splits the next line; returns how many fields it has, 0 if it is no row. */
static size_t next_row(struct field f[FIELDS_MOST], const char **at, const char *end)
{
    const char *line = memchr(*at, '\n', (size_t)(end - *at));
    struct attn_fields fields = {*at, line ? line + 1 : end, ','};
    size_t n = 0;
    for (bool last = false; line && !last; n++)
        if (n == FIELDS_MOST || !attn_fields_next(&fields, &f[n].s, &f[n].len, &last))
            return 0;
    *at = line ? line + 1 : end;
    return n;
}

static bool is(const struct field *f, const char *s)
{
    return f->len == strlen(s) && !memcmp(f->s, s, f->len);
}

static int read_header(struct means *m, const char **at, const char *end, struct attn_err *err)
{
    struct field f[FIELDS_MOST];
    size_t n = next_row(f, at, end), i = 1;
    for (size_t k = 0; k < AXES && i < n; k++)
        if (is(&f[i], attn_grid_axes[k])) {
            m->over |= 1U << k;
            i++;
        }
    m->axes = i - 1;
    return n == i + 4 && is(&f[0], "record") && is(&f[i], "metric") && is(&f[i + 1], "effect") ? ATTN_OK
           : refuse(m, "record, axes, metric, effect, id, error", err);
}

static int by_place(const void *a, const void *b)
{
    const struct mean *x = a, *y = b;
    size_t k = 0;
    while (k < AXES - 1 && x->at[k] == y->at[k])
        k++;
    return (x->at[k] > y->at[k]) - (x->at[k] < y->at[k]);
}

/* The cell of a row; NULL: no memory. */
static struct mean *cell_at(struct means *m, const struct mean *like)
{
    struct mean **found = tfind(like, &m->tree, by_place);
    if (found)
        return *found;
    struct mean **more = attn_grow(m->cell, &m->room, m->n + 1, sizeof *more);
    struct mean *c = more ? malloc(sizeof *c) : NULL;
    m->cell = more ? more : m->cell;
    if (!c)
        return NULL;
    *c = *like;
    if (!tsearch(c, &m->tree, by_place)) {
        free(c);
        return NULL;
    }
    return m->cell[m->n++] = c;
}

/* A number, or nothing. */
static bool read_number(const struct field *f, double *x, bool *there)
{
    *there = f->len > 0;
    return !*there || attn_num_parse_f64(f->s, f->len, x);
}

static int add_row(struct means *m, const struct field *f, struct attn_err *err)
{
    struct mean like = {{0}, 0, 0, 0, 0};
    bool has_metric, has_effect;
    double metric = 0, effect = 0;
    size_t i = 1;
    if (!f[m->axes + 1].len && f[m->axes + 4].len)          /* a record that failed */
        return ATTN_OK;
    for (size_t k = 0; k < AXES; k++)
        if (m->over & 1U << k && !attn_num_parse_u64(f[i].s, f[i].len, &like.at[k]))
            return refuse(m, "whole numbers as layer, head and pos", err);
        else
            i += m->over >> k & 1;
    if (!read_number(&f[i], &metric, &has_metric) || !read_number(&f[i + 1], &effect, &has_effect))
        return refuse(m, "numbers as metric and effect", err);
    struct mean *c = cell_at(m, &like);
    if (!c)
        return attn_no_memory(err, m->path, "for the means of %zu cells", m->n);
    c->n += has_metric;
    c->metric += metric;
    c->effects += has_effect;
    c->effect += effect;
    return ATTN_OK;
}

static int read_rows(struct means *m, const struct attn_map *map, struct attn_err *err)
{
    const char *at = (const char *)map->data, *end = at + map->len;
    struct field f[FIELDS_MOST];
    m->line = 1;
    int rc = read_header(m, &at, end, err);
    for (m->line = 2; at < end && !rc; m->line++)
        rc = next_row(f, &at, end) == m->axes + 5 ? add_row(m, f, err) :
             refuse(m, "as many fields as in the first line", err);
    return rc;
}

/* ---- the summary ------------------------------------------------------------------------- */

static int in_order(const void *a, const void *b)
{
    return by_place(*(struct mean *const *)a, *(struct mean *const *)b);
}

static void write_mean(struct attn_out *o, double sum, uint64_t n)
{
    attn_out_char(o, ',');
    if (n)
        attn_cell_f64(o, sum / (double)n);
}

static void write_means(struct means *m, struct attn_out *o)
{
    if (m->n)
        qsort(m->cell, m->n, sizeof *m->cell, in_order);
    for (size_t k = 0; k < AXES; k++)
        if (m->over & 1U << k)
            attn_out_printf(o, "%s,", attn_grid_axes[k]);
    attn_out_str(o, "n,mean_metric,mean_effect\n");
    for (size_t i = 0; i < m->n; i++) {
        const struct mean *c = m->cell[i];
        for (size_t k = 0; k < AXES; k++)
            if (m->over & 1U << k)
                attn_out_printf(o, "%" PRIu64 ",", c->at[k]);
        attn_out_u64(o, c->n);
        write_mean(o, c->metric, c->n);
        write_mean(o, c->effect, c->effects);
        attn_out_char(o, '\n');
    }
}

int attn_means_make(const struct attn_map *rows, const char *name, const char *path, struct attn_written *w,
                    struct attn_err *err)
{
    struct means m = {.path = name};
    struct attn_out *o = NULL;
    struct attn_sha256 sha;
    int rc = read_rows(&m, rows, err);
    *w = (struct attn_written){0};
    if (!rc)
        rc = attn_out_open(&o, path, err);
    if (!rc) {
        attn_sha256_start(&sha);
        attn_out_hash_on(o, &sha);
        write_means(&m, o);
        rc = attn_out_commit(o, err);
    }
    if (!rc)
        attn_written_note(w, o);
    attn_out_close(o);
    for (size_t i = 0; i < m.n; i++) {
        tdelete(m.cell[i], &m.tree, by_place);
        free(m.cell[i]);
    }
    free(m.cell);
    return rc;
}

/* They were made already, by a batch that ended before it could say so. */
static int find(const char *path, struct attn_written *w, struct attn_err *err)
{
    struct attn_sha256 sha;
    struct stat st;
    if (stat(path, &st))
        return attn_fail_errno(err, path, "open");
    *w = (struct attn_written){.bytes = (uint64_t)st.st_size};
    int rc = attn_written_check(&sha, path, w, err);
    if (!rc)
        attn_sha256_end(&sha, w->sha256);
    return rc;
}

int attn_means_write(const char *path, struct attn_written *w, struct attn_err *err)
{
    char *rows;
    struct attn_map map = {0};
    if (attn_asprintf(&rows, "%s.part", path) < 0)
        return attn_no_memory(err, path, "for its name");
    bool made = access(rows, F_OK) && errno == ENOENT;
    int rc = made ? find(path, w, err) : attn_map_open_found(&map, rows, SIZE_MAX, ATTN_LINKS_REFUSED, err);
    if (!rc && !made)
        rc = attn_means_make(&map, rows, path, w, err);
    attn_map_close(&map);
    if (!rc && !made && unlink(rows))
        rc = attn_fail_errno(err, rows, "remove");
    free(rows);
    return rc;
}

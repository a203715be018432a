#include "sinks/lines.h"

#include <stdlib.h>

#include "base/err.h"

enum {
    CHUNK = 1 << 16,                    /* bytes of a chunk: the rows that one thread prints at a time, at least one */
    CHUNKS = 8                          /* chunks per thread in a round: enough to keep threads from waiting long */
};
/* Printing a byte takes a core about as long as so many floating point operations: for attn_team_run. */
static const double COST = 40;

struct chunk { char *text; size_t room, len; };
struct round { struct chunk *chunk; size_t n; struct attn_out *to; };

struct attn_lines {
    struct attn_team *team;
    size_t most;                        /* most chunks of a round */
    struct round now, last;             /* the round that is being printed; the one that is being written */
    const struct attn_row_printer *rows;
    size_t first, each;                 /* first row of this round; rows of a chunk */
};

int attn_lines_new(struct attn_lines **out, struct attn_team *team, struct attn_err *err)
{
    struct attn_lines *l = *out = calloc(1, sizeof *l);
    size_t most = CHUNKS * (size_t)attn_team_size(team);
    if (l) {
        l->team = team;
        l->most = most;
        l->now.chunk = calloc(most, sizeof *l->now.chunk);
        l->last.chunk = calloc(most, sizeof *l->last.chunk);
        if (l->now.chunk && l->last.chunk)
            return 0;
    }
    attn_lines_free(l);
    *out = NULL;
    return attn_no_memory(err, NULL, "to list %zu buffers for text", 2 * most);
}

static void free_chunks(struct chunk *chunk, size_t n)
{
    for (size_t i = 0; chunk && i < n; i++)
        free(chunk[i].text);
    free(chunk);
}

void attn_lines_free(struct attn_lines *l)
{
    if (!l)
        return;
    free_chunks(l->now.chunk, l->most);
    free_chunks(l->last.chunk, l->most);
    free(l);
}

static int grow_chunks(struct round *r, size_t bytes, struct attn_err *err)
{
    for (size_t i = 0; i < r->n; i++) {
        struct chunk *p = &r->chunk[i];
        if (p->room >= bytes)
            continue;
        free(p->text);
        p->text = malloc(bytes);
        p->room = p->text ? bytes : 0;
        if (!p->text)
            return attn_no_memory(err, NULL, "for %zu bytes of text", bytes);
    }
    return 0;
}

static void write_last(struct attn_lines *l)
{
    for (size_t i = 0; i < l->last.n; i++)
        attn_out_write(l->last.to, l->last.chunk[i].text, l->last.chunk[i].len);
    l->last.n = 0;
}

static void put_chunk(struct attn_lines *l, size_t i)
{
    struct chunk *p = &l->now.chunk[i];
    size_t row = l->first + i * l->each, end = row + l->each < l->rows->n ? row + l->each : l->rows->n;
    p->len = 0;
    for (; row < end; row++)
        p->len += l->rows->put(l->rows->ctx, row, p->text + p->len);
}

static void work(void *ctx, size_t item, int worker)
{
    (void)worker;
    if (item == 0)
        write_last(ctx);
    else
        put_chunk(ctx, item - 1);
}

/* Prints as many rows, from l->first on, as fit into a round; returns how many, 0 if there is no memory. */
static size_t run_round(struct attn_lines *l, struct attn_out *to, struct attn_err *err)
{
    const struct attn_row_printer *rows = l->rows;
    size_t left = rows->n - l->first, chunks = (left - 1) / l->each + 1;
    l->now.n = chunks < l->most ? chunks : l->most;
    l->now.to = to;
    if (grow_chunks(&l->now, l->each * rows->most, err))
        return 0;
    size_t n = chunks <= l->most ? left : l->most * l->each;
    attn_team_run(l->team, l->now.n + 1, COST * (double)n * (double)rows->most, work, l);
    struct round put = l->now;
    l->now = l->last;
    l->last = put;
    return n;
}

int attn_lines_write(struct attn_lines *l, struct attn_out *to, const struct attn_row_printer *rows,
                     struct attn_err *err)
{
    size_t fit = CHUNK / rows->most;
    l->rows = rows;
    l->each = fit == 0 ? 1 : fit < rows->n ? fit : rows->n;
    for (l->first = 0; l->first < rows->n && !attn_out_failed(to);) {
        size_t n = run_round(l, to, err);
        if (n == 0)
            return ATTN_ENOMEM;
        l->first += n;
    }
    return 0;
}

void attn_lines_flush(struct attn_lines *l)
{
    write_last(l);
}

/* Rules for names, then lines of "A SHAPE NAME" or "B SHAPE NAME" after a line "@@": the arrays of two dumps, which are
 * compared under the rules.  Whatever fits must have been compared as it lies in both. */
#include "attn_tools.h"
#include "fuzz.h"
#include "io/dump.h"

#include <string.h>

/* "2x3x4": its numbers are 0, 1, 2...  Larger arrays would only take time. */
static int read_shape(struct attn_array *out, const char *s, const char *end)
{
    *out = (struct attn_array){.n = 1};
    while (out->ndim < ATTN_ARRAY_DIMS && s < end && *s >= '0' && *s <= '9') {
        out->shape[out->ndim++] = (size_t)(*s - '0');
        out->n *= (size_t)(*s++ - '0');
        s += s < end && *s == 'x';
    }
    return out->n <= 4096;
}

static void add(struct attn_dump *side[2], const char *s, const char *end)
{
    struct attn_err err = {0};
    struct attn_dumped what = {0};
    struct attn_dump *d = side[*s == 'B'];
    const char *space = end - s > 2 ? memchr(s + 2, ' ', (size_t)(end - s - 2)) : NULL;
    if (!space || !read_shape(&what.of, s + 2, space))
        return;
    what.of.data = malloc(what.of.n * sizeof(float) + 1);
    must(what.of.data != NULL);
    for (size_t i = 0; i < what.of.n; i++)
        what.of.data[i] = (float)i;
    must(attn_dump_add(d, space + 1, (size_t)(end - space - 1), &what, &err) == ATTN_OK || err.msg[0]);
}

static void compare(struct attn_dump *side[2], const struct attn_naming *rules)
{
    struct attn_err err = {0};
    struct attn_diff *diff;
    const struct attn_diff_opts o = {.exact = true, .naming = rules};
    if (attn_diff_new(&diff, side[0], side[1], &o, &err)) {
        must(err.msg[0]);
        return;
    }
    size_t n;
    const struct attn_diff_row *row = attn_diff_rows(diff, &n);
    for (size_t i = 0; i < n; i++) {
        const char *a = attn_diff_name(diff, &row[i], 0), *b = attn_diff_name(diff, &row[i], 1);
        must(row[i].name && (a || b) && (row[i].kind > ATTN_DIFF_SHAPE) == (!a || !b));
        must(row[i].kind >= ATTN_DIFF_SHAPE || row[i].count == attn_dump_item(side[0], a)->of.n);
    }
    attn_diff_free(diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = text + size, *mark = size ? memmem(text, size, "@@\n", 3) : NULL;
    struct attn_dump *side[2] = {calloc(1, sizeof **side), calloc(1, sizeof **side)};
    struct attn_naming *rules = NULL;
    struct attn_err err = {0};
    must(side[0] && side[1]);
    side[0]->path = "a";
    side[1]->path = "b";
    int rc = attn_naming_read(&rules, text, mark ? (size_t)(mark - text) : size, "fuzz", &err);
    must(rc == ATTN_OK || err.msg[0]);
    for (const char *at = mark ? mark + 3 : end, *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        add(side, at, stop);
    }
    compare(side, rc ? NULL : rules);
    compare(side, NULL);
    attn_naming_free(rules);
    attn_dump_free(side[0]);
    attn_dump_free(side[1]);
    return 0;
}

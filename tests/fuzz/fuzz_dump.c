/* A directory with dumps of every format: each is opened, compared with itself and drawn. */
#define _GNU_SOURCE 1

#include "archive.h"
#include "attn_tools.h"
#include "fuzz.h"

/* What is read from one file agrees with itself: numbers that are no numbers differ from nothing but themselves. */
static void compare(const struct attn_dump *d)
{
    struct attn_diff *diff = NULL;
    struct attn_diff_opts how = {.exact = true};
    struct attn_err err = {0};
    if (attn_diff_new(&diff, d, d, &how, &err) != ATTN_OK) {
        must(!diff && err.msg[0]);
        return;
    }
    size_t n;
    const struct attn_diff_row *row = attn_diff_rows(diff, &n);
    must(n > 0 && !attn_diff_first(diff) && !attn_diff_cause(diff, NULL));
    for (size_t i = 0; i < n; i++)
        must(row[i].name && row[i].kind == ATTN_DIFF_SAME);
    attn_diff_free(diff);
}

static void draw(const struct attn_dump *d, const char *format)
{
    struct attn_plot_opts o = {.format = format, .path = archive_path("drawn"), .title = "fuzz"};
    struct attn_err err = {0};
    must(attn_plot(d, &o, &err) == ATTN_OK || err.msg[0]);
}

static void open(const char *path)
{
    struct attn_dump *d = NULL;
    struct attn_err err = {0};
    int32_t id;
    size_t len;
    if (attn_dump_open(&d, path, &err) != ATTN_OK) {
        must(!d && err.msg[0]);
        return;
    }
    for (size_t i = 0; i < attn_dump_tokens(d); i++)
        attn_dump_token(d, i, &id, &len);
    compare(d);
    draw(d, "svg");
    draw(d, "term");
    attn_dump_free(d);
}

static void test(const uint8_t *data, size_t size)
{
    struct archive a;
    archive_read(&a, data, size);
    open(archive_unpack(&a));
    for (size_t i = 0; i < a.n; i++)
        open(archive_path(a.file[i].path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    test(data, size);
    archive_remove();
    return 0;
}

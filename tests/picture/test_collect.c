/* test_collect.c - every selected number gets into the album, whatever the bands are. */
#include "suites.h"
#include "attn_tools.h"

#include "sinks.h"
#include "sinks/sink_picture.h"

#include <string.h>

static unsigned wants(void *self, int act, int layer) { return attn_collect_wants(self, act, layer); }
static int watch(void *self, const struct attn_probe *p, struct attn_err *err)
{
    return attn_collect_watch(self, p, err);
}
static const struct attn_sink_methods collecting = {.wants = wants, .watch = watch};

static void collect(struct attn_collect *c, struct sinks_setup *s, const char *show, const char *heads, bool next)
{
    struct attn_err err = {0};
    sinks_setup(s, 5, show, NULL, heads, true);
    ck_assert_msg(!attn_collect_start(c, &s->job, next, &err), "%s", err.msg);
    ck_assert_msg(!sinks_tell(&collecting, c, s, 2, &err), "%s", err.msg);
}

static void ck_sheet(const struct attn_sheet *sheet, int act)
{
    ck_assert_str_eq(sheet->kind, attn_act_tail(act));
    for (size_t i = 0; i < sheet->n; i++)
        for (size_t t = 0; t < sheet->rows; t++)
            for (size_t j = 0; j < sheet->cols; j++) {
                float want = sinks_value(act, sheet->layer, sheet->heads ? sheet->heads[i] : 0, t, j);
                ck_assert_mem_eq(&sheet->data[(i * sheet->rows + t) * sheet->cols + j], &want, sizeof want);
            }
}

START_TEST(bands_in_turns_make_whole_sheets)
{
    struct attn_collect c;
    struct sinks_setup s;
    collect(&c, &s, "scores,pattern,context", "1,3", false);
    ck_assert_uint_eq(c.album.n, 6);
    for (int layer = 0; layer < 2; layer++) {
        const struct attn_sheet *sheet = &c.album.sheet[3 * layer];
        ck_sheet(&sheet[0], ATTN_ACT_SCORES);
        ck_sheet(&sheet[1], ATTN_ACT_PATTERN);
        ck_sheet(&sheet[2], ATTN_ACT_CONTEXT);
        ck_assert_uint_eq(sheet[1].n, 2);
        ck_assert_uint_eq(sheet[1].heads[1], 3);
        ck_assert(sheet[1].keys && !sheet[2].keys && !sheet[2].heads);
        ck_assert_int_eq(sheet[2].layer, layer);
    }
    ck_assert_uint_eq(c.album.next.n, 0);
    attn_collect_end(&c);
    sinks_teardown(&s);
}
END_TEST

START_TEST(what_comes_next_is_there_when_asked)
{
    struct attn_collect c;
    struct sinks_setup s;
    collect(&c, &s, "pattern", "0", true);
    ck_assert_uint_eq(c.album.n, 2);
    ck_assert_uint_eq(c.album.next.n, ATTN_ALBUM_NEXT);
    ck_assert_int_eq(c.album.next.of[0].id, 5);    /* the made-up logits increase with the id */
    ck_assert_ptr_null(c.album.next.of[0].text);
    attn_collect_end(&c);
    sinks_teardown(&s);
}
END_TEST

Suite *suite_collect(void)
{
    Suite *s = suite_create("collect");
    TCase *t = tcase_create("collect");
    tcase_add_test(t, bands_in_turns_make_whole_sheets);
    tcase_add_test(t, what_comes_next_is_there_when_asked);
    suite_add_tcase(s, t);
    return s;
}

/* A plan's settings as text, and how large public structs are. */
#include "suites.h"

#include "attn_ask.h"
#include "corpus.h"

#include <stdlib.h>
#include <string.h>

START_TEST(every_setting_is_read)
{
    struct attn_err err = {0};
    struct attn_plan p = {.rows = 7};
    ck_assert_msg(!attn_plan_parse(&p, "threads=2,kind=strided:2,3,scale=0.5,dropout=0.25,seed=9,compute=bf16", &err),
                  "%s", err.msg);
    ck_assert(p.rows == 7 && p.threads == 2 && p.bf16 && p.kind.form == ATTN_STRIDED && p.kind.w == 2 && p.kind.s == 3);
    ck_assert(p.kind.scaling == ATTN_SCALE_VALUE && p.kind.scale == 0.5);   /* exact in binary */
    ck_assert(p.kind.dropout == 0.25 && p.kind.dropout_seed == 9);
    ck_assert(!attn_plan_parse(&p, "kind=random:4,2,1", &err) && p.kind.form == ATTN_RANDOM && p.kind.seed == 1 &&
              p.threads == 2);
    ck_assert(!attn_plan_parse(&p, "scale=sqrt,compute=f32", &err) && p.kind.scaling == ATTN_SCALE_SQRT && !p.bf16);
    ck_assert(!attn_plan_parse(&p, "scale=none", &err) && p.kind.scaling == ATTN_SCALE_NONE);
    ck_assert(!attn_plan_parse(&p, "", &err) && !attn_plan_parse(&p, NULL, &err) && p.threads == 2);
}
END_TEST

static const struct { const char *text, *message; } faults[] = {
    {"threads", "plan: 'threads', expected threads=N"}, {"threads=", "plan: threads=, expected how many"},
    {"threads=-1", "threads=-1, expected"}, {"threads=4294967296", "expected how many"},
    {"treads=2", "plan: 'treads=2'"},
    {"threads=2,", "plan: threads=2,, expected"}, {",threads=2", "plan: ',threads=2'"},
    {"threads=2,3", "threads=2,3, expected"},
    {"kind=windw:4", "attention 'windw:4' is unknown"},
    {"kind=window:4,scale=x", "scale=x, expected none, sqrt or a number"},
    {"scale=inf", "expected none, sqrt or a number"}, {"scale=nan", "expected none"},
    {"dropout=1", "from 0 to below 1"},
    {"dropout=nan", "from 0 to below 1"}, {"seed=-1", "a whole number"}, {"compute=f16", "f32 or bf16"},
    {"=", "plan: '='"},
};

START_TEST(faults_change_nothing)
{
    struct attn_err err = {0};
    struct attn_plan p = {.threads = 3}, before = p;
    int rc = attn_plan_parse(&p, faults[_i].text, &err);
    ck_assert_msg(rc == ATTN_EUSAGE && strstr(err.msg, faults[_i].message), "%s: %s", faults[_i].text, err.msg);
    ck_assert_mem_eq(&p, &before, sizeof p);
}
END_TEST

START_TEST(a_long_value_is_refused)
{
    char text[400] = "kind=";
    struct attn_err err = {0};
    struct attn_plan p = {0};
    memset(text + 5, 'w', 300);
    ck_assert_int_eq(attn_plan_parse(&p, text, &err), ATTN_EUSAGE);
}
END_TEST

/* Each struct whose members a header shows has a size, and nothing else has. */
static size_t count_structs(const char *path)
{
    static const char before[] = "\nstruct attn_";
    size_t len, n = 0;
    char *text = corpus_slurp(path, &len), name[64];
    text = realloc(text, len + 1);
    text[len] = '\0';
    for (const char *at = text; (at = strstr(at, before)); at++) {
        size_t end = strcspn(at + strlen("\nstruct "), " ;*(");
        if (strncmp(at + strlen("\nstruct ") + end, " {", 2) != 0)
            continue;
        memcpy(name, at + strlen("\nstruct "), end);
        name[end] = '\0';
        ck_assert_msg(attn_sizeof(name) > 0, "%s of %s has no row", name, path);
        n++;
    }
    free(text);
    return n;
}

START_TEST(public_structs_have_sizes)
{
    ck_assert_uint_gt(count_structs("lib/attn.h") + count_structs("lib/attn_ask.h") + count_structs("lib/attn_tools.h"),
                      60);
    ck_assert_uint_eq(attn_sizeof("attn_plan"), sizeof(struct attn_plan));
    ck_assert_uint_eq(attn_sizeof("attn_question"), sizeof(struct attn_question));
    ck_assert_uint_eq(attn_sizeof("attn_model") + attn_sizeof("plan") + attn_sizeof(""), 0);
}
END_TEST

Suite *suite_plan_text(void)
{
    Suite *s = suite_create("plan_text");
    TCase *t = tcase_create("plan_text");
    tcase_add_test(t, every_setting_is_read);
    tcase_add_loop_test(t, faults_change_nothing, 0, (int)(sizeof faults / sizeof *faults));
    tcase_add_test(t, a_long_value_is_refused);
    tcase_add_test(t, public_structs_have_sizes);
    suite_add_tcase(s, t);
    return s;
}

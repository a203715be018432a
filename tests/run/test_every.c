/* Commands that other suites ask of a few models, asked of a checkpoint of every family: a batch has the numbers of
 * runs, a grid of a batch those of `patch`, a picture hides what the mask hides, kinds side by side are runs. */
#include "suites.h"

#include "checkpoints.h"
#include "golden.h"
#include "scratch.h"
#include "shell.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const texts[] = {"5,9,22,31,2,7,7,40,11,3,18", "4", "33,12,8,2,60"};
/* from here on, vocabularies have the words "the" and "cat" */
enum { TEXTS = sizeof texts / sizeof *texts, FIRST_THE = 5 };

static cJSON *parsed(const char *text, size_t len)
{
    cJSON *j = cJSON_ParseWithLength(text, len);
    ck_assert_msg(j != NULL, "not JSON: %.200s", text);
    return j;
}

static cJSON *answer(const char *line)
{
    const struct said *s = sh(line);
    ck_assert_msg(s->status == 0, "%s\nended with %d", line, s->status);
    return parsed(s->text, s->len);
}

/* $M is the checkpoint; $D/ids.ndjson has the texts. */
static void set_up(const char *name)
{
    FILE *f = fopen(scratch_path("ids.ndjson"), "w");
    for (int i = 0; i < TEXTS; i++)
        fprintf(f, "{\"ids\": [%s]}\n", texts[i]);
    fclose(f);
    setenv("M", checkpoint_path(name), 1);
}

/* Member `key` of the documents on each line of a file. */
static void expect_lines(const char *file, const char *key, cJSON *(*want)(int i))
{
    size_t len;
    char *all = golden_text(scratch_path(file), &len), *line = all;
    for (int i = 0; i < TEXTS; i++) {
        char *end = strchr(line, '\n');
        ck_assert_ptr_nonnull(end);
        cJSON *got = parsed(line, (size_t)(end - line)), *expected = want(i);
        ck_assert_msg(cJSON_Compare(golden_get(got, key), golden_get(expected, key), true),
                      "record %d: %.300s", i, line);
        cJSON_Delete(got);
        cJSON_Delete(expected);
        line = end + 1;
    }
    ck_assert_int_eq(*line, '\0');
    free(all);
}

static cJSON *run_of(int i)
{
    return answer(printed("\"$A\" run -q -m \"$M\" --ids %s --show embed,scores,pattern,context,resid_post,logits "
                          "--format json", texts[i]));
}

/* Alone and in company the same numbers, digit for digit, and as arrays bit for bit. */
START_TEST(a_batch_is_its_runs)
{
    set_up(checkpoints[_i].name);
    succeed("\"$A\" batch -q -m \"$M\" -f $D/ids.ndjson --show embed,scores,pattern,context,resid_post,logits -o "
            "$D/all.ndjson");
    expect_lines("all.ndjson", "activations", run_of);
    succeed("\"$A\" batch -q -m \"$M\" -f $D/ids.ndjson --show 'attn.*,mlp.*,logits' --format npy -o $D/arrays");
    for (int i = 0; i < TEXTS; i++)
        succeed(printed("\"$A\" run -q -m \"$M\" --ids %s --show 'attn.*,mlp.*,logits' --format npy -o $D/one && "
                        "diff -r -x manifest.json $D/one $D/arrays/00000%d && rm -r $D/one", texts[i], i));
}
END_TEST

/* A cell of a grid that a batch makes is that of `patch`. */
START_TEST(a_grid_of_a_batch_is_a_patch)
{
    static const char *const pair[] = {"the cat sat", "the man sat"};
    set_up(checkpoints[FIRST_THE + _i].name);
    succeed(printed("printf '{\"text\": \"%s\", \"from\": \"%s\"}\\n' > $D/pair.ndjson", pair[0], pair[1]));
    succeed("\"$A\" batch -q -m \"$M\" -f $D/pair.ndjson --patch context --over layer,head --metric "
            "'logit(3)-logit(5)' -o $D/grid.ndjson");
    size_t len;
    char *text = golden_text(scratch_path("grid.ndjson"), &len);
    cJSON *got = parsed(text, len),
        *want = answer(printed("\"$A\" patch -q -m \"$M\" -s '%s' --from '%s' --what context --over layer,head "
                                                           "--metric 'logit(3)-logit(5)' --format json",
                                                           pair[0], pair[1]));
    ck_assert_msg(cJSON_Compare(golden_get(got, "rows"), golden_get(want, "rows"), true), "%s", text);
    cJSON_Delete(got);
    cJSON_Delete(want);
    free(text);
}
END_TEST

/* How many cells the path of hidden ones covers: each strip is "M<x> <y>h<width>v1h-<width>z". */
static size_t hidden_cells(const char *svg)
{
    size_t n = 0;
    const char *at = strstr(svg, "<path fill=\"#ffffff\" d=\""), *end = at ? strchr(at, '>') : NULL;
    for (; at && (at = strchr(at, 'M')) != NULL && at < end; at++)
        n += strtoul(strchr(at, 'h') + 1, NULL, 10);
    return n;
}

START_TEST(pictures_hide_what_the_mask_hides)
{
    set_up(checkpoints[_i].name);
    for (int layer = 0; layer < 2; layer++) {
        if (layer == 1 && !strcmp(checkpoints[_i].name, "gpt2-d"))
            continue;                   /* has one */
        const char *show = printed("\"$A\" run -q -m \"$M\" --ids %s --show scores --layer %d --head 0 --format",
                                   texts[0], layer);
        succeed(printed("%s svg > $D/x.svg && %s csv > $D/x.csv", show, show));
        char *svg = golden_text(scratch_path("x.svg"), NULL), *csv = golden_text(scratch_path("x.csv"), NULL);
        size_t hidden = 0;
        for (const char *at = csv; (at = strstr(at, "-inf")) != NULL; at++)
            hidden++;
        ck_assert_uint_ge(hidden, 10 * 11 / 2);
        ck_assert_uint_eq(hidden_cells(svg), hidden);
        free(svg);
        free(csv);
    }
}
END_TEST

/* Pages and pictures of all that a model has. */
START_TEST(everything_can_be_drawn)
{
    set_up(checkpoints[_i].name);
    succeed(printed("\"$A\" run -q -m \"$M\" --ids %s --show '*' --format html -o $D/page.html", texts[0]));
    succeed(printed("\"$A\" run -q -m \"$M\" --ids %s --show '*' --format png -o $D/pictures", texts[2]));
    expect(printed("\"$A\" variants -q -m \"$M\" --ids %s", texts[0]), 0, "causal");
    expect(printed("\"$A\" heads -q -m \"$M\" --ids %s", texts[0]), 0, "L0H0");
    expect(printed("\"$A\" lens -q -m \"$M\" --ids %s --target 3 --points all", texts[0]), 0, "L0.resid_post");
}
END_TEST

Suite *suite_every(void)
{
    Suite *s = suite_create("every");
    TCase *c = tcase_create("every");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    attn_test_add_rows(c, a_batch_is_its_runs, CHECKPOINTS_HERE, checkpoint_name);
    tcase_add_loop_test(c, a_grid_of_a_batch_is_a_patch, 0, CHECKPOINTS_HERE - FIRST_THE);
    attn_test_add_rows(c, pictures_hide_what_the_mask_hides, CHECKPOINTS_HERE, checkpoint_name);
    attn_test_add_rows(c, everything_can_be_drawn, CHECKPOINTS_HERE, checkpoint_name);
    suite_add_tcase(s, c);
    return s;
}

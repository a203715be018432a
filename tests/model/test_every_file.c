/* All files that a model is opened from, told and put elsewhere, make the same model. */
#include "suites.h"

#include "attn_ask.h"
#include "checkpoints.h"
#include "model/every_file.h"
#include "scratch.h"
#include "shell.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct attn_err err;

static int put(void *self, const char *name, const void *data, size_t len, struct attn_err *e)
{
    char path[1024];
    (void)e;
    ++*(size_t *)self;
    snprintf(path, sizeof path, "%s/again/%s", scratch_dir, name);
    for (char *slash = path + strlen(scratch_dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0700);
    }
    scratch_put(path, data, len);
    return ATTN_OK;
}

static double of_tokens(const struct attn_model *m)
{
    const struct attn_question q = {.model = m, .text = {.ids = (const int32_t[]){0, 1, 0}, .n = 3},
                                    .plan = "threads=1"};
    struct attn_dump *d;
    struct attn_dump_array a;
    double sum = 0;
    ck_assert_msg(!attn_ask_run(&d, &q, "resid_post", &err), "%s", err.msg);
    ck_assert(attn_dump_array(d, 0, &a));
    for (size_t i = 0; i < a.shape[0] * a.shape[1]; i++)
        sum += (double)a.data[i] * (double)(i + 1);
    attn_dump_free(d);
    return sum;
}

/* The tokens of a text, as one number; -1: it has none. */
static double of_text(const struct attn_model *m)
{
    struct attn_tokenizer *t;
    struct attn_tokens *tokens;
    double sum = -1;
    if (attn_model_tokenizer(&t, m, &err))
        return sum;
    if (!attn_encode(&tokens, t, "a cat", 5, &err)) {
        sum = (double)tokens->n;
        for (size_t i = 0; i < tokens->n; i++)
            sum = sum * 31 + tokens->tok[i].id;
        attn_tokens_free(tokens);
    }
    attn_tokenizer_close(t);
    return sum;
}

static void check(const char *name, const struct attn_lacking *given)
{
    struct attn_model *m, *again;
    struct attn_opened_again how;
    struct attn_info info, of_again;
    size_t files = 0;
    if (attn_model_open_with(&m, name, given, &err))
        return;                         /* other tests say why */
    ck_assert_msg(!attn_model_each_file(m, &(struct attn_file_told){put, &files}, &err), "%s", err.msg);
    attn_model_opens_again(&how, m);
    const char *vocab = printed("%s/again/%s", scratch_dir, how.vocab);
    const struct attn_lacking said = {.as = how.as, .vocab = how.has_vocab ? vocab : NULL};
    ck_assert_msg(!attn_model_open_with(&again, printed("%s/again/%s", scratch_dir, how.model),
                                        said.as || said.vocab ? &said : NULL, &err),
                  "%s: %s", name, err.msg);
    attn_model_info(m, &info);
    attn_model_info(again, &of_again);
    ck_assert_str_eq(info.name, of_again.name);
    ck_assert(files > 0 && of_tokens(m) == of_tokens(again));
    ck_assert_msg(of_text(m) == of_text(again), "%s", name);
    attn_model_close(m);
    attn_model_close(again);
    succeed("rm -r $D/again");
}

START_TEST(recorded_models)
{
    static const char *const own[] = {"tiny", "life", "stacked", "induction", "models/journey", "models/tiny"};
    for (size_t i = 0; i < CHECKPOINTS; i++)
        if (checkpoint_path(checkpoints[i].name))
            check(checkpoint_path(checkpoints[i].name), NULL);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        check(own[i], NULL);
}
END_TEST

/* Files of courses, with a vocabulary beside them, elsewhere, or none. */
START_TEST(files_of_courses)
{
    static const char *const as[] = {NULL, "heads=2", "heads=1"};
    DIR *d = opendir("tests/corpus/course");
    ck_assert_ptr_nonnull(d);
    for (struct dirent *e; (e = readdir(d)); ) {
        if (*e->d_name != 'y')
            continue;
        const char *path = printed("tests/corpus/course/%s", e->d_name);
        for (size_t i = 0; i < sizeof as / sizeof *as; i++)
            check(path, as[i] ? &(struct attn_lacking){.as = as[i]} : NULL);
        check(path, &(struct attn_lacking){.vocab = "models/tiny"});
        check(path, &(struct attn_lacking){.vocab = "models/life/vocab.json"});
    }
    closedir(d);
}
END_TEST

Suite *suite_every_file(void)
{
    Suite *s = suite_create("every_file");
    TCase *t = tcase_create("every_file");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_test(t, recorded_models);
    tcase_add_test(t, files_of_courses);
    suite_add_tcase(s, t);
    return s;
}

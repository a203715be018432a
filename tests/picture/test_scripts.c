/* The scripts of a page draw and listen: none names an activation, a kind of attention, a score, a metric or what
 * edits are made of, so that a new row of any of these tables reaches a page without a line of script. */
#include "suites.h"

#include "attn_ask.h"
#include "corpus.h"
#include "trace/trace.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words that are names, and in scripts something else. */
static const char *const others[] = {
    "linear",                           /* a scale of colours */
    "lens",                             /* a question, and the tab that shows its answer */
    "kl",                               /* a bar of how far a prediction moves */
    "text", "from",                     /* parts of a question, and of what is drawn */
};

static bool is_other(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i]) == len && !memcmp(others[i], name, len))
            return true;
    return false;
}

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-'; }

/* Whether a text in quotes, or a part of one between other characters than those of names, is the name. */
static void check_script(const char *path, const char *script, const char *name, size_t len)
{
    for (const char *at = script; !is_other(name, len) && (at = memmem(at, strlen(at), name, len)); at += len) {
        const bool dotted = memchr(name, '.', len) || memchr(name, '_', len);
        const bool quoted = strchr("\"'`", at[-1]) && strchr("\"'`(:", at[len]);
        ck_assert_msg(!(dotted ? !in_word(at[-1]) && !in_word(at[len]) : quoted),
                      "%s names %.*s: %.60s", path, (int)len, name, at - 1);
    }
}

static void check_name(const glob_t *files, char *const *scripts, const char *name)
{
    const size_t len = strcspn(name, ":(");
    if (len < 2)                        /* one letter may be anything */
        return;
    for (size_t i = 0; i < files->gl_pathc; i++)
        check_script(files->gl_pathv[i], scripts[i], name, len);
}

START_TEST(scripts_know_no_names)
{
    static const char *const metrics[] = {"logit", "logprob", "prob", "rank", "loss", "kl", NULL};
    static const char *const values[] = {"uniform", "noise", "mean", "proj", NULL};
    static const char *const operations[] = {"} *=", "} +=", "} -=", NULL};     /* where a text is put together */
    glob_t files;
    char *scripts[64];
    ck_assert_int_eq(glob("lib/show/picture/page/*.js", 0, NULL, &files), 0);
    ck_assert_uint_lt(files.gl_pathc, 64);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        size_t len;
        char *bytes = corpus_slurp(files.gl_pathv[i], &len);
        /* A name has something on both sides. */
        ck_assert_int_gt(asprintf(&scripts[i], "\n%.*s\n", (int)len, bytes), 0);
        free(bytes);
    }
    for (int act = 0; act < ATTN_ACTS; act++) {
        check_name(&files, scripts, attn_act_tail(act));
        check_name(&files, scripts, attn_act_short(act));
    }
    for (const struct attn_head_score *s = NULL; (s = attn_head_score_next(s));)
        check_name(&files, scripts, s->name);
    for (const struct attn_kind_row *k = NULL; (k = attn_kind_next(k));)
        check_name(&files, scripts, k->form);
    for (const char *const *m = metrics; *m; m++)
        check_name(&files, scripts, *m);
    for (const char *const *v = values; *v; v++)
        check_name(&files, scripts, *v);
    for (const char *const *p = operations; *p; p++)
        for (size_t i = 0; i < files.gl_pathc; i++)
            ck_assert_msg(!strstr(scripts[i], *p), "%s puts an edit together: %s", files.gl_pathv[i], *p);
    for (size_t i = 0; i < files.gl_pathc; i++)
        free(scripts[i]);
    globfree(&files);
}
END_TEST

Suite *suite_scripts(void)
{
    Suite *s = suite_create("scripts");
    TCase *t = tcase_create("scripts");
    tcase_add_test(t, scripts_know_no_names);
    suite_add_tcase(s, t);
    return s;
}

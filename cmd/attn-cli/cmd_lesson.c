/* cmd_lesson.c - works through an article on attention, and makes worksheets of a sentence. */
#include "explained.h"

#include "attn_tools.h"
#include "input.h"
#include "opts_attention.h"
#include "opts_edits.h"
#include "opts_language.h"
#include "opts_picture.h"
#include "say.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static struct { struct number blank; bool answers; } o;

/* ---- articles, the rows of the library's table ---- */

/* What a lesson may be called: all names, all numbers, and list. */
static const char *article_choice(size_t i)
{
    const char *number, *name, *title;
    size_t n = 0;
    while (attn_article_row(n, &number, &name, &title))
        n++;
    attn_article_row(i < n ? i : i - n, &number, &name, &title);
    return i < n ? name : i < 2 * n ? number : i == 2 * n ? "list" : NULL;
}

/* Numbers begin with 00, which whoever types one digit may not know, or three, as the files of articles have them. */
static const char *mistaken_article(const char *value)
{
    static const char *const nth[] = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
                                      "ninth"};
    static char why[128];
    const char *number, *name, *at, *called, *title;
    for (size_t i = 0; *value == '0' && attn_article_row(i, &number, &name, &title); i++)
        if (!strcmp(value + 1, number)) {
            snprintf(why, sizeof why, "numbers have two digits: %s is %s", number, name);
            return why;
        }
    if (*value < '1' || *value > '9' || value[1])
        return NULL;
    size_t n = (size_t)(*value - '0');
    if (!attn_article_row(n - 1, &number, &name, &title))
        return NULL;
    snprintf(why, sizeof why, "numbers begin with 00: the %s is %s, %s", nth[n - 1], number, name);
    if (attn_article_row(n, &at, &called, &title))
        snprintf(why + strlen(why), sizeof why - strlen(why), "; %s is %s, the %s", at, called, nth[n]);
    return why;
}

static const struct pair *article_list(void)
{
    enum { MOST = 16 };
    static struct pair list[MOST + 1];
    static char terms[MOST][32];
    const char *number, *name, *title;
    for (size_t i = 0; i < MOST && attn_article_row(i, &number, &name, &title); i++) {
        snprintf(terms[i], sizeof terms[i], "%s, %s", number, name);
        list[i] = (struct pair){terms[i], title};
    }
    return list;
}

static int check_name(struct attn_err *err)
{
    char list[320] = "";
    struct nearest near = {.typed = common.word};
    const char *c;
    for (size_t i = 0; (c = article_choice(i)); i++) {
        if (!strcmp(c, common.word))
            return ATTN_OK;
        nearest_offer(&near, c);
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "", c);
    }
    const char *meant = mistaken_article(common.word);
    if (meant)
        return attn_fail(err, ATTN_EUSAGE, "lesson %s: %s", common.word, meant);
    return attn_fail(err, ATTN_EUSAGE, "there is no lesson '%s'%s (%s); a worksheet of your own text takes -s TEXT and "
                     "--blank N", excerpt(common.word).text, nearest_hint(&near, "").text, list);
}

/* The article fixes what these options would choose.  A usual model is no conflict. */
static int work_through(const struct attn_explain_opts *e, struct attn_err *err)
{
    const char *model = common.model == getenv(model_options[0].env) ? NULL : common.model;
    const struct { const char *name, *given; } others[] = {
        {"model", model}, {"as", common.as}, {"sentence", common.sentence}, {"file", common.file}, {"ids", common.ids},
        {"cross", crossing.text},
        {"cross-file", crossing.file}, {"cross-ids", crossing.ids}, {explained_given(), explained_given()}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].given)
            return attn_fail(err, ATTN_EUSAGE,
                             "'%s' and --%s do not go together: the article has its own", common.word, others[i].name);
    static const struct option *const groups[] = {attention_options, edit_options, from_options, label_options};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (const struct option *row = groups[g]; row->name; row++)
            if (option_given(row))
                return attn_fail(err, ATTN_EUSAGE,
                                 "'%s' and --%s do not go together: the article has its own", common.word,
                                 row->name);
    return attn_explain_article(common.word, e, err);
}

/* Without a text or a name it says which articles there are. */
static int lesson(struct attn_err *err)
{
    static char list[] = "list";
    struct attn_explain_opts e = explained_opts();
    bool text = common.sentence || common.file || common.ids;
    if (!common.word && !text && !o.blank.given)
        common.word = list;
    e.gaps = (size_t)o.blank.n;
    e.seed = dropout_seed.n;
    e.answers = o.answers;
    if (explained_check_path(err))
        return err->code;
    if (o.answers && !o.blank.given)
        return attn_fail(err, ATTN_EUSAGE, "--answers fills in a worksheet: give --blank N, and the sheet's --seed, "
                                           "too");
    if (text && !common.word && !o.blank.given)
        return attn_fail(err, ATTN_EUSAGE, "a worksheet of a text leaves out results: give --blank N; 'attn-cli "
                         "explain' shows them all");
    int code = common.word ? check_name(err) : ATTN_OK;
    if (!code)
        code = common.word ? work_through(&e, err) : explained_write(&lesson_command, &e, err);
    explained_note(code);
    return code;
}


static const struct option options[] = {
    {0, "blank", OPT_NUMBER, &o.blank, "N",
     "a worksheet: leave out N results, at random by --seed, to be computed from the numbers printed beside them; a "
     "page (-o sheet.html) checks what is typed", .min = 1, .max = 1000,
     .flags = OPT_COUNTS | OPT_USUAL},
    {0, "answers", OPT_FLAG, &o.answers, NULL, "with --blank: the same sheet with these results, marked",
     .flags = OPT_COUNTS | OPT_USUAL},
    {.name = NULL},
};

const struct command lesson_command = {
    .name = "lesson",
    .run = lesson,
    .usage = "lesson [NAME] [--format F] [-o PATH] | lesson -s TEXT --blank N [-m DIR|NAME] [--answers] [-o PATH]",
    .section = IN_SENTENCE,
    .summary = "work through an article on attention, or a worksheet of your own sentence",
    .about = "Works through an article on attention, listing by listing, with its own inputs and weights: each "
             "number that it prints stands beside the computed one, and its errors are named.  Without a name it "
             "says which there are.  Of a text it makes a worksheet: the derivation that 'explain' prints, with N "
             "results left out.",
    .examples = (const struct pair[]){
        {"attn-cli lesson", "which lessons there are"},
        {"attn-cli lesson life", "an article, listing by listing, with its errata"},
        {"attn-cli lesson life --lang zh", "the lesson in Chinese"},
        {"attn-cli lesson life --blank 8 -o sheet.html", "with results left out, as a page that checks what is typed"},
        {"attn-cli lesson -m life -s \"Life is short\" --blank 5 --seed 3 -o sheet.html",
         "a worksheet of a sentence; with --answers the filled one"},
        {"attn-cli lesson -m life -s \"Life is short\" --blank 5 --seed 3 -o sheet.pdf", "the same to print, on A4"},
        {NULL, NULL}},
    .list_title = "Articles",
    .rows = article_list,
    .word = "NAME",
    .name_choice = article_choice,
    .groups = (const struct option *const[]){model_options, corpus_options, encode_options, ids_options, label_options,
                                             cross_options, options, explained_options, language_options, font_options,
                                             edit_options, from_options, attention_options, dropout_seed_options,
                                             thread_options, general_options, NULL},
    .report = true,
};

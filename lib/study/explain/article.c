/* article.c - the articles that are worked through, a list of them, and one of them from its name to its last row. */
#include "explain/article.h"
#include "attn_tools.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"

static const struct attn_article *const articles[] = {
    &attn_article_life, &attn_article_heads, &attn_article_journey, &attn_article_chicken, &attn_article_language,
};
enum { ARTICLES = sizeof articles / sizeof *articles };

bool attn_article_row(size_t i, const char **number, const char **name, const char **title)
{
    const struct attn_article *a = i < ARTICLES ? articles[i] : NULL;
    *number = a ? a->number : NULL;
    *name = a ? a->name : NULL;
    *title = a ? a->title : NULL;
    return a;
}

/* ---- one article ----------------------------------------------------------------------- */

static void conclude(struct attn_lesson *r)
{
    const struct attn_checked *c = &r->checked;
    attn_derive_step(&r->e.d, "What came of it");
    if (c->printed && c->same == c->printed)
        attn_derive_words(&r->e.d, "All numbers that the article prints, %zu in %zu places, come out here, digit by "
                                   "digit.", c->printed, c->places);
    else if (c->same)
        attn_derive_words(&r->e.d, "Of %zu numbers that the article prints %zu come out here, digit by digit; the "
                                   "others are explained where they are compared.", c->printed, c->same);
    else if (c->printed)
        attn_derive_words(&r->e.d, "None of the %zu numbers that the article prints comes out; where they are compared "
                                   "it says why.", c->printed);
    else
        attn_derive_words(&r->e.d,
                          "The article prints no numbers: those here are computed from inputs and weights of a fixed "
                          "seed.");
    attn_derive_words(&r->e.d, "Errata: %zu.", c->errata);
}

static int read_article(struct attn_lesson *r, const struct attn_article *a, struct attn_err *err)
{
    attn_derive_title(&r->e.d, "Article %s, %s: %s", a->number, a->name, tr(&r->e, a->title));
    attn_derive_words(&r->e.d, "%s", tr(&r->e, a->about));
    attn_derive_words(&r->e.d, "Sums are computed before rounding, so a sum by hand of the numbers shown may differ "
                      "in the last digit.");
    for (const struct attn_row *row = a->row; row->kind; row++)
        if (attn_row_show(r, row, err))
            return err->code;
    conclude(r);
    return ATTN_OK;
}

/* ---- all of them ----------------------------------------------------------------------- */

static void add_counts(struct attn_derivation *list, const struct attn_checked *c)
{
    const size_t counts[] = {c->printed, c->same, c->errata};
    for (size_t i = 0; i < 3; i++)
        if (counts[i] || (i == 1 && c->printed))
            attn_derive_cell(list, "%zu", counts[i]);
        else
            attn_derive_blanks(list, 1);
}

/* What a row compares is known when it has been shown.  Moves *row from a heading to the next one. */
static int count(struct attn_checked *out, const struct attn_row **row, struct attn_lesson *r, struct attn_err *err)
{
    const struct attn_checked before = r->checked;
    int rc = ATTN_OK;
    do
        rc = attn_row_show(r, (*row)++, err);
    while (!rc && (*row)->kind && (*row)->kind != ATTN_ROW_HEADING);
    *out = (struct attn_checked){r->checked.places - before.places, r->checked.printed - before.printed,
                                 r->checked.same - before.same, r->checked.errata - before.errata};
    return rc;
}

/* An article, the sums of which come first, and its listings. */
static int add_article(struct attn_derivation *list, const struct attn_article *a, const struct attn_explain_opts *o,
                       struct attn_err *err)
{
    enum { MOST = 32 };
    struct attn_checked each[MOST];
    const char *title[MOST];
    struct attn_lesson *r;
    size_t n = 0;
    int rc = attn_lesson_new(&r, o, err);
    for (const struct attn_row *row = a->row; !rc && n < MOST && row->kind; n++) {
        title[n] = row->text;
        rc = count(&each[n], &row, r, err);
    }
    if (!rc) {
        attn_derive_cell(list, "%s, %s", a->number, a->name);
        add_counts(list, &r->checked);
        attn_derive_strong(list, 4);
    }
    for (size_t i = 0; !rc && i < n; i++) {
        attn_derive_cell(list, "- %s", attn_tr(list->language, title[i]));
        add_counts(list, &each[i]);
    }
    attn_lesson_free(r);
    return rc;
}

static int list_all(struct attn_lesson *r, const struct attn_explain_opts *o, struct attn_err *err)
{
    static const char *const headings[] = {"article and listings", "printed", "same", "errata"};
    struct attn_derivation *d = &r->e.d;
    attn_derive_title(d, "Articles on attention");
    attn_derive_words(d, "Each listing is computed here from the article's inputs, weights or seed; `printed` is how "
                         "many numbers the article prints of it, `same` how many of them come out, `errata` how many "
                         "errors are pointed out.");
    attn_derive_headings(d, headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < ARTICLES; i++)
        if (add_article(d, articles[i], o, err))
            return err->code;
    attn_derive_words(d, "An article is shown by its number or name:");
    attn_derive_command(d, "attn-cli lesson %s", articles[0]->number);
    return ATTN_OK;
}

/* ---- from its name to the output ------------------------------------------------------- */

static const struct attn_article *find(const char *word)
{
    for (size_t i = 0; i < ARTICLES; i++)
        if (!strcmp(word, articles[i]->number) || !strcmp(word, articles[i]->name))
            return articles[i];
    return NULL;
}

static int unknown(const char *word, struct attn_err *err)
{
    char all[256];
    size_t used = 0;
    for (size_t i = 0; i < ARTICLES; i++)
        used += (size_t)snprintf(all + used, sizeof all - used,
                                 "%s%s or %s", i ? ", " : "", articles[i]->number, articles[i]->name);
    return attn_fail(err, ATTN_EUSAGE, "unknown article '%s': there are %s; list shows what each covers", word, all);
}

int attn_explain_article(const char *article, const struct attn_explain_opts *o, struct attn_err *err)
{
    struct attn_err local = {0};
    struct attn_lesson *r;
    err = err ? err : &local;
    const struct attn_article *a = find(article);
    if (!a && strcmp(article, "list") != 0)
        return unknown(article, err);
    if (attn_lesson_new(&r, o, err))
        return err->code;
    int rc = attn_explain_begin(&r->e, o, err);
    if (!rc)
        rc = a ? read_article(r, a, err) : list_all(r, o, err);
    if (!rc)
        rc = attn_explain_write(&r->e, o, err);
    attn_lesson_free(r);
    return rc;
}

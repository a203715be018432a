/* article.c - the articles that are worked through, a list of them, and one of them from its name to its last listing. */
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

static int read_listing(struct attn_lesson *r, const struct attn_listing *l, struct attn_err *err)
{
    attn_derive_step(&r->e.d, "%s", l->title);
    return l->show(r, err);
}

static void conclude(struct attn_lesson *r)
{
    const struct attn_checked *c = &r->checked;
    attn_derive_step(&r->e.d, "What came of it");
    if (c->printed)
        attn_derive_words(&r->e.d, "Of %zu numbers that the article prints, %zu come out here digit by digit%s.", c->printed, c->same,
                          c->same < c->printed ? ", and the others are explained where they are compared" : "");
    else
        attn_derive_words(&r->e.d, "The article prints no numbers: those here are computed from inputs and weights of a fixed seed.");
    attn_derive_words(&r->e.d, "Errata: %zu.", c->errata);
}

static int read_article(struct attn_lesson *r, const struct attn_article *a, struct attn_err *err)
{
    attn_derive_title(&r->e.d, "Article %s, %s: %s", a->number, a->name, a->title);
    attn_derive_words(&r->e.d, "%s", a->about);
    attn_derive_words(&r->e.d, "Sums are computed before rounding, so a sum by hand of the numbers shown may differ "
                      "in the last digit.");
    for (const struct attn_listing *l = a->listing; l->title; l++)
        if (read_listing(r, l, err))
            return err->code;
    conclude(r);
    return ATTN_OK;
}

/* ---- all of them ----------------------------------------------------------------------- */

static void add_row(struct attn_derivation *list, const char *name, const struct attn_checked *c)
{
    const size_t counts[] = {c->printed, c->same, c->errata};
    attn_derive_cell(list, "%s", name);
    for (size_t i = 0; i < 3; i++)
        if (counts[i] || (i == 1 && c->printed))
            attn_derive_cell(list, "%zu", counts[i]);
        else
            attn_derive_blanks(list, 1);
}

static void add_article(struct attn_derivation *list, const struct attn_article *a, const struct attn_checked *each,
                        const struct attn_checked *all)
{
    char name[96];
    snprintf(name, sizeof name, "%s, %s", a->number, a->name);
    add_row(list, name, all);
    attn_derive_strong(list, 4);
    for (size_t i = 0; a->listing[i].title; i++) {
        snprintf(name, sizeof name, "- %s", a->listing[i].title);
        add_row(list, name, &each[i]);
    }
}

/* What a listing compares is known when it has been read. */
static int count(struct attn_derivation *list, const struct attn_article *a, const struct attn_explain_opts *o, struct attn_err *err)
{
    enum { MOST = 32 };
    struct attn_checked each[MOST];
    struct attn_lesson *r;
    int rc = attn_lesson_new(&r, o, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < MOST && a->listing[i].title && !rc; i++) {
        struct attn_checked before = r->checked;
        rc = a->listing[i].show(r, err);
        each[i] = (struct attn_checked){r->checked.printed - before.printed, r->checked.same - before.same,
                                        r->checked.errata - before.errata};
    }
    if (!rc)
        add_article(list, a, each, &r->checked);
    attn_lesson_free(r);
    return rc;
}

static int list_all(struct attn_lesson *r, const struct attn_explain_opts *o, struct attn_err *err)
{
    static const char *const headings[] = {"article and listings", "printed", "same", "errata"};
    struct attn_derivation *d = &r->e.d;
    attn_derive_title(d, "Articles on attention");
    attn_derive_words(d, "Each listing is computed here from the article's inputs, weights or seed; `printed` is how many numbers the "
                      "article prints of it, `same` how many of them come out, `errata` how many errors are pointed out.");
    attn_derive_headings(d, headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < ARTICLES; i++)
        if (count(d, articles[i], o, err))
            return err->code;
    attn_derive_words(d, "An article is shown by its number or name:");
    attn_derive_command(d, "attn-cli explain --article %s", articles[0]->number);
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
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s or %s", i ? ", " : "", articles[i]->number, articles[i]->name);
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
    if (attn_explain_check(o, err) || attn_lesson_new(&r, o, err))
        return err->code;
    int rc = a ? read_article(r, a, err) : list_all(r, o, err);
    if (!rc)
        rc = attn_explain_write(&r->e, o, err);
    attn_lesson_free(r);
    return rc;
}

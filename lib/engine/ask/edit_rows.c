/* edit_rows.c - which rows and keys of a text an edit selects, and whether a source has rows for them. */
#include "ask/editor.h"

#include "base/err.h"
#include "base/near.h"
#include "base/size.h"
#include "base/strings.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t attn_editor_keys(const struct attn_editor *e, const struct attn_edited *t)
{
    return e->o.cross ? e->o.cross->n : t->n;
}

size_t attn_editor_rows(const struct attn_editor *e, const struct attn_edited *t, int act)
{
    return attn_act_of_keys(act) ? attn_editor_keys(e, t) : t->n;
}

/* ---- tokens by their text ---- */

static int by_text(const void *a, const void *b)
{
    const struct attn_str_view *x = a, *y = b;
    int c = memcmp(x->s, y->s, smaller(x->len, y->len));
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

/* Adds the rows whose token is one of the list's texts.  The texts are sorted, so that many of them cost little. */
static int add_tokens(struct attn_ranges *out, struct attn_editor *e, const struct attn_edit *edit,
                      struct attn_indices list, const int32_t *ids, size_t n, struct attn_err *err)
{
    struct attn_str_view *want = calloc(list.n + 1, sizeof *want);
    size_t wanted = 0;
    for (size_t i = 0; want && i < list.n; i++)
        if (edit->index[list.first + i].form == ATTN_INDEX_TOKEN) {
            struct attn_edit_part k = edit->index[list.first + i].token;
            want[wanted++] = (struct attn_str_view){attn_edit_at(edit, k), k.len};
        }
    bool ok = want;
    int rc = wanted ? attn_sources_tokenizer(e->sources, err) : ATTN_OK;
    if (ok && wanted)
        qsort(want, wanted, sizeof *want, by_text);
    for (size_t t = 0; ok && !rc && wanted && t < n; t++) {
        struct attn_str_view s = {0};
        s.s = attn_sources_token(e->sources, ids[t], &s.len);
        if (s.s && bsearch(&s, want, wanted, sizeof *want, by_text))
            ok = attn_ranges_add(out, t, t + 1);
    }
    free(want);
    return rc ? rc : ok ? ATTN_OK : attn_no_memory(err, NULL, "for the rows of an edit");
}

/* ---- lists ---- */

/* The row that is `back` from the end.  In a text that grows, each new row is the last one when it comes. */
static bool add_backward(struct attn_ranges *out, size_t back, size_t n, size_t prompt, bool grows)
{
    size_t end = grows ? smaller(prompt, n) : n;
    return back > end || attn_ranges_add(out, end - back, grows && back == 1 ? n : end - back + 1);
}

/* The indices of a list among n; those that are not there are left out. */
static int select_rows(struct attn_ranges *out, struct attn_editor *e, const struct attn_edit *edit,
                       struct attn_indices list, const int32_t *ids, size_t n, size_t prompt, bool grows,
                       struct attn_err *err)
{
    bool ok = list.n || attn_ranges_add(out, 0, n), tokens = false;
    for (size_t i = 0; i < list.n && ok; i++) {
        const struct attn_edit_index *x = &edit->index[list.first + i];
        switch (x->form) {
        case ATTN_INDEX_ALL:    ok = attn_ranges_add(out, 0, n); break;
        case ATTN_INDEX_RANGE:  ok = attn_ranges_add(out, x->lo, smaller(x->hi + 1, n)); break;
        case ATTN_INDEX_BACK:   ok = add_backward(out, x->lo, n, prompt, grows); break;
        case ATTN_INDEX_PROMPT: ok = attn_ranges_add(out, 0, smaller(prompt, n)); break;
        case ATTN_INDEX_NEW:    ok = attn_ranges_add(out, prompt, n); break;
        case ATTN_INDEX_TOKEN:  tokens = true; break;
        }
    }
    int rc = tokens && ok ? add_tokens(out, e, edit, list, ids, n, err) : ATTN_OK;
    attn_ranges_join(out);
    return rc ? rc : ok ? ATTN_OK : attn_no_memory(err, NULL, "for the rows of an edit");
}

/* The ids of the tokens that a row, or a key, stands for. */
static const int32_t *ids_of(const struct attn_editor *e, const struct attn_edited *t, bool keys)
{
    return keys && e->cross_ids ? e->cross_ids : t->ids;
}

/* Where the one selected row is in a source of S rows: the position is counted there, too.  S: it is not there. */
static int one_row(size_t *out, struct attn_editor *e, const struct attn_edit_reach *r, size_t S, struct attn_err *err)
{
    struct attn_source_text from = attn_sources_text(e->sources, r->edit);
    struct attn_indices list = r->edit->place.by[ATTN_BY_POS];
    struct attn_ranges rows = {0};
    bool token = false;
    for (size_t i = 0; i < list.n; i++)
        token |= r->edit->index[list.first + i].form == ATTN_INDEX_TOKEN;
    int rc = token && !from.n ? ATTN_OK : select_rows(&rows, e, r->edit, list, from.ids, S, S, false, err);
    *out = attn_ranges_count(&rows) == 1 ? rows.r[0].lo : S;
    attn_ranges_free(&rows);
    return rc;
}

/* How many rows the text has that rows of a source may correspond to: of a text that grows, those of the prompt. */
static size_t rows_to_give(const struct attn_editor *e, const struct attn_edited *t, int act)
{
    return t->grows ? t->prompt : attn_editor_rows(e, t, act);
}

/* Whether one row is selected.  In a text that grows it must be in the prompt: sources of several rows act on it. */
static bool is_one(const struct attn_ranges *rows, const struct attn_edited *t)
{
    size_t end = t->grows ? t->prompt : SIZE_MAX, n = 0;
    for (size_t i = 0; i < rows->n && rows->r[i].lo < end; i++)
        n += smaller(rows->r[i].hi, end) - rows->r[i].lo;
    return n == 1;
}

/* Rows that the source has in a layer; where some layers of an archive have one, that of the others. */
static size_t source_rows(const struct attn_editor *e, const struct attn_edit_reach *r)
{
    size_t S = 1;
    for (size_t i = 0; i < r->layers.n && S == 1; i++)
        for (size_t row = r->layers.r[i].lo; row < r->layers.r[i].hi && S == 1; row++)
            S = attn_sources_get(e->sources, r->edit, r->act, (int)row - 1).rows;
    return S;
}

static int choose_source_row(struct attn_chosen *c, struct attn_editor *e, const struct attn_edit_reach *r,
                             const struct attn_edited *t, struct attn_err *err)
{
    size_t S = source_rows(e, r);
    bool apart = S != 1 && S != rows_to_give(e, t, r->act) && !t->windows;
    return apart && is_one(&c->rows, t) ? one_row(&c->source_row, e, r, S, err) : ATTN_OK;
}

int attn_editor_choose(const struct attn_chosen **out, struct attn_editor *e, size_t reach, size_t seq, size_t T,
                       size_t Tk, struct attn_err *err)
{
    const struct attn_edit_reach *r = &e->reaches.item[reach];
    const struct attn_edited *t = &e->text[seq];
    const struct attn_place *p = &r->edit->place;
    struct attn_chosen *c = &e->chosen[reach];
    *out = c;
    if (c->valid && c->seq == seq && c->T == T && c->Tk == Tk)
        return ATTN_OK;
    c->rows.n = c->keys.n = 0;
    c->seq = seq;
    c->T = T;
    c->Tk = Tk;
    c->source_row = SIZE_MAX;
    const int32_t *ids = ids_of(e, t, attn_act_of_keys(r->act)), *keys = ids_of(e, t, true);
    int rc = select_rows(&c->rows, e, r->edit, p->by[ATTN_BY_POS], ids, T, t->prompt, t->grows, err);
    if (!rc && attn_act_square(r->act))
        rc = select_rows(&c->keys, e, r->edit, p->by[ATTN_BY_KEY], keys, Tk, t->prompt, false, err);
    if (!rc && r->edit->origin)
        rc = choose_source_row(c, e, r, t, err);
    c->valid = !rc;
    return rc;
}

/* ---- checks ---- */

struct rows_of { struct attn_editor *e; const struct attn_edit *edit; const struct attn_edited *text;
    const int32_t *ids; size_t n;
                 const char *noun; };

/* The token of the text that was probably meant: the same word with or without a blank, or one spelled alike. */
static bool nearest(struct attn_str_view *out, const struct rows_of *r, const char *want)
{
    enum { MOST = 1000 };               /* tokens that are looked at */
    struct attn_near near;
    unsigned best = ATTN_FAR;
    attn_near_start(&near, want, strlen(want));
    for (size_t t = 0; t < r->n && t < MOST; t++) {
        size_t len;
        const char *s = attn_sources_token(r->e->sources, r->ids[t], &len);
        unsigned d = s && attn_utf8_valid(s, len) == len ? attn_near(&near, s, len, best) : ATTN_FAR;
        if (d < best)
            *out = (struct attn_str_view){s, len};
        best = d < best ? d : best;
    }
    return best != ATTN_FAR;
}

/* How many rows the text will have at most. */
static size_t most_rows(const struct rows_of *r)
{
    size_t most = r->e->o.rows ? r->e->o.rows : r->e->venue.info.n_ctx;
    return r->text->grows ? larger(most, r->text->prompt) : r->n;
}

static int check_token(const struct rows_of *r, const struct attn_edit_index *x, struct attn_err *err)
{
    const char *want = attn_edit_at(r->edit, x->token), *s;
    struct attn_str_view near;
    size_t len;
    int rc = attn_sources_tokenizer(r->e->sources, err);
    if (rc)
        return rc;
    for (size_t t = 0; t < r->n; t++)
        if ((s = attn_sources_token(r->e->sources, r->ids[t], &len)) && len == x->token.len && !memcmp(s, want, len))
            return ATTN_OK;
    bool comes = r->text->grows && most_rows(r) > r->text->prompt;
    for (size_t id = 0; comes && id < r->e->venue.info.V; id++)     /* it may come yet */
        if ((s = attn_sources_token(r->e->sources, (int32_t)id, &len)) && len == x->token.len && !memcmp(s, want, len))
            return ATTN_OK;
    if (nearest(&near, r, want))
        return attn_edit_fail(r->edit, err,
                              "no token of the text is \"%s\"; the nearest is \"%.*s\"", want, (int)near.len, near.s);
    return attn_edit_fail(r->edit, err, "no token of the text is \"%s\"; attn-cli tokenize shows them", want);
}

static int check_index(const struct rows_of *r, const struct attn_edit_index *x, struct attn_err *err)
{
    size_t n = most_rows(r);
    if (r->text->windows)
        return attn_edit_fail(r->edit, err, "a text that is longer than the model's context is read in windows, where "
                                            "rows have no %s of their own: leave %s= out", r->noun,
                              !strcmp(r->noun, "key") ? "key" : "pos");
    if (x->form == ATTN_INDEX_RANGE && x->hi >= n)
        return attn_edit_fail(r->edit, err, "%s %zu is not there: %s %zu token%s, counted from 0", r->noun, x->hi,
                              r->text->grows ? "the model reads at most" : "the text has", n, n == 1 ? "" : "s");
    if (x->form == ATTN_INDEX_BACK && x->lo > r->n)
        return attn_edit_fail(r->edit, err, "%s -%zu is not there: the text has %zu token%s", r->noun, x->lo, r->n,
                              r->n == 1 ? "" : "s");
    if (x->form == ATTN_INDEX_NEW && !r->text->grows)
        return attn_edit_fail(r->edit, err, "new rows are those after a prompt: there are some in generate only");
    if (x->form == ATTN_INDEX_NEW && n <= r->text->prompt)
        return attn_edit_fail(r->edit, err, "there will be no new rows: the model reads the %zu token%s of the prompt "
                                            "alone",
                              r->text->prompt, r->text->prompt == 1 ? "" : "s");
    return x->form == ATTN_INDEX_TOKEN ? check_token(r, x, err) : ATTN_OK;
}

static int check_list(const struct rows_of *r, struct attn_indices list, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (size_t i = 0; i < list.n && !rc; i++)
        rc = check_index(r, &r->edit->index[list.first + i], err);
    return rc;
}

/* The tokens of a text for a message: their texts or, without a tokenizer, ids. */
static void list_tokens(char *out, size_t size, struct attn_editor *e, const int32_t *ids, size_t n)
{
    size_t at = 0;
    *out = '\0';
    for (size_t t = 0; t < n && at < size; t++) {
        size_t len;
        const char *s = attn_sources_token(e->sources, ids[t], &len);
        at += s ? (size_t)snprintf(out + at, size - at, "%s%.*s", t ? "|" : "", (int)smaller(len, 40), s)
                : (size_t)snprintf(out + at, size - at, "%s%d", t ? "|" : "", (int)ids[t]);
    }
    if (at >= size)
        strcpy(out + size - 4, "...");
}

static int fail_rows(struct attn_editor *e, const struct attn_edit_reach *r, const struct attn_edited *t, size_t T,
                     size_t S, struct attn_err *err)
{
    struct attn_source_text from = attn_sources_text(e->sources, r->edit);
    char ours[120], theirs[120];
    list_tokens(theirs, sizeof theirs, e, from.ids, from.n);
    if (!t->windows && r->edit->place.by[ATTN_BY_POS].n && is_one(&e->chosen[r - e->reaches.item].rows, t))
        return attn_edit_fail(r->edit, err,
                              "%s has %zu rows%s%s%s, and not one for this pos=, which is counted in each text by "
                              "itself: as -1, for one, from the end", r->edit->origin, S, from.n ?
                              " (" :
                              "", theirs, from.n ? ")" : "");
    if (t->windows)
        return attn_edit_fail(r->edit, err, "%s has %zu rows, but a text that is longer than the model's context is "
                                            "read in windows, where rows have no position of their own: take one row, "
                                            "or mean(...)", r->edit->origin,
                              S);
    if (!from.n)
        return attn_edit_fail(r->edit, err, "%s has %zu rows, but the text has %zu tokens: select one row, as in "
                                            "[pos=-1], or take mean(...)", r->edit->origin, S, T);
    bool other = attn_act_of_keys(r->act) && e->cross_ids;
    list_tokens(ours, sizeof ours, e, ids_of(e, t, other), T);
    return attn_edit_fail(r->edit, err, "the source has %zu tokens, the %stext %zu (%s, and %s): rows correspond only "
                                        "if there are equally many; select one, as in [pos=-1], or take mean(...)", S,
                          other ? "other " :
                          "", T, theirs, ours);
}

/* A source of several rows, or whose columns are keys, acts on the prompt alone: some of that must be selected. */
static int check_prompt(const struct attn_editor *e, size_t reach, const struct attn_edited *t, size_t S,
                        struct attn_err *err)
{
    const struct attn_edit_reach *r = &e->reaches.item[reach];
    const struct attn_chosen *c = &e->chosen[reach];
    bool square = attn_act_square(r->act), some = attn_ranges_count(&c->rows) &&
                  (!square || attn_ranges_count(&c->keys));
    if (!t->grows || some || (S == 1 && !square))
        return ATTN_OK;
    return attn_edit_fail(r->edit, err,
                          "%s acts on the prompt alone, as %s, and nothing of it is selected%s", r->edit->origin,
                          square ? "its columns are keys" : "it has several rows",
                          square ? "" : ": take one row, or mean(...), for the rows after it");
}

/* Whether the rows of the source fit.  Layers of one text have equally many; those of an archive may not. */
static int check_source(struct attn_editor *e, size_t reach, const struct attn_edited *t, struct attn_err *err)
{
    const struct attn_edit_reach *r = &e->reaches.item[reach];
    size_t T = rows_to_give(e, t, r->act), Tk = t->grows ? t->prompt : attn_editor_keys(e, t), first = 0;
    size_t text = e->o.cross ? 0 : attn_sources_text(e->sources, r->edit).n;
    for (size_t i = 0; i < r->layers.n; i++)
        for (size_t row = r->layers.r[i].lo; row < r->layers.r[i].hi; row++) {
            struct attn_given g = attn_sources_get(e->sources, r->edit, r->act, (int)row - 1);
            size_t keys = text ? text : g.cols;
            first = first > 1 ? first : g.rows;
            int rc = check_prompt(e, reach, t, g.rows, err);
            if (rc)
                return rc;
            bool fits = g.rows == 1 ||
                        (!t->windows && g.rows == first && (g.rows == T || e->chosen[reach].source_row < g.rows));
            if (!fits)
                return fail_rows(e, r, t, T, g.rows, err);
            if (attn_act_square(r->act) && t->windows)
                return attn_edit_fail(r->edit, err,
                                      "columns of %s are keys, but a text that is longer than the model's context is "
                                      "read in windows, where keys have no position of their own",
                                      attn_act_tail(r->act));
            if (attn_act_square(r->act) && keys && keys != Tk)
                return attn_edit_fail(r->edit, err, "columns of %s are keys: the source has %zu, the text %zu",
                                      attn_act_tail(r->act), keys, Tk);
        }
    return ATTN_OK;
}

int attn_editor_check(struct attn_editor *e, size_t reach, size_t seq, struct attn_err *err)
{
    const struct attn_edited *t = &e->text[seq];
    const struct attn_edit_reach *r = &e->reaches.item[reach];
    const struct attn_place *p = &r->edit->place;
    const struct attn_chosen *c;
    size_t T = attn_editor_rows(e, t, r->act), Tk = attn_editor_keys(e, t);
    struct rows_of rows = {e, r->edit, t, ids_of(e, t, attn_act_of_keys(r->act)), T, "position"};
    struct rows_of keys = {e, r->edit, t, ids_of(e, t, true), Tk, "key"};
    int rc = check_list(&rows, p->by[ATTN_BY_POS], err);
    if (!rc && attn_act_square(r->act))
        rc = check_list(&keys, p->by[ATTN_BY_KEY], err);
    e->chosen[reach].valid = false;
    if (!rc && !t->windows)
        rc = attn_editor_choose(&c, e, reach, seq, T, Tk, err);
    return rc || !r->edit->origin ? rc : check_source(e, reach, t, err);
}

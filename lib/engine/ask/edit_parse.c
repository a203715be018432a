/* edit_parse.c - reads the text of an edit: its place and its operation. */
#include "ask/reader.h"

#include "base/err.h"
#include "base/grow.h"
#include "base/utf8.h"

#include <stdlib.h>

const char *const attn_selector_names[ATTN_SELECTORS] = {"head", "pos", "key", "col"};

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* ---- lists of indices ---- */

static int add_index(struct attn_reader *r, const struct attn_edit_index *i)
{
    struct attn_edit *e = r->e;
    struct attn_edit_index *more = attn_grow(e->index, &e->index_room, e->indices + 1, sizeof *more);
    if (!more)
        return attn_reader_no_memory(r);
    e->index = more;
    more[e->indices++] = *i;
    return ATTN_OK;
}

static int read_range(struct attn_reader *r, struct attn_edit_index *i)
{
    size_t start = r->at;
    int rc = attn_reader_whole(r, &i->lo);
    i->hi = i->lo;
    if (rc || peek(r) != '-' || after(r) == '=')
        return rc;
    r->at++;
    rc = attn_reader_whole(r, &i->hi);
    return rc ? rc : i->hi >= i->lo ? ATTN_OK : attn_reader_expected(r, start, "an ascending range such as 2-4");
}

/* One item of a list; `rows`: of positions or keys, which have more ways to say where. */
static int read_index(struct attn_reader *r, bool rows)
{
    struct attn_edit_index i = {.form = ATTN_INDEX_RANGE};
    int rc = ATTN_OK;
    if (at_star(r)) {
        r->at++;
        i.form = ATTN_INDEX_ALL;
    } else if (is_digit(peek(r))) {
        rc = read_range(r, &i);
    } else if (rows && peek(r) == '"') {
        i.form = ATTN_INDEX_TOKEN;
        rc = attn_reader_string(r, &i.token);
    } else if (peek(r) == '-' && is_digit(after(r))) {
        i.form = ATTN_INDEX_BACK;
        r->at++;
        rc = attn_reader_whole(r, &i.lo);
        if (!rc && i.lo == 0)
            rc = attn_reader_expected(r, r->at - 1, "-1 for the last, -2 for the one before it");
    } else if (rows && take(r, "prompt")) {
        i.form = ATTN_INDEX_PROMPT;
    } else if (rows && take(r, "new")) {
        i.form = ATTN_INDEX_NEW;
    } else {
        rc = attn_reader_expected(r, r->at, rows ? "3, 0,2-4, -1 for the last, \"token\", prompt, new or *" :
                                  "3, 0,2-4, -1 for the last or *");
    }
    return rc ? rc : add_index(r, &i);
}

/* The layers, heads or neurons of L<n>H<m>.  A comma continues the list before a number or *, but not before a place
 * such as 1.2. */
static int read_list(struct attn_reader *r, struct attn_indices *out)
{
    out->first = r->e->indices;
    int rc = read_index(r, false);
    while (!rc && peek(r) == ',') {
        struct attn_reader next = *r;
        next.at++;
        bool place = false;
        if (is_digit(peek(&next))) {
            while (is_digit(peek(&next)))
                next.at++;
            place = peek(&next) == '.' && is_digit(after(&next));
        } else if (!at_star(&next) && !(peek(&next) == '-' && is_digit(after(&next)))) {
            break;
        }
        if (place)
            break;
        r->at++;
        rc = read_index(r, false);
    }
    out->n = r->e->indices - out->first;
    return rc;
}

/* ---- places ---- */

static bool in_name(const struct attn_reader *r)
{
    char c = peek(r);
    return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '?' || at_star(r);
}

static int read_name(struct attn_reader *r, struct attn_edit_part *out)
{
    size_t start = r->at;
    while (in_name(r))
        r->at++;
    if (peek(r) == '*' && (r->at == start || r->text[r->at - 1] == '.'))
        return attn_reader_expected(r, r->at, "a name: with a blank, * = 0, the * is all names");
    if (r->at == start)
        return attn_reader_expected(r, start, "a place, as in L1H2, L0.mlp.out, pattern or blocks.*.attn.out");
    return attn_reader_keep(r, out, r->text + start, r->at - start);
}

/* 1.2, which is L1H2. */
static int read_pair(struct attn_reader *r, struct attn_place *p)
{
    struct attn_edit_index layer = {.form = ATTN_INDEX_RANGE}, head = layer;
    p->layered = true;
    int rc = attn_reader_whole(r, &layer.lo);
    if (!rc && !take(r, "."))
        rc = attn_reader_expected(r, r->at, "a place, as in 1.2 or L1H2: head 2 of layer 1");
    if (!rc)
        rc = attn_reader_whole(r, &head.lo);
    if (!rc && (peek(r) == '.' || (peek(r) == '-' && after(r) != '=')))
        rc = attn_reader_expected(r, r->at, "the end of 1.2; with a part or a list it is L1H2.pattern or L1H2-3");
    layer.hi = layer.lo;
    head.hi = head.lo;
    p->layers = (struct attn_indices){r->e->indices, 1};
    p->heads = (struct attn_indices){r->e->indices + 1, 1};
    if (!rc)
        rc = add_index(r, &layer);
    return rc ? rc : add_index(r, &head);
}

/* L<n>.<part>, L<n>H<m>, L<n>H<m>.<part>, L<n>N<m>. */
static int read_layered(struct attn_reader *r, struct attn_place *p)
{
    p->layered = true;
    r->at++;
    int rc = read_list(r, &p->layers);
    if (!rc && take(r, "H"))
        rc = peek(r) == '*' && after(r) == '=' ? attn_reader_expected(r, r->at,
                                                                      "a head: with a blank, H* = 0, the * is all "
                                                                      "heads")
                                               : read_list(r, &p->heads);
    else if (!rc && take(r, "N"))
        rc = peek(r) == '*' && after(r) == '=' ? attn_reader_expected(r, r->at,
                                                                      "a neuron: with a blank, N* = 0, the * is all "
                                                                      "neurons")
                                               : read_list(r, &p->neurons);
    else if (!rc && peek(r) != '.')
        rc = attn_reader_expected(r, r->at, "H and a head, N and a neuron or . and a part, as in L1H2, L1N5, "
                                            "L1.mlp.out");
    if (rc || p->neurons.n || peek(r) != '.')
        return rc;
    r->at++;
    return read_name(r, &p->name);
}

/* "head" of "head=0"; ATTN_SELECTORS: no selector begins here. */
static enum attn_selector selector_at(const struct attn_reader *r)
{
    for (enum attn_selector s = 0; s < ATTN_SELECTORS; s++) {
        struct attn_reader next = *r;
        if (!take(&next, attn_selector_names[s]))
            continue;
        skip_blanks(&next);
        if (peek(&next) == '=')
            return s;
    }
    return ATTN_SELECTORS;
}

static int read_selector(struct attn_reader *r, struct attn_place *p)
{
    enum attn_selector s = selector_at(r);
    if (s == ATTN_SELECTORS)
        return attn_reader_expected(r, r->at, "head=, pos=, key= or col=");
    if (p->by[s].n)
        return attn_reader_expected(r, r->at, "each selector once: a comma continues its list");
    take(r, attn_selector_names[s]);
    skip_blanks(r);
    r->at++;
    p->order[p->selectors++] = s;
    p->by[s].first = r->e->indices;
    int rc;
    do {
        skip_blanks(r);
        rc = read_index(r, s == ATTN_BY_POS || s == ATTN_BY_KEY);
        skip_blanks(r);
        struct attn_reader next = *r;
        if (rc || !take(&next, ","))
            break;
        skip_blanks(&next);
        if (selector_at(&next) != ATTN_SELECTORS)
            break;
        r->at = next.at;
    } while (true);
    p->by[s].n = r->e->indices - p->by[s].first;
    return rc;
}

static int read_place(struct attn_reader *r)
{
    struct attn_place *p = &r->e->place;
    int rc = is_digit(peek(r)) ? read_pair(r, p)
             : peek(r) == 'L' && (is_digit(after(r)) || after(r) == '*' || after(r) == '-') ? read_layered(r, p)
                 : read_name(r, &p->name);
    if (rc)
        return rc;
    skip_blanks(r);
    if (!take(r, "["))
        return ATTN_OK;
    do {
        skip_blanks(r);
        rc = read_selector(r, p);
        skip_blanks(r);
    } while (!rc && take(r, ","));
    if (!rc && !take(r, "]"))
        rc = attn_reader_expected(r, r->at, "] or a comma");
    return rc;
}

const char *const attn_edit_op_names[ATTN_EDIT_OPS] = {
    [ATTN_EDIT_SET] = "=", [ATTN_EDIT_ADD] = "+=", [ATTN_EDIT_SUBTRACT] = "-=", [ATTN_EDIT_TIMES] = "*="};

static int read_op(struct attn_reader *r)
{
    skip_blanks(r);
    for (size_t i = 0; i < ATTN_EDIT_OPS; i++)
        if (take(r, attn_edit_op_names[i])) {
            r->e->op = (enum attn_edit_op)i;
            return ATTN_OK;
        }
    return attn_reader_expected(r, r->at, peek(r) == '[' ?
                                "=, +=, -= or *=: all selectors stand in one pair of brackets, as in [pos=1,key=0]"
                                          : r->e->place.selectors ? "=, +=, -= or *="
                                                                : "=, +=, -=, *= or a selector such as [pos=-1]");
}

/* ---- edits ---- */

enum { LONGEST = 1 << 20 };

static int start(struct attn_reader *r, struct attn_edit *e, const char *text, size_t len, const char *where,
                 struct attn_err *err)
{
    *r = (struct attn_reader){.e = e, .text = text, .len = len, .where = where, .err = err};
    if (len > LONGEST)
        return attn_fail(err, ATTN_EUSAGE, "%s: %zu bytes are too long for an edit: at most %d", where, len, LONGEST);
    size_t valid = attn_utf8_valid(text, len);
    if (valid < len)
        return attn_reader_expected(r, valid, "UTF-8");
    struct attn_edit_part nothing;           /* the first string is at 1, so that 0 means none */
    return e->used ? ATTN_OK : attn_reader_keep(r, &nothing, "", 0);
}

int attn_edit_read(struct attn_edit *e, const char *text, size_t len, const char *where, struct attn_err *err)
{
    struct attn_reader r;
    int rc = start(&r, e, text, len, where, err);
    if (rc)
        return rc;
    skip_blanks(&r);
    rc = read_place(&r);
    if (!rc)
        rc = read_op(&r);
    if (!rc)
        rc = attn_reader_value(&r);
    return rc ? rc : attn_edit_spell(e, err);
}

int attn_edit_read_places(struct attn_edits *to, const char *places, const char *places_where, const char *value,
                          const char *value_where, struct attn_err *err)
{
    size_t at = 0, len = strlen(places);
    for (;;) {
        struct attn_edit *e = attn_edits_next(to, err);
        struct attn_reader p, v;
        int rc = e ? start(&p, e, places, len, places_where, err) : ATTN_ENOMEM;
        if (rc)
            return rc;
        to->n++;
        p.at = at;
        skip_blanks(&p);
        rc = read_place(&p);
        skip_blanks(&p);
        bool more = !rc && take(&p, ",");
        if (!rc && !more && p.at < len)
            rc = attn_reader_expected(&p, p.at, "a comma and another place, or the end");
        if (!rc)
            rc = start(&v, e, value, strlen(value), value_where, err);
        if (!rc)
            rc = attn_reader_value(&v);
        if (!rc)
            rc = attn_edit_spell(e, err);
        if (rc || !more)
            return rc;
        at = p.at;
    }
}

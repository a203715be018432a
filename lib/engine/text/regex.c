/* regex.c - reads a regular expression and writes the program that finds its matches. */
#include "text/regex.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"

enum { LONGEST = 1 << 14, GROUPS = 32, MANY = -1 };

static bool read_alternatives(struct attn_regex_reader *p);

static bool refuse(struct attn_regex_reader *p, const char *why)
{
    p->why = why;
    return false;
}

static bool take(struct attn_regex_reader *p, const char *what)
{
    bool there = attn_regex_follows(p, what);
    p->at += there ? strlen(what) : 0;
    return there;
}

/* ---- steps ----------------------------------------------------------------------------- */

/* Makes room for n steps at place `at`. */
static struct attn_regex_step *insert(struct attn_regex_reader *p, size_t at, size_t n)
{
    struct attn_regex *r = p->r;
    if (n > ATTN_REGEX_STEPS || r->n + n > ATTN_REGEX_STEPS) {
        refuse(p, "so long a pattern");
        return NULL;
    }
    struct attn_regex_step *step = attn_grow(r->step, &r->room, r->n + n, sizeof *step);
    if (!step) {
        refuse(p, NULL);
        return NULL;
    }
    r->step = step;
    memmove(step + at + n, step + at, (r->n - at) * sizeof *step);
    r->n += n;
    return step + at;
}

static bool add(struct attn_regex_reader *p, struct attn_regex_step step)
{
    struct attn_regex_step *to = insert(p, p->r->n, 1);
    if (to)
        *to = step;
    return to != NULL;
}

static bool add_set(struct attn_regex_reader *p, int32_t set)
{
    return set >= 0 && add(p, (struct attn_regex_step){.op = ATTN_REGEX_SET, .to = (int16_t)set});
}

/* A fork whose first way, unless it is `lazy`, is `to`. */
static struct attn_regex_step fork_to(size_t to, size_t or_to, bool lazy)
{
    return (struct attn_regex_step){.op = ATTN_REGEX_FORK, .to = (int16_t)(lazy ? or_to : to),
                                    .or_to = (int16_t)(lazy ? to : or_to)};
}

static struct attn_regex_step jump_by(size_t to)
{
    return (struct attn_regex_step){.op = ATTN_REGEX_JUMP, .to = (int16_t)to};
}

/* ---- repetitions ----------------------------------------------------------------------- */

/* How often; most may be MANY.  possessive: and no less than possible. */
struct times { int least, most; bool lazy, possessive; };

static bool read_number(struct attn_regex_reader *p, int *out)
{
    const char *first = p->at;
    for (*out = 0; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
        *out = *out > ATTN_REGEX_STEPS ? *out : 10 * *out + (*p->at - '0');
    return p->at > first;
}

/* {2} {2,} {,3} {2,3}; anything else in braces is no repetition but stands for itself. */
static bool read_interval(struct attn_regex_reader *p, struct times *t)
{
    const char *start = p->at++;
    bool least = read_number(p, &t->least), comma = take(p, ","), most = comma && read_number(p, &t->most);
    t->most = !comma ? t->least : most ? t->most : MANY;
    if (take(p, "}") && (least || most))
        return true;
    p->at = start;
    return false;
}

/* False: no repetition follows, or one that is refused. */
static bool read_times(struct attn_regex_reader *p, struct times *t)
{
    *t = (struct times){0};
    if (attn_regex_follows(p, "{")) {
        const char *start = p->at;
        if (!read_interval(p, t))
            return false;
        t->lazy = take(p, "?");
        if ((t->most != MANY && t->most < t->least) || (t->lazy && t->least == t->most)) {
            p->at = start;
            return refuse(p, "such a repetition");
        }
        return true;
    }
    if (!attn_regex_follows(p, "?") && !attn_regex_follows(p, "*") && !attn_regex_follows(p, "+"))
        return false;
    char c = *p->at++;
    t->least = c == '+';
    t->most = c == '?' ? 1 : MANY;
    t->lazy = take(p, "?");
    t->possessive = !t->lazy && take(p, "+");
    return true;
}

/* (?!a) behind a*, and in place of nothing where a? could have taken an a: then it cannot take less. */
static bool end_greed(struct attn_regex_reader *p, struct attn_regex_step one, bool at_most_once)
{
    const struct attn_regex_step look = {.op = ATTN_REGEX_LOOK, .opposite = true, .to = 2},
    match = {.op = ATTN_REGEX_MATCH};
    if (at_most_once) {
        p->r->step[p->r->n - 2].or_to++;
        if (!add(p, jump_by(4)))
            return false;
    }
    return add(p, look) && add(p, one) && add(p, match);
}

/* Whether the steps from number i on can be done without a character. */
static bool may_be_empty(const struct attn_regex *r, size_t i, bool *seen)
{
    while (i < r->n) {
        const struct attn_regex_step *s = &r->step[i];
        if (s->op == ATTN_REGEX_SET || seen[i])
            return false;
        seen[i] = true;
        if (s->op == ATTN_REGEX_FORK && may_be_empty(r, i + (size_t)s->or_to, seen))
            return true;
        i += s->op == ATTN_REGEX_LOOK ? (size_t)s->to + 1 : s->op == ATTN_REGEX_EDGE ? 1 : (size_t)s->to;
    }
    return true;
}

static bool can_repeat(struct attn_regex_reader *p, size_t from, const struct times *t)
{
    const struct attn_regex *r = p->r;
    const size_t len = r->n - from, most = (size_t)(t->most == MANY ? t->least + 1 : t->most);
    if (t->possessive && (len != 1 || r->step[from].op != ATTN_REGEX_SET))
        return refuse(p, "a possessive repetition of more than one character");
    if (t->most == MANY && may_be_empty(r, from, (bool[ATTN_REGEX_STEPS]){0}))
        return refuse(p, "an endless repetition of what may be empty");
    return most * (len + 2) <= (size_t)2 * ATTN_REGEX_STEPS || refuse(p, "so many repetitions");
}

/* Repeats the steps from `from` on. */
static bool repeat(struct attn_regex_reader *p, size_t from, const struct times *t)
{
    struct attn_regex *r = p->r;
    const size_t len = r->n - from, least = (size_t)t->least, most = t->most == MANY ? least + 1 : (size_t)t->most;
    if (!can_repeat(p, from, t))
        return false;
    if (len == 0)
        return true;
    struct attn_regex_step *copy = malloc(len * sizeof *copy), one = r->step[from];
    if (!copy)
        return refuse(p, NULL);
    memcpy(copy, r->step + from, len * sizeof *copy);
    r->n = from;
    bool ok = true;
    for (size_t i = 0; ok && i < most; i++) {
        if (i >= least)                 /* out of this one, or of this one and all that follow */
            ok = add(p, fork_to(1, t->most == MANY ? len + 2 : (most - i) * (len + 1), t->lazy));
        struct attn_regex_step *to = ok ? insert(p, r->n, len) : NULL;
        ok = to != NULL;
        if (to)
            memcpy(to, copy, len * sizeof *copy);
    }
    free(copy);
    if (ok && t->most == MANY)
        ok = add(p, jump_by((size_t)0 - (len + 1)));
    return ok && (!t->possessive || end_greed(p, one, t->most == 1));
}

/* ---- assertions and groups ------------------------------------------------------------- */

static bool add_edge(struct attn_regex_reader *p, enum attn_regex_edge edge)
{
    return add(p, (struct attn_regex_step){.op = ATTN_REGEX_EDGE, .to = (int16_t)edge});
}

/* How many characters the steps from `from` on take; false: not always as many. */
static bool width(const struct attn_regex *r, size_t from, size_t *out)
{
    *out = 0;
    for (size_t i = from; i < r->n; i++) {
        if (r->step[i].op == ATTN_REGEX_FORK || r->step[i].op == ATTN_REGEX_JUMP)
            return false;
        *out += r->step[i].op == ATTN_REGEX_SET;
        if (r->step[i].op == ATTN_REGEX_LOOK)
            i += (size_t)r->step[i].to;
    }
    return true;
}

static bool close_group(struct attn_regex_reader *p)
{
    return take(p, ")") || refuse(p, "a group without an end");
}

static bool read_look(struct attn_regex_reader *p, bool behind, bool opposite)
{
    const size_t at = p->r->n;
    size_t back = 0;
    if (p->looks == ATTN_REGEX_NESTED)
        return refuse(p, "assertions so deep within each other");
    p->looks++;
    if (!add(p, (struct attn_regex_step){.op = ATTN_REGEX_LOOK, .opposite = opposite}) || !read_alternatives(p))
        return false;
    if (behind && !width(p->r, at + 1, &back))
        return refuse(p, "looking behind for a length that is not fixed");
    if (!add(p, (struct attn_regex_step){.op = ATTN_REGEX_MATCH}))
        return false;
    p->looks--;
    p->r->step[at].to = (int16_t)(p->r->n - at - 1);
    p->r->step[at].or_to = (int16_t)back;
    return close_group(p);
}

static bool read_inside(struct attn_regex_reader *p)
{
    return read_alternatives(p) && close_group(p);
}

/* (?i:a), or (?i), which holds up to the end of the group that it is in. */
static bool read_folded(struct attn_regex_reader *p, bool fold)
{
    bool outer = p->fold, rest = take(p, ")");
    if (!rest && !take(p, ":"))
        return refuse(p, "such an option");
    p->fold = fold;
    bool ok = rest ? read_alternatives(p) : read_inside(p);
    p->fold = outer;
    return ok;
}

static bool read_group(struct attn_regex_reader *p)
{
    if (!take(p, "?"))
        return read_inside(p);
    if (take(p, ":"))
        return read_inside(p);
    if (take(p, "=") || take(p, "!"))
        return read_look(p, false, p->at[-1] == '!');
    if (take(p, "<=") || take(p, "<!"))
        return read_look(p, true, p->at[-1] == '!');
    if (take(p, "i") || take(p, "-i"))
        return read_folded(p, p->at[-2] != '-');
    return refuse(p, "such a group");
}

/* ---- all of it ------------------------------------------------------------------------- */

static bool read_edge(struct attn_regex_reader *p, bool *found)
{
    static const struct { const char *name; enum attn_regex_edge edge; } edges[] = {
        {"^", ATTN_EDGE_LINE_START}, {"$", ATTN_EDGE_LINE_END}, {"\\A", ATTN_EDGE_START}, {"\\z", ATTN_EDGE_END},
        {"\\Z", ATTN_EDGE_LAST_LINE_END}, {"\\b", ATTN_EDGE_WORD}, {"\\B", ATTN_EDGE_NO_WORD}};
    *found = true;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        if (take(p, edges[i].name))
            return add_edge(p, edges[i].edge);
    *found = false;
    return true;
}

/* An escape that is in no class: then case counts for properties, whatever the options. */
static int32_t read_escape(struct attn_regex_reader *p)
{
    int32_t set = attn_charset_read_escape(p);
    struct attn_charset *n = set >= 0 ? &p->r->sets.node[set] : NULL;
    if (n && n->kind == ATTN_SET_WORD)
        n->first = true;
    if (n && n->kind != ATTN_SET_RANGE)
        n->fold = false;
    return set;
}

static int32_t read_set(struct attn_regex_reader *p)
{
    size_t step;
    if (take(p, "["))
        return attn_charset_read_class(p);
    if (take(p, "\\"))
        return read_escape(p);
    if (take(p, "."))
        return attn_charset_add(p, &(struct attn_charset){.kind = ATTN_SET_RANGE, .opposite = true, .first = '\n',
                                                          .last = '\n'});
    uint32_t c = attn_utf8_next(p->at, (size_t)(p->end - p->at), &step);
    if (c == '?' || c == '*' || c == '+' || (c == '{' && read_interval(p, &(struct times){0}))) {
        refuse(p, "a repetition of nothing");
        return -1;
    }
    p->at += step;
    return attn_charset_add(p, &(struct attn_charset){.kind = ATTN_SET_RANGE, .first = c, .last = c});
}

static bool read_one(struct attn_regex_reader *p)
{
    bool edge;
    if (take(p, "(")) {
        if (++p->groups > GROUPS)
            return refuse(p, "groups so deep within each other");
        bool ok = read_group(p);
        p->groups--;
        return ok;
    }
    if (!read_edge(p, &edge))
        return false;
    return edge || add_set(p, read_set(p));
}

static bool read_sequence(struct attn_regex_reader *p)
{
    struct times t;
    while (p->at < p->end && *p->at != '|' && *p->at != ')') {
        size_t from = p->r->n;
        if (!read_one(p))
            return false;
        while (read_times(p, &t))
            if (!repeat(p, from, &t))
                return false;
        if (p->why)
            return false;
    }
    return true;
}

static bool read_alternatives(struct attn_regex_reader *p)
{
    const size_t start = p->r->n;
    if (!read_sequence(p))
        return false;
    if (!take(p, "|"))
        return true;
    struct attn_regex_step *to = insert(p, start, 1);
    if (!to || !add(p, jump_by(0)))
        return false;
    const size_t rest = p->r->n;
    p->r->step[start] = fork_to(1, rest - start, false);
    if (!read_alternatives(p))
        return false;
    p->r->step[rest - 1] = jump_by(p->r->n - rest + 1);
    return true;
}

int attn_regex_read(struct attn_regex **out, const char *pattern, const char **why, size_t *at)
{
    const size_t len = strlen(pattern);
    struct attn_regex_reader p = {.r = calloc(1, sizeof *p.r), .at = pattern, .end = pattern + len};
    bool ok = p.r && (len <= LONGEST || refuse(&p, "so long a pattern")) && read_alternatives(&p);
    if (ok && p.at < p.end)
        ok = refuse(&p, "the end of a group that has no beginning");
    ok = ok && add(&p, (struct attn_regex_step){.op = ATTN_REGEX_MATCH});
    if (ok) {
        attn_charset_finish(&p.r->sets);
        *out = p.r;
        return ATTN_OK;
    }
    attn_regex_free(p.r);
    *why = p.why;
    *at = (size_t)(p.at - pattern);
    return p.why ? ATTN_EFORMAT : ATTN_ENOMEM;
}

void attn_regex_free(struct attn_regex *r)
{
    if (!r)
        return;
    free(r->step);
    free(r->sets.node);
    free(r);
}

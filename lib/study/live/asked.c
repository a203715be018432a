/* asked.c - reads a question: an object, whose members are texts, lists of texts, numbers and flags. */
#include "live/asked.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/num.h"
#include "base/strings.h"

enum type { TEXT, LIST, REAL, WHOLE, FLAG, SEED };

static const char *const expected[] = {[TEXT] = "a text", [LIST] = "a list of texts", [REAL] = "a number",
                                       [WHOLE] = "a whole number", [FLAG] = "true or false",
                                       [SEED] = "a whole number, or one as a text"};

#define ROW(id, field, name, type) {name, type, offsetof(struct attn_live_asked, field)},
static const struct member { const char *name; enum type type; size_t at; } members[] = {ATTN_LIVE_MEMBERS(ROW)};
_Static_assert(ATTN_MEMBERS <= 32, "a member is a bit of 32");

struct reader {
    struct attn_json j;
    struct attn_live_asked *q;
    size_t used;                        /* of the room */
    struct attn_err *err;
};

const char *attn_live_asked_name(enum attn_live_member m) { return members[m].name; }

static int wrong(const struct reader *r, const struct member *m)
{
    return attn_fail(r->err, ATTN_EUSAGE, "question: \"%s\" is not %s", m->name, expected[m->type]);
}

/* Keeps a string.  Without its quotes it is shorter than in the question, so that there is room for its NUL. */
static const char *keep(struct reader *r, size_t *len)
{
    char *at = r->q->room + r->used;
    *len = attn_json_string(&r->j, at);
    at[*len] = '\0';
    r->used += *len + 1;
    return at;
}

static int read_text(struct reader *r, const struct member *m, struct attn_live_text *to)
{
    bool may_have_nul = to == &r->q->text || to == &r->q->from;
    int rc = may_have_nul ? ATTN_OK : attn_json_refuse_nul(&r->j, r->err);
    (void)m;
    if (!rc)
        to->s = keep(r, &to->len);
    return rc;
}

static int read_list(struct reader *r, const struct member *m, struct attn_live_list *to)
{
    size_t room = 0, ignored;
    enum attn_json_event e;
    while ((e = attn_json_next(&r->j)) == ATTN_JSON_STRING) {
        const char **more = attn_grow(to->item, &room, to->n + 2, sizeof *more);
        if (!more)
            return attn_no_memory(r->err, "question", "for a list of %zu texts", to->n + 1);
        to->item = more;
        int rc = attn_json_refuse_nul(&r->j, r->err);
        if (rc)
            return rc;
        more[to->n++] = keep(r, &ignored);
        more[to->n] = NULL;
    }
    return e == ATTN_JSON_ARRAY_END || r->j.failed ? ATTN_OK : wrong(r, m);
}

static int read_real(struct reader *r, const struct member *m, double *to)
{
    bool is = attn_num_parse_f64(r->j.text + r->j.token, r->j.token_len, to) && isfinite(*to);
    return is ? ATTN_OK : wrong(r, m);
}

static int read_whole(struct reader *r, const struct member *m, uint64_t *to)
{
    if (!r->j.is_whole || (m->type == WHOLE && r->j.whole > INT32_MAX))
        return wrong(r, m);
    *to = r->j.whole;
    return ATTN_OK;
}

/* All 64 bits, which a number of JavaScript cannot have. */
static int read_digits(struct reader *r, const struct member *m, uint64_t *to)
{
    size_t len;
    const char *s = keep(r, &len);
    return !len || attn_num_parse_u64(s, len, to) ? ATTN_OK : wrong(r, m);
}

static int read_value(struct reader *r, const struct member *m)
{
    void *to = (char *)r->q + m->at;
    enum attn_json_event e = attn_json_next(&r->j);
    r->q->given |= e == ATTN_JSON_NULL ? 0 : 1u << (m - members);
    if (e == ATTN_JSON_NULL || e == ATTN_JSON_FAILED)
        return ATTN_OK;
    if (m->type == TEXT && e == ATTN_JSON_STRING)
        return read_text(r, m, to);
    if (m->type == LIST && e == ATTN_JSON_ARRAY)
        return read_list(r, m, to);
    if (m->type == REAL && e == ATTN_JSON_NUMBER)
        return read_real(r, m, to);
    if ((m->type == WHOLE || m->type == SEED) && e == ATTN_JSON_NUMBER)
        return read_whole(r, m, to);
    if (m->type == SEED && e == ATTN_JSON_STRING)
        return read_digits(r, m, to);
    if (m->type == FLAG && (e == ATTN_JSON_TRUE || e == ATTN_JSON_FALSE)) {
        *(bool *)to = e == ATTN_JSON_TRUE;
        return ATTN_OK;
    }
    return wrong(r, m);
}

static int read_member(struct reader *r, unsigned *seen)
{
    size_t i = 0;
    while (i < ATTN_MEMBERS && !attn_json_is(&r->j, members[i].name))
        i++;
    if (i == ATTN_MEMBERS)
        return attn_fail(r->err, ATTN_EUSAGE, "question: there is no member \"%.*s\"",
                         attn_shown(r->j.text + r->j.token, r->j.token_len), r->j.text + r->j.token);
    if (*seen & 1u << i)
        return attn_fail(r->err, ATTN_EUSAGE, "question: \"%s\" is there twice", members[i].name);
    *seen |= 1u << i;
    return read_value(r, &members[i]);
}

int attn_live_asked_read(struct attn_live_asked *q, const char *json, size_t len, struct attn_err *err)
{
    struct reader r = {.q = q, .err = err};
    unsigned seen = 0;
    int rc = ATTN_OK;
    *q = (struct attn_live_asked){.room = malloc(len + 1), .top_p = 1};
    if (!q->room)
        return attn_no_memory(err, "question", "for %zu bytes", len);
    attn_json_start(&r.j, json, len, "question");
    if (attn_json_next(&r.j) != ATTN_JSON_OBJECT)
        return r.j.failed ? attn_json_error(&r.j, err) : attn_fail(err, ATTN_EUSAGE, "question: is not an object");
    while (!rc && attn_json_next(&r.j) == ATTN_JSON_KEY)
        rc = read_member(&r, &seen);
    if (!rc && !r.j.failed && attn_json_next(&r.j) != ATTN_JSON_DONE && !r.j.failed)
        rc = attn_fail(err, ATTN_EUSAGE, "question: something follows it");
    return rc || !r.j.failed ? rc : attn_json_error(&r.j, err);
}

void attn_live_asked_free(struct attn_live_asked *q)
{
    free(q->off.item);
    free(q->edits.item);
    free(q->keep.item);
    free(q->options.item);
    free(q->room);
}

int attn_live_asked_check(const struct attn_live_asked *q, unsigned needed, unsigned allowed, struct attn_err *err)
{
    for (size_t i = 0; i < ATTN_MEMBERS; i++) {
        const unsigned bit = 1u << i;
        if (needed & bit && !(q->given & bit))
            return attn_fail(err, ATTN_EUSAGE, "question: %s without \"%s\"", q->ask.s, members[i].name);
        if (q->given & bit && !((needed | allowed) & bit))
            return attn_fail(err, ATTN_EUSAGE, "question: %s has no member \"%s\"", q->ask.s, members[i].name);
    }
    return ATTN_OK;
}

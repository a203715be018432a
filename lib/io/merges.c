#include "io/merges.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "base/grow.h"
#include "io/hash.h"
#include "io/strings.h"

enum { FIRST_SLOTS = 16 };

/* ---- the table ------------------------------------------------------------------------- */

static uint64_t pair_of(int32_t left, int32_t right)
{
    return (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
}

/* The slot of the pair, or the free one where it belongs. */
static struct attn_merge *probe(const struct attn_merges *m, uint64_t pair)
{
    size_t i = attn_hash_mix(pair ^ m->seed, 0x9E3779B97F4A7C15u) & (m->slots - 1);
    while (m->slot[i].rank != ATTN_MERGES_NONE && m->slot[i].pair != pair)
        i = (i + 1) & (m->slots - 1);
    return &m->slot[i];
}

static bool spread(struct attn_merges *m, size_t slots)
{
    struct attn_merges wider = {.slots = slots, .n = m->n, .seed = m->seed};
    wider.slot = malloc(slots * sizeof *wider.slot);
    if (!wider.slot)
        return false;
    for (size_t i = 0; i < slots; i++)
        wider.slot[i].rank = ATTN_MERGES_NONE;
    for (size_t i = 0; i < m->slots; i++)
        if (m->slot[i].rank != ATTN_MERGES_NONE)
            *probe(&wider, m->slot[i].pair) = m->slot[i];
    free(m->slot);
    *m = wider;
    return true;
}

/* Room for n rules. */
static bool reserve(struct attn_merges *m, size_t n)
{
    size_t slots = FIRST_SLOTS;
    if (m->slots == 0)
        m->seed = attn_hash_seed(m);
    while (slots < 2 * n)
        slots *= 2;
    return slots <= m->slots || spread(m, slots);
}

static bool add(struct attn_merges *m, const struct attn_merge *merge)
{
    if (2 * (m->n + 1) > m->slots && !reserve(m, m->n + 1))
        return false;
    struct attn_merge *slot = probe(m, merge->pair);
    m->n += slot->rank == ATTN_MERGES_NONE;
    *slot = *merge;
    return true;
}

struct attn_merge attn_merges_find(const struct attn_merges *m, int32_t left, int32_t right)
{
    return m->n > 0 ? *probe(m, pair_of(left, right)) : (struct attn_merge){.rank = ATTN_MERGES_NONE};
}

void attn_merges_free(struct attn_merges *m)
{
    free(m->slot);
    *m = (struct attn_merges){0};
}

/* ---- rules ----------------------------------------------------------------------------- */

struct slice { const char *s; size_t len; };

struct reader {
    struct attn_merges *m;
    const struct attn_vocab *v;
    const char *name, *noun;            /* of the file; what is counted: "line" or "rule" */
    size_t count;                       /* lines or rules so far, this one included */
    uint32_t rank;
    int32_t last;                       /* what the last rule made */
    char *joined; size_t room;          /* the two tokens of a rule side by side */
    struct attn_err *err;
};

static int no_memory(const struct reader *r)
{
    return attn_fail(r->err, ATTN_ENOMEM, "%s: no memory for its rules", r->name);
}

static int malformed(const struct reader *r, struct slice rule, const char *why)
{
    return attn_fail(r->err, ATTN_EFORMAT, "%s: %s %zu, '%.*s', %s, expected two tokens with one space between",
                     r->name, r->noun, r->count, attn_shown(rule.s, rule.len), rule.s, why);
}

static int unknown(const struct reader *r, struct slice token, const char *what)
{
    return attn_fail(r->err, ATTN_EFORMAT, "%s: %s %zu: %s'%.*s' is not in the vocabulary", r->name, r->noun, r->count,
                     what, attn_shown(token.s, token.len), token.s);
}

/* Vocabularies mostly list what rules make in the order of the rules: a look-up saved. */
static int32_t made_by(const struct reader *r, struct slice joined)
{
    size_t len;
    int32_t next = r->last < ATTN_VOCAB_ID_MAX ? r->last + 1 : 0;
    const char *word = attn_vocab_word(r->v, next, &len);
    if (word && len == joined.len && memcmp(word, joined.s, len) == 0)
        return next;
    return attn_vocab_id(r->v, joined.s, joined.len);
}

static int take_pair(struct reader *r, struct slice a, struct slice b)
{
    char *joined = attn_grow(r->joined, &r->room, a.len + b.len, 1);
    if (!joined)
        return no_memory(r);
    r->joined = joined;
    memcpy(joined, a.s, a.len);
    memcpy(joined + a.len, b.s, b.len);
    int32_t left = attn_vocab_id(r->v, a.s, a.len), right = attn_vocab_id(r->v, b.s, b.len);
    struct slice whole = {joined, a.len + b.len};
    if (left < 0 || right < 0)
        return unknown(r, left < 0 ? a : b, "");
    r->last = made_by(r, whole);
    if (r->last < 0)
        return unknown(r, whole, "what it makes, ");
    struct attn_merge merge = {.pair = pair_of(left, right), .rank = r->rank++, .id = r->last};
    return add(r->m, &merge) ? ATTN_OK : no_memory(r);
}

/* "a b" */
static int take_rule(struct reader *r, struct slice rule)
{
    const char *end = rule.s + rule.len, *space = rule.len > 0 ? memchr(rule.s, ' ', rule.len) : NULL;
    if (!space)
        return malformed(r, rule, rule.len > 0 ? "has no space" : "is empty");
    if (space == rule.s || space + 1 == end || memchr(space + 1, ' ', (size_t)(end - space - 1)))
        return malformed(r, rule, "has more than one space or an empty token");
    return take_pair(r, (struct slice){rule.s, (size_t)(space - rule.s)},
                     (struct slice){space + 1, (size_t)(end - space - 1)});
}

static int finish(struct reader *r, int rc)
{
    free(r->joined);
    if (rc)
        attn_merges_free(r->m);
    return rc;
}

/* ---- merges.txt ------------------------------------------------------------------------ */

static int take_lines(struct reader *r, struct slice text)
{
    const char *end = text.s + text.len, *next;
    int rc = ATTN_OK;
    for (const char *s = text.s; s < end && !rc; s = next) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        next = stop ? stop + 1 : end;
        stop = stop ? stop : end;
        struct slice line = {s, (size_t)(stop - s)};
        if (line.len > 0 && s[line.len - 1] == '\r')
            line.len--;
        r->count++;
        if (r->count > 1 || line.len < 8 || memcmp(s, "#version", 8) != 0)
            rc = take_rule(r, line);
    }
    return rc;
}

static size_t count_lines(const char *s, size_t len)
{
    size_t n = 1;
    for (const char *end = s + len; s < end && (s = memchr(s, '\n', (size_t)(end - s))) != NULL; s++)
        n++;
    return n;
}

int attn_merges_read(struct attn_merges *m, const struct attn_vocab *v, const char *text, size_t len,
                     const char *name, struct attn_err *err)
{
    struct reader r = {.m = m, .v = v, .name = name, .noun = "line", .last = -1, .err = err};
    size_t valid = attn_utf8_valid(text, len);
    *m = (struct attn_merges){0};
    if (valid < len)
        return attn_fail(err, ATTN_EFORMAT, "%s: it is not UTF-8 at byte %zu: found 0x%02X", name, valid,
                         (unsigned char)text[valid]);
    int rc = reserve(m, count_lines(text, len)) ? take_lines(&r, (struct slice){text, len}) : no_memory(&r);
    return finish(&r, rc);
}

/* ---- tokenizer.json -------------------------------------------------------------------- */

/* A string without its escapes, in memory that grows in *plain. */
struct plain { char *s; size_t room; };

static int take_string(const struct reader *r, const struct attn_json *j, struct plain *plain, struct slice *out)
{
    *out = (struct slice){j->text + j->token, j->token_len};
    if (!j->escaped)
        return ATTN_OK;
    char *s = attn_grow(plain->s, &plain->room, j->token_len, 1);
    if (!s)
        return no_memory(r);
    plain->s = s;
    *out = (struct slice){s, attn_json_string(j, s)};
    return ATTN_OK;
}

static int unexpected(const struct reader *r, const struct attn_json *j)
{
    if (j->failed)
        return attn_json_error(j, r->err);
    return attn_fail(r->err, ATTN_EFORMAT, "%s: merges: rule %zu is neither \"a b\" nor [\"a\", \"b\"]", r->name,
                     r->count);
}

static int take_array(struct reader *r, struct attn_json *j, struct plain plain[2])
{
    struct slice token[2] = {{"", 0}, {"", 0}};
    int rc = ATTN_OK;
    for (int i = 0; i < 2 && !rc; i++)
        rc = attn_json_next(j) == ATTN_JSON_STRING ? take_string(r, j, &plain[i], &token[i]) : unexpected(r, j);
    if (!rc && attn_json_next(j) != ATTN_JSON_ARRAY_END)
        rc = unexpected(r, j);
    return rc ? rc : take_pair(r, token[0], token[1]);
}

static int take_rules(struct reader *r, struct attn_json *j, struct plain plain[2])
{
    enum attn_json_event e;
    struct slice rule;
    int rc = ATTN_OK;
    while (!rc && (e = attn_json_next(j)) != ATTN_JSON_ARRAY_END) {
        r->count++;
        if (e == ATTN_JSON_ARRAY)
            rc = take_array(r, j, plain);
        else if (e != ATTN_JSON_STRING)
            rc = unexpected(r, j);
        else if ((rc = take_string(r, j, &plain[0], &rule)) == ATTN_OK)
            rc = take_rule(r, rule);
    }
    return rc;
}

int attn_merges_take(struct attn_merges *m, const struct attn_vocab *v, struct attn_json *j, struct attn_err *err)
{
    struct reader r = {.m = m, .v = v, .name = j->name, .noun = "merges: rule", .last = -1, .err = err};
    struct plain plain[2] = {{0}};
    *m = (struct attn_merges){0};
    enum attn_json_event e = attn_json_next(j);
    int rc = e == ATTN_JSON_ARRAY ? take_rules(&r, j, plain) : e == ATTN_JSON_FAILED ? attn_json_error(j, err) :
             attn_fail(err, ATTN_EFORMAT, "%s: \"merges\" is no array", j->name);
    free(plain[0].s);
    free(plain[1].s);
    return finish(&r, rc);
}

/* merges.c - the rules of byte-pair encoding: which two tokens become one, and in what order.
 *
 * merges.txt may begin with a line "#version: ..."; then each line is a rule: two tokens as the vocabulary
 * spells them, with one space between.  Lines may end in CR LF, which no token can spell.  Earlier rules are applied
 * first; of two rules for one pair the later one counts.  tokenizer.json has the same rules as an array of such
 * strings or of arrays of two strings.  Both tokens and what they make must be in the vocabulary. */
#include "text/bpe.h"
#include "attn_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/strings.h"
#include "base/utf8.h"

enum { FIRST_SLOTS = 16, AHEAD = 16 };

/* The slot of the pair, or the free slot where it belongs. */
static uint32_t *probe(const struct attn_merges *m, uint64_t h, int32_t left, int32_t right)
{
    uint32_t high = (uint32_t)(h >> 32) & ~m->low;
    size_t i = h & (m->slots - 1);
    for (; m->slot[i]; i = (i + 1) & (m->slots - 1)) {
        const struct attn_rule *r = &m->rule[(m->slot[i] & m->low) - 1];
        if ((m->slot[i] & ~m->low) == high && r->left == left && r->right == right)
            break;
    }
    return &m->slot[i];
}

static bool append(struct attn_merges *m, const struct attn_rule *rule)
{
    struct attn_rule *more = m->n < UINT32_MAX / 4 ? attn_grow(m->rule, &m->room, m->n + 1, sizeof *more) : NULL;
    if (!more)
        return false;
    m->rule = more;
    more[m->n++] = *rule;
    return true;
}

/* Slots are prefetched well before they are used. */
static void fill_slots(struct attn_merges *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct attn_rule *r = &m->rule[i], *later = &m->rule[i + AHEAD < m->n ? i + AHEAD : i];
        __builtin_prefetch(&m->slot[attn_hash_pair(m->seed, later->left, later->right) & (m->slots - 1)], 1);
        uint64_t h = attn_hash_pair(m->seed, r->left, r->right);
        *probe(m, h, r->left, r->right) = ((uint32_t)(h >> 32) & ~m->low) | (uint32_t)(i + 1);
    }
}

bool attn_merges_index(struct attn_merges *m)
{
    size_t slots = FIRST_SLOTS, room = 0;
    while (slots < 2 * m->n)
        slots *= 2;
    m->slot = attn_grow(NULL, &room, slots, sizeof *m->slot);
    if (!m->slot)
        return false;
    memset(m->slot, 0, slots * sizeof *m->slot);                    /* calloc's pages fault twice: on read, on write */
    m->slots = slots;
    m->low = (uint32_t)slots - 1;
    if (!m->seed)
        m->seed = attn_hash_seed();
    fill_slots(m);
    return true;
}

struct attn_merge attn_merges_find(const struct attn_merges *m, int32_t left, int32_t right)
{
    uint32_t number = m->n > 0 ? *probe(m, attn_hash_pair(m->seed, left, right), left, right) & m->low : 0;
    return number ? (struct attn_merge){number - 1, m->rule[number - 1].id} :
           (struct attn_merge){.rank = ATTN_MERGES_NONE};
}

static bool is_bracketed(const char *word, size_t len)
{
    return len >= 3 && word[0] == '<' && word[len - 1] == '>';
}

int32_t *attn_merges_special(const struct attn_merges *m, const struct attn_vocab *v, size_t *n)
{
    size_t size = attn_vocab_size(v), len;
    bool *made = calloc(size + 1, sizeof *made);                    /* by rank */
    int32_t *id = malloc((size + 1) * sizeof *id);
    *n = 0;
    for (size_t i = 0; made && i < m->n; i++)
        made[attn_vocab_rank(v, m->rule[i].id)] = true;
    for (size_t i = 0; made && id && i < size; i++) {
        const char *word = attn_vocab_at(v, i, &len);
        if (!made[i] && is_bracketed(word, len))
            id[(*n)++] = attn_vocab_id_at(v, i);
    }
    free(made);
    if (made)
        return id;
    free(id);
    return NULL;
}

void attn_merges_free(struct attn_merges *m)
{
    if (!m->lent) {
        free(m->rule);
        free(m->slot);
    }
    *m = (struct attn_merges){0};
}

/* ---- reading --------------------------------------------------------------------------- */

enum { BLOCK = ATTN_STRINGS_FINDS / 2 };

struct reader {
    struct attn_merges *m;
    const struct attn_vocab *v;
    const char *name, *noun;            /* of the file; what is counted: "line" or "rule" */
    size_t count;                       /* lines or rules so far, this one included */
    /* rules yet to be looked up; the count of the first of them */
    struct attn_str_view part[BLOCK][2]; size_t waiting, first;
    int32_t last;                       /* the token that the last rule made */
    char *joined; size_t room;          /* the two tokens of a rule joined */
    struct attn_err *err;
};

static int no_memory(const struct reader *r)
{
    return attn_no_memory(r->err, r->name, "for its rules");
}

static int unknown(const struct reader *r, const struct attn_str_view *token, const char *what)
{
    return attn_fail(r->err, ATTN_EFORMAT, "%s: %s %zu: %s'%.*s' is not in the vocabulary", r->name, r->noun, r->count,
                     what, attn_shown(token->s, token->len), token->s);
}

/* ---- rules, some at a time ------------------------------------------------------------- */

static bool spells(const struct attn_vocab *v, int32_t id, const struct attn_str_view *a, const struct attn_str_view *b)
{
    size_t len;
    const char *word = attn_vocab_word(v, id, &len);
    return word && len == a->len + b->len && memcmp(word, a->s, a->len) == 0 &&
           memcmp(word + a->len, b->s, b->len) == 0;
}

/* Finds the token that a and b make.  Most vocabularies list these in the order of the rules, some of which make the
 * same token, so the next and the last one are tried before a look-up. */
static int make(struct reader *r, const struct attn_str_view *a, const struct attn_str_view *b)
{
    struct attn_str_view whole = {NULL, a->len + b->len};
    int32_t next = r->last < ATTN_VOCAB_ID_MAX ? r->last + 1 : 0;
    if (spells(r->v, next, a, b))
        r->last = next;
    else if (!spells(r->v, r->last, a, b)) {
        char *joined = attn_grow(r->joined, &r->room, whole.len, 1);
        if (!joined)
            return no_memory(r);
        whole.s = r->joined = joined;
        memcpy(joined, a->s, a->len);
        memcpy(joined + a->len, b->s, b->len);
        r->last = attn_vocab_id(r->v, joined, whole.len);
    }
    return r->last < 0 ? unknown(r, &whole, "what it makes, ") : ATTN_OK;
}

static int resolve(struct reader *r, const struct attn_str_view part[2], const int32_t id[2])
{
    if (id[0] < 0 || id[1] < 0)
        return unknown(r, &part[id[0] < 0 ? 0 : 1], "");
    int rc = make(r, &part[0], &part[1]);
    if (!rc && !append(r->m, &(struct attn_rule){id[0], id[1], r->last}))
        rc = no_memory(r);
    return rc;
}

/* Looks up the waiting rules; of several faults the first is reported. */
static int look_up(struct reader *r)
{
    int32_t id[BLOCK][2];
    size_t count = r->count, n = r->waiting;
    int rc = ATTN_OK;
    attn_vocab_ids(r->v, r->part[0], 2 * n, id[0]);
    for (size_t i = 0; i < n && !rc; i++) {
        r->count = r->first + i;
        rc = resolve(r, r->part[i], id[i]);
    }
    r->count = count;
    r->waiting = 0;
    return rc;
}

/* Both strings must stay in place until they are looked up. */
static int take_pair(struct reader *r, struct attn_str_view a, struct attn_str_view b)
{
    if (r->waiting == 0)
        r->first = r->count;
    r->part[r->waiting][0] = a;
    r->part[r->waiting++][1] = b;
    return r->waiting == BLOCK ? look_up(r) : ATTN_OK;
}

static int malformed(struct reader *r, struct attn_str_view rule, const char *why)
{
    int rc = look_up(r);
    return rc ? rc : attn_fail(r->err, ATTN_EFORMAT,
                               "%s: %s %zu, '%.*s', %s, expected two tokens with one space between", r->name, r->noun,
                               r->count, attn_shown(rule.s, rule.len), rule.s, why);
}

static size_t until_space(struct attn_str_view text)
{
    size_t n = 0;
    while (n < text.len && text.s[n] != ' ')
        n++;
    return n;
}

/* Takes a rule of the form "a b". */
static int take_rule(struct reader *r, struct attn_str_view rule)
{
    struct attn_str_view a = {rule.s, until_space(rule)}, b;
    if (a.len == rule.len)
        return malformed(r, rule, rule.len > 0 ? "has no space" : "is empty");
    b = (struct attn_str_view){a.s + a.len + 1, rule.len - a.len - 1};
    if (a.len == 0 || b.len == 0 || until_space(b) < b.len)
        return malformed(r, rule, "has more than one space or an empty token");
    return take_pair(r, a, b);
}

static int finish(struct reader *r, int rc)
{
    if (!rc)
        rc = look_up(r);
    if (!rc && !attn_merges_index(r->m))
        rc = no_memory(r);
    free(r->joined);
    return rc;
}

/* ---- merges.txt ------------------------------------------------------------------------ */

static int take_lines(struct reader *r, struct attn_str_view text)
{
    const char *end = text.s + text.len, *next;
    int rc = ATTN_OK;
    for (const char *s = text.s; s < end && !rc; s = next) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        next = stop ? stop + 1 : end;
        stop = stop ? stop : end;
        struct attn_str_view line = {s, (size_t)(stop - s)};
        if (line.len > 0 && s[line.len - 1] == '\r')
            line.len--;
        r->count++;
        if (r->count > 1 || line.len < 8 || memcmp(s, "#version", 8) != 0)
            rc = take_rule(r, line);
    }
    return rc;
}

/* The vocabulary is UTF-8, so rules whose tokens were found are too: only a failed read or a first line that is no
 * rule can hide invalid bytes. */
static int check_utf8(const struct reader *r, struct attn_str_view text, int rc)
{
    const char *stop = text.len > 0 && !rc ? memchr(text.s, '\n', text.len) : NULL;
    size_t len = stop ? (size_t)(stop - text.s) : text.len, valid = attn_utf8_valid(text.s, len);
    if (valid == len)
        return rc;
    return attn_fail(r->err, ATTN_EFORMAT, "%s: it is not UTF-8 at byte %zu: found 0x%02X", r->name, valid,
                     (unsigned char)text.s[valid]);
}

int attn_merges_read(struct attn_merges *m, const struct attn_vocab *v, const char *text, size_t len,
                     const char *name, struct attn_err *err)
{
    struct reader r = {.m = m, .v = v, .name = name, .noun = "line", .last = -1, .err = err};
    struct attn_str_view all = {text, len};
    *m = (struct attn_merges){0};
    int rc = finish(&r, take_lines(&r, all));
    rc = check_utf8(&r, all, rc);
    if (rc)
        attn_merges_free(m);
    return rc;
}

/* ---- tokenizer.json -------------------------------------------------------------------- */

/* A buffer for a string without its escapes. */
struct plain { char *s; size_t room; };

static int take_string(struct reader *r, const struct attn_json *j, struct plain *plain, struct attn_str_view *out)
{
    *out = (struct attn_str_view){j->text + j->token, j->token_len};
    if (!j->escaped)
        return ATTN_OK;
    int rc = look_up(r);                 /* a waiting rule may still use the buffer */
    if (rc)
        return rc;
    char *s = attn_grow(plain->s, &plain->room, j->token_len, 1);
    if (!s)
        return no_memory(r);
    plain->s = s;
    *out = (struct attn_str_view){s, attn_json_string(j, s)};
    return ATTN_OK;
}

static int unexpected(struct reader *r, const struct attn_json *j)
{
    int rc = look_up(r);
    if (rc || j->failed)
        return rc ? rc : attn_json_error(j, r->err);
    return attn_fail(r->err, ATTN_EFORMAT, "%s: merges: rule %zu is neither \"a b\" nor [\"a\", \"b\"]", r->name,
                     r->count);
}

static int take_array(struct reader *r, struct attn_json *j, struct plain plain[2])
{
    struct attn_str_view token[2] = {{"", 0}, {"", 0}};
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
    struct attn_str_view rule;
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
    rc = finish(&r, rc);
    if (rc)
        attn_merges_free(m);
    free(plain[0].s);
    free(plain[1].s);
    return rc;
}

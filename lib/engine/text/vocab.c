#include "text/vocab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/near.h"
#include "base/num.h"
#include "base/utf8.h"

struct entry { int32_t id; uint32_t word; };                        /* word: its number in `words` */

struct attn_vocab {
    struct attn_strings words;          /* [n] in the order of the file */
    int32_t *id; size_t id_room;        /* [n] of each word */
    struct entry *by_id; size_t ids;    /* [ids] ascending, one word of each id; NULL: each word's id is its number */
    size_t own;                         /* number of entries before any were added */
    bool lent;                          /* words and ids are another's */
};

static int no_memory(const char *name, struct attn_err *err)
{
    return attn_no_memory(err, name, "for the vocabulary");
}

/* Reads an id from the number just read: whole, in any notation (3, 3.0, 3e0). */
static bool parse_id(const struct attn_json *j, int32_t *id)
{
    double x = (double)j->whole;
    if (!j->is_whole && !attn_num_parse_f64(j->text + j->token, j->token_len, &x))
        return false;
    if (!(x >= 0 && x <= ATTN_VOCAB_ID_MAX) || x != floor(x))
        return false;
    *id = (int32_t)x;
    return true;
}

/* Reports the last value as invalid. */
static int bad_id(const struct attn_vocab *v, const struct attn_json *j, struct attn_err *err)
{
    size_t len, found_len = j->at - j->start;
    const char *word = attn_strings_at(&v->words, v->words.n - 1, &len), *found = j->text + j->start;
    return attn_fail(err, ATTN_EFORMAT, "%s: the id of '%.*s' is %.*s, expected a whole number from 0 to %d", j->name,
                     attn_shown(word, len), word, attn_shown(found, found_len), found,
                     (int)ATTN_VOCAB_ID_MAX);
}

/* Reads the id of the word that was just read. */
static int read_id(struct attn_vocab *v, struct attn_json *j, struct attn_err *err)
{
    size_t n = v->words.n;
    if (n > ATTN_VOCAB_MAX)
        return attn_fail(err, ATTN_EFORMAT, "%s: more than %d tokens, expected a smaller vocabulary", j->name,
                         ATTN_VOCAB_MAX);
    int32_t *id = attn_grow(v->id, &v->id_room, n, sizeof *id);
    if (!id)
        return no_memory(j->name, err);
    v->id = id;
    if (attn_json_next(j) == ATTN_JSON_NUMBER && parse_id(j, &id[n - 1]))
        return ATTN_OK;
    return j->failed ? attn_json_error(j, err) : bad_id(v, j, err);
}

static int read_entries(struct attn_vocab *v, struct attn_json *j, struct attn_err *err)
{
    int rc = ATTN_OK;
    if (attn_json_next(j) != ATTN_JSON_OBJECT && !j->failed)
        return attn_fail(err, ATTN_EFORMAT, "%s: it is %.*s, expected an object like {\"Life\": 0}", j->name,
                         attn_shown(j->text + j->start, j->at - j->start), j->text + j->start);
    while (!rc && attn_json_next_key(&v->words, j, &rc, err))
        rc = read_id(v, j, err);
    if (!rc && j->failed)
        rc = attn_json_error(j, err);
    if (!rc && v->words.n == 0)
        rc = attn_fail(err, ATTN_EFORMAT, "%s: it is empty, expected at least one token like \"Life\": 0", j->name);
    return rc;
}

static int compare_ids(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Reports two neighbours in by_id that have the same id. */
static int duplicate_id(const struct attn_vocab *v, const struct entry *pair, const char *name, struct attn_err *err)
{
    size_t a_len, b_len;
    const char *a = attn_strings_at(&v->words, pair[0].word, &a_len);
    const char *b = attn_strings_at(&v->words, pair[1].word, &b_len);
    return attn_fail(err, ATTN_EFORMAT, "%s: '%.*s' and '%.*s' have the same id %d, expected each its own", name,
                     attn_shown(a, a_len), a, attn_shown(b, b_len), b, (int)pair[0].id);
}

/* Most files list their tokens by id, from 0 and without gaps: then nothing needs sorting. */
static bool in_order(const struct attn_vocab *v)
{
    size_t i = 0;
    while (i < v->words.n && (size_t)v->id[i] == i)
        i++;
    return i == v->words.n;
}

/* Orders what was in order already and the words from `known` on; those that share an id are neighbours. */
static int order_by_id(struct attn_vocab *v, size_t known, const char *name, struct attn_err *err)
{
    size_t n = v->by_id ? v->ids : known;
    struct entry *e = in_order(v) ? NULL : malloc((n + v->words.n - known + 1) * sizeof *e);
    if (!e && !in_order(v))
        return no_memory(name, err);
    for (size_t i = 0; e && i < n; i++)
        e[i] = v->by_id ? v->by_id[i] : (struct entry){.id = v->id[i], .word = (uint32_t)i};
    for (size_t i = known; e && i < v->words.n; i++)
        e[n++] = (struct entry){.id = v->id[i], .word = (uint32_t)i};
    free(v->by_id);
    v->by_id = e;
    v->ids = n;
    if (e)
        qsort(e, n, sizeof *e, compare_ids);
    return ATTN_OK;
}

static int refuse_twins(const struct attn_vocab *v, const char *name, struct attn_err *err)
{
    for (size_t i = 1; v->by_id && i < v->ids; i++)
        if (v->by_id[i - 1].id == v->by_id[i].id)
            return duplicate_id(v, &v->by_id[i - 1], name, err);
    return ATTN_OK;
}

int attn_vocab_take(struct attn_vocab **out, struct attn_json *j, struct attn_err *err)
{
    struct attn_json before = *j;
    struct attn_vocab *v = calloc(1, sizeof *v);
    if (!v)
        return no_memory(j->name, err);
    int rc = read_entries(v, j, err);
    if (!rc)
        rc = attn_json_index_keys(&v->words, &before, err);
    if (!rc)
        rc = order_by_id(v, 0, j->name, err);
    if (!rc)
        rc = refuse_twins(v, j->name, err);
    v->own = v->words.n;
    if (rc)
        attn_vocab_free(v);
    else
        *out = v;
    return rc;
}

int attn_vocab_read(struct attn_vocab **out, const char *text, size_t len, const char *name, struct attn_err *err)
{
    struct attn_json j;
    struct attn_vocab *v = NULL;
    attn_json_start(&j, text, len, name);
    int rc = attn_vocab_take(&v, &j, err);
    if (!rc && attn_json_next(&j) != ATTN_JSON_DONE) {
        attn_vocab_free(v);
        return attn_json_error(&j, err);
    }
    if (!rc)
        *out = v;
    return rc;
}

/* ---- from a list ----------------------------------------------------------------------- */

struct attn_vocab *attn_vocab_new(void)
{
    return calloc(1, sizeof(struct attn_vocab));
}

int attn_vocab_append(struct attn_vocab *v, const char *word, size_t len, const char *name, struct attn_err *err)
{
    size_t n = v->words.n;
    if (n >= ATTN_VOCAB_MAX)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: more than %d tokens, expected a smaller vocabulary", name, ATTN_VOCAB_MAX);
    if (memchr(word, '\0', len) || attn_utf8_valid(word, len) < len)
        return attn_fail(err, ATTN_EFORMAT, "%s: token %zu has a NUL or is not UTF-8", name, n);
    int32_t *id = attn_grow(v->id, &v->id_room, n + 1, sizeof *id);
    if (!id)
        return no_memory(name, err);
    v->id = id;
    id[n] = (int32_t)n;
    return attn_strings_append(&v->words, word, len) ? ATTN_OK : no_memory(name, err);
}

int attn_vocab_index(struct attn_vocab *v, const char *name, struct attn_err *err)
{
    size_t twice, len;
    if (v->words.n == 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: there are no tokens, expected at least one", name);
    if (!attn_strings_index(&v->words, &twice))
        return no_memory(name, err);
    v->own = v->words.n;
    if (twice == ATTN_STRINGS_NONE)
        return ATTN_OK;
    const char *word = attn_strings_at(&v->words, twice, &len);
    return attn_fail(err, ATTN_EFORMAT,
                     "%s: token %zu, '%.*s', is there twice", name, twice, attn_shown(word, len), word);
}

struct attn_vocab *attn_vocab_lend(const struct attn_strings *words, int32_t *id)
{
    struct attn_vocab *v = attn_vocab_new();
    if (v)
        *v = (struct attn_vocab){.words = *words, .id = id, .own = words->n, .lent = true};
    return v;
}

/* ---- more of them ---------------------------------------------------------------------- */

/* Words and ids of its own, in place of lent ones. */
static int own_words(struct attn_vocab *v, const char *name, struct attn_err *err)
{
    struct attn_vocab mine = {0};
    size_t len;
    int rc = ATTN_OK;
    for (size_t i = 0; i < v->words.n && !rc; i++) {
        const char *word = attn_strings_at(&v->words, i, &len);
        rc = attn_vocab_append(&mine, word, len, name, err);
    }
    if (!rc)
        rc = attn_vocab_index(&mine, name, err);
    if (!rc) {
        *v = mine;
        return ATTN_OK;
    }
    attn_strings_free(&mine.words);
    free(mine.id);
    return rc;
}

static int add_entry(struct attn_vocab *v, const char *word, int32_t id, const char *name, struct attn_err *err)
{
    size_t len = strlen(word), n = v->words.n;
    int32_t *ids = attn_grow(v->id, &v->id_room, n + 1, sizeof *ids);
    if (!ids)
        return no_memory(name, err);
    v->id = ids;
    size_t i = attn_strings_add(&v->words, word, len);
    if (i == ATTN_STRINGS_NONE)
        return no_memory(name, err);
    if (i < n && ids[i] != id)
        return attn_fail(err, ATTN_EFORMAT, "%s: '%.*s' has the ids %d and %d, expected one", name,
                         attn_shown(word, len), word, (int)ids[i], (int)id);
    ids[i] = id;
    return ATTN_OK;
}

/* Of words that share an id, any keeps the place in the list. */
static void unite_twins(struct attn_vocab *v)
{
    size_t n = 0;
    for (size_t i = 0; v->by_id && i < v->ids; i++)
        if (n == 0 || v->by_id[n - 1].id != v->by_id[i].id)
            v->by_id[n++] = v->by_id[i];
    v->ids = n;
}

int attn_vocab_add(struct attn_vocab *v, const char *const *word, const int32_t *id, size_t n, const char *name,
                   struct attn_err *err)
{
    size_t before = v->words.n;
    int rc = v->lent && n > 0 ? own_words(v, name, err) : ATTN_OK;
    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++) {
        rc = add_entry(v, word[i], id[i], name, err);
        if (rc)
            return rc;
    }
    if (v->words.n > before && (rc = order_by_id(v, before, name, err)))
        return rc;
    unite_twins(v);
    for (size_t i = 0; v->by_id && i < n; i++)          /* an id is spelled as its last entry says */
        v->by_id[attn_vocab_rank(v, id[i])].word = (uint32_t)attn_strings_find(&v->words, word[i], strlen(word[i]));
    return ATTN_OK;
}

void attn_vocab_free(struct attn_vocab *v)
{
    if (!v)
        return;
    if (!v->lent) {
        attn_strings_free(&v->words);
        free(v->id);
    }
    free(v->by_id);
    free(v);
}

size_t attn_vocab_size(const struct attn_vocab *v)
{
    return v->by_id ? v->ids : v->words.n;
}

size_t attn_vocab_bytes(const struct attn_vocab *v)
{
    return v->words.used;
}

int32_t attn_vocab_top(const struct attn_vocab *v)
{
    return attn_vocab_id_at(v, attn_vocab_size(v) - 1);
}

int32_t attn_vocab_id(const struct attn_vocab *v, const char *word, size_t len)
{
    size_t i = attn_strings_find(&v->words, word, len);
    return i == ATTN_STRINGS_NONE ? -1 : v->id[i];
}

void attn_vocab_ids(const struct attn_vocab *v, const struct attn_str_view *word, size_t n, int32_t *id)
{
    size_t number[ATTN_STRINGS_FINDS];
    attn_strings_find_each(&v->words, word, n, number);
    for (size_t i = 0; i < n; i++)
        id[i] = number[i] == ATTN_STRINGS_NONE ? -1 : v->id[number[i]];
}

const char *attn_vocab_at(const struct attn_vocab *v, size_t i, size_t *len)
{
    return attn_strings_at(&v->words, v->by_id ? v->by_id[i].word : i, len);
}

int32_t attn_vocab_own_id(const struct attn_vocab *v, const char *word, size_t len)
{
    size_t i = attn_strings_find(&v->words, word, len);
    return i < v->own ? v->id[i] : -1;
}

size_t attn_vocab_rank(const struct attn_vocab *v, int32_t id)
{
    struct entry key = {.id = id};
    bool below = id >= 0 && (size_t)id < attn_vocab_size(v);
    if (!v->by_id || (below && v->by_id[id].id == id))
        return below ? (size_t)id : SIZE_MAX;                       /* nearly always: there are no gaps up to here */
    const struct entry *e = bsearch(&key, v->by_id, v->ids, sizeof key, compare_ids);
    return e ? (size_t)(e - v->by_id) : SIZE_MAX;
}

const char *attn_vocab_word(const struct attn_vocab *v, int32_t id, size_t *len)
{
    size_t i = attn_vocab_rank(v, id);
    return i == SIZE_MAX ? NULL : attn_vocab_at(v, i, len);
}

int32_t attn_vocab_id_at(const struct attn_vocab *v, size_t i)
{
    return v->by_id ? v->by_id[i].id : (int32_t)i;
}

/* Inserts each word into a list of the best so far; stops after some tenths of a second. */
size_t attn_vocab_nearest(const struct attn_vocab *v, const char *word, size_t len, const char *near[],
                          size_t near_len[], size_t n)
{
    enum { WORK = 1 << 26, MOST = 8 };
    unsigned best[MOST] = {0};
    struct attn_near typed;
    size_t found = 0;
    n = n < MOST ? n : MOST;
    attn_near_start(&typed, word, len);
    for (size_t i = 0; i < attn_vocab_size(v) && n && typed.work < WORK; i++) {
        size_t known_len;
        const char *known = attn_vocab_at(v, i, &known_len);
        unsigned d = attn_near(&typed, known, known_len, found == n ? best[n - 1] : ATTN_FAR);
        if (d == ATTN_FAR)
            continue;
        size_t at = found < n ? found++ : n - 1;                    /* replaces the worst, or comes after it */
        for (; at > 0 && best[at - 1] > d; at--) {
            best[at] = best[at - 1];
            near[at] = near[at - 1];
            near_len[at] = near_len[at - 1];
        }
        best[at] = d;
        near[at] = known;
        near_len[at] = known_len;
    }
    return found;
}

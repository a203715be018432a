#include "io/vocab.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "io/near.h"
#include "io/strings.h"
#include "io/tree.h"

struct entry { int32_t id; uint32_t word; };                        /* word: its number in the set */

struct attn_vocab {
    struct attn_strings words;          /* [n] in the order of the file */
    int32_t *id;                        /* [n] of each word */
    struct entry *by_id;                /* [n] ascending */
};

static int no_memory(const char *name, struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "%s: no memory for the vocabulary", name);
}

/* The ids, in the order of the words. */
static int take_ids(struct attn_vocab *v, const cJSON *root, const char *name, struct attn_err *err)
{
    const double top = INT32_MAX - 1;
    char found[ATTN_TREE_SHOWN];
    const cJSON *item = root->child;
    double id;
    for (size_t i = 0; i < v->words.n && item; i++, item = item->next) {
        if (!attn_tree_whole(item, 0, top, &id))
            return attn_fail(err, ATTN_EFORMAT, "%s: the id of '%.*s' is %s, expected a whole number from 0 to %.0f",
                             name, attn_shown(item->string, strlen(item->string)), item->string,
                             attn_tree_show(item, found), top);
        v->id[i] = (int32_t)id;
        v->by_id[i] = (struct entry){.id = (int32_t)id, .word = (uint32_t)i};
    }
    return ATTN_OK;
}

static int compare_ids(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Most files list their tokens by id already: those are not sorted again. */
static int order_by_id(struct attn_vocab *v, const char *name, struct attn_err *err)
{
    bool sorted = true;
    for (size_t i = 1; i < v->words.n && sorted; i++)
        sorted = v->by_id[i - 1].id < v->by_id[i].id;
    if (sorted)
        return ATTN_OK;
    qsort(v->by_id, v->words.n, sizeof *v->by_id, compare_ids);
    for (size_t i = 1; i < v->words.n; i++) {
        size_t a_len, b_len;
        if (v->by_id[i - 1].id != v->by_id[i].id)
            continue;
        const char *a = attn_strings_at(&v->words, v->by_id[i - 1].word, &a_len);
        const char *b = attn_strings_at(&v->words, v->by_id[i].word, &b_len);
        return attn_fail(err, ATTN_EFORMAT, "%s: '%.*s' and '%.*s' have the same id %d, expected each its own", name,
                         attn_shown(a, a_len), a, attn_shown(b, b_len), b, (int)v->by_id[i].id);
    }
    return ATTN_OK;
}

static int fill(struct attn_vocab *v, const cJSON *root, const char *name, struct attn_err *err)
{
    if (v->words.n == 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: it is empty, expected at least one token like \"Life\": 0", name);
    v->id = calloc(v->words.n, sizeof *v->id);
    v->by_id = calloc(v->words.n, sizeof *v->by_id);
    int rc = v->id && v->by_id ? take_ids(v, root, name, err) : no_memory(name, err);
    return rc ? rc : order_by_id(v, name, err);
}

int attn_vocab_read(struct attn_vocab **out, const char *text, size_t len, const char *name, struct attn_err *err)
{
    cJSON *root = NULL;
    struct attn_vocab *v = calloc(1, sizeof *v);
    if (!v)
        return no_memory(name, err);
    int rc = attn_tree_read(&root, &v->words, text, len, name, ATTN_VOCAB_MAX + 1, err);
    if (!rc)
        rc = fill(v, root, name, err);
    cJSON_Delete(root);
    if (rc)
        attn_vocab_free(v);
    else
        *out = v;
    return rc;
}

void attn_vocab_free(struct attn_vocab *v)
{
    if (!v)
        return;
    attn_strings_free(&v->words);
    free(v->id);
    free(v->by_id);
    free(v);
}

size_t attn_vocab_size(const struct attn_vocab *v)
{
    return v->words.n;
}

int32_t attn_vocab_top(const struct attn_vocab *v)
{
    return v->by_id[v->words.n - 1].id;
}

int32_t attn_vocab_id(const struct attn_vocab *v, const char *word, size_t len)
{
    size_t i = attn_strings_find(&v->words, word, len);
    return i == ATTN_STRINGS_NONE ? -1 : v->id[i];
}

const char *attn_vocab_at(const struct attn_vocab *v, size_t i, size_t *len)
{
    return attn_strings_at(&v->words, v->by_id[i].word, len);
}

const char *attn_vocab_word(const struct attn_vocab *v, int32_t id, size_t *len)
{
    struct entry key = {.id = id};
    if (id >= 0 && (size_t)id < v->words.n && v->by_id[id].id == id)
        return attn_vocab_at(v, (size_t)id, len);                   /* no gaps so far: nearly always */
    const struct entry *e = bsearch(&key, v->by_id, v->words.n, sizeof key, compare_ids);
    return e ? attn_strings_at(&v->words, e->word, len) : NULL;
}

/* An insertion into the few best so far. */
size_t attn_vocab_nearest(const struct attn_vocab *v, const char *word, size_t len, const char *near[],
                          size_t near_len[], size_t n)
{
    unsigned best[8] = {0};
    size_t found = 0;
    if (n > sizeof best / sizeof *best)
        n = sizeof best / sizeof *best;
    for (size_t i = 0; i < v->words.n; i++) {
        size_t known_len, at = found < n ? found : n;
        const char *known = attn_vocab_at(v, i, &known_len);
        unsigned d = attn_near(word, len, known, known_len);
        for (; at > 0 && best[at - 1] > d; at--) {
            if (at == n)
                continue;
            best[at] = best[at - 1];
            near[at] = near[at - 1];
            near_len[at] = near_len[at - 1];
        }
        if (d == ATTN_FAR || at == n)
            continue;
        best[at] = d;
        near[at] = known;
        near_len[at] = known_len;
        found += found < n;
    }
    return found;
}

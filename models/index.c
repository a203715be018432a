/* index.c - writes the index of a vocabulary and its rules (lib/text/index.h) while attn-cli is built.
 *
 *     index vocab.json merges.txt >tiny.index */
#include "base/err.h"
#include "base/map.h"
#include "text/bytes.h"
#include "text/index.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIMIT = 64 << 20 };

static int read_both(struct attn_vocab **v, struct attn_merges *m, char **path, struct attn_err *err)
{
    struct attn_map vocab = {0}, merges = {0};
    int rc = attn_map_open(&vocab, path[0], LIMIT, err);
    if (!rc)
        rc = attn_vocab_read(v, (const char *)vocab.data, vocab.len, path[0], err);
    if (!rc)
        rc = attn_map_open(&merges, path[1], LIMIT, err);
    if (!rc)
        rc = attn_merges_read(m, *v, (const char *)merges.data, merges.len, path[1], err);
    attn_map_close(&vocab);
    attn_map_close(&merges);
    return rc;
}

/* The words in the order of ids, which must be their numbers. */
static int hash_words(struct attn_text_index *x, const struct attn_vocab *v, struct attn_err *err)
{
    size_t len, twice, n = attn_vocab_size(v);
    bool ok = (x->id = calloc(n, sizeof *x->id)) != NULL;
    x->words.seed = ATTN_TEXT_INDEX_SEED;
    if ((size_t)attn_vocab_top(v) != n - 1)
        return attn_fail(err, ATTN_EFORMAT,
                         "the vocabulary has ids up to %d for %zu words, expected no gaps", (int)attn_vocab_top(v), n);
    for (size_t i = 0; i < n && ok; i++) {
        const char *word = attn_vocab_at(v, i, &len);
        x->id[i] = (int32_t)i;
        ok = attn_strings_append(&x->words, word, len);
    }
    return ok && attn_strings_index(&x->words, &twice) ? ATTN_OK : attn_no_memory(err, NULL, "for an index");
}

static int hash_rules(struct attn_text_index *x, const struct attn_merges *m, struct attn_err *err)
{
    x->merges = (struct attn_merges){.rule = m->rule, .n = m->n, .seed = ATTN_TEXT_INDEX_SEED};
    return attn_merges_index(&x->merges) ? ATTN_OK : attn_no_memory(err, NULL, "for an index");
}

static int find_special(struct attn_text_index *x, const struct attn_merges *m, const struct attn_vocab *v,
                        struct attn_err *err)
{
    x->special = attn_merges_special(m, v, &x->specials);
    return x->special ? ATTN_OK : attn_no_memory(err, NULL, "for an index");
}

static int find_bytes(struct attn_text_index *x, const struct attn_vocab *v, struct attn_err *err)
{
    x->byte = malloc(256 * sizeof *x->byte);
    if (!x->byte)
        return attn_no_memory(err, NULL, "for an index");
    attn_bytes_find(x->byte, v);
    return ATTN_OK;
}

static bool put(const void *items, size_t n, size_t size)
{
    static const char zero[8];
    size_t pad = (8 - n * size % 8) % 8;
    return fwrite(items, size, n, stdout) == n && fwrite(zero, 1, pad, stdout) == pad;
}

static int write_index(const struct attn_text_index *x, struct attn_err *err)
{
    const struct attn_merges *m = &x->merges;
    const struct attn_strings *w = &x->words;
    struct attn_text_index_head h = {.rules = m->n, .rule_slots = m->slots, .words = w->n, .slots = w->slots,
                                     .used = w->used, .specials = x->specials};
    bool ok = put(&h, 1, sizeof h) && put(m->rule, m->n, sizeof *m->rule) && put(m->slot, m->slots, sizeof *m->slot) &&
              put(w->item, w->n, sizeof *w->item) && put(x->id, w->n, sizeof *x->id) &&
              put(w->slot, w->slots, sizeof *w->slot) &&
              put(w->pool, w->used, 1) && put(x->special, x->specials, sizeof *x->special) &&
              put(x->byte, 256, sizeof *x->byte) && fflush(stdout) == 0;
    return ok ? ATTN_OK : attn_fail(err, ATTN_EIO, "cannot write the index");
}

int main(int argc, char **argv)
{
    struct attn_err err = {0};
    struct attn_vocab *v = NULL;
    struct attn_merges m = {0};
    struct attn_text_index x = {0};
    int rc = argc == 3 ? read_both(&v, &m, argv + 1, &err) :
        attn_fail(&err, ATTN_EIO, "usage: index vocab.json merges.txt");
    if (!rc)
        rc = hash_words(&x, v, &err);
    if (!rc)
        rc = hash_rules(&x, &m, &err);
    if (!rc)
        rc = find_special(&x, &m, v, &err);
    if (!rc)
        rc = find_bytes(&x, v, &err);
    if (!rc)
        rc = write_index(&x, &err);
    if (rc)
        fprintf(stderr, "index: %s\n", err.msg);
    attn_strings_free(&x.words);
    free(x.id);
    free(x.merges.slot);
    free(x.special);
    free(x.byte);
    attn_merges_free(&m);
    attn_vocab_free(v);
    return rc != ATTN_OK;
}

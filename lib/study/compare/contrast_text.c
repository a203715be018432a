/* contrast_text.c - do two models spell their ids alike, and are their tokenizers' files the same? */
#include "compare/contrast.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "text/tokens.h"

static int add_token(struct attn_contrast *c, const struct attn_contrast_token *t, struct attn_err *err)
{
    struct attn_contrast_token *list = attn_grow(c->token, &c->token_room, c->result.tokens + 1, sizeof *list);
    if (!list)
        return attn_no_memory(err, NULL, "to compare two vocabularies");
    c->token = list;
    list[c->result.tokens++] = *t;
    return ATTN_OK;
}

/* Both lists are sorted by id, so one walk meets each id once. */
static int compare_vocabularies(struct attn_contrast *c, const struct attn_vocab *a, const struct attn_vocab *b,
                                struct attn_err *err)
{
    size_t na = attn_vocab_size(a), nb = attn_vocab_size(b), i = 0, j = 0;
    int rc = ATTN_OK;
    while ((i < na || j < nb) && !rc) {
        int32_t x = i < na ? attn_vocab_id_at(a, i) : INT32_MAX, y = j < nb ? attn_vocab_id_at(b, j) : INT32_MAX;
        struct attn_contrast_token t = {.id = x < y ? x : y};
        if (x <= y)
            t.a = attn_vocab_at(a, i++, &t.a_len);
        if (y <= x)
            t.b = attn_vocab_at(b, j++, &t.b_len);
        c->result.only[0] += t.a && attn_vocab_id(b, t.a, t.a_len) < 0;
        c->result.only[1] += t.b && attn_vocab_id(a, t.b, t.b_len) < 0;
        if (!t.a || !t.b || t.a_len != t.b_len || memcmp(t.a, t.b, t.a_len))
            rc = add_token(c, &t, err);
    }
    c->result.vocab[0] = na;
    c->result.vocab[1] = nb;
    return rc;
}

/* ---- files ---- */

/* The first line that differs, from 1; 0: the same bytes. */
static size_t first_line(const struct attn_map *a, const struct attn_map *b)
{
    size_t n = a->len < b->len ? a->len : b->len, line = 1, i = 0;
    if (a->len == b->len && !memcmp(a->data, b->data, n))
        return 0;
    for (; i < n && a->data[i] == b->data[i]; i++)
        line += a->data[i] == '\n';
    return line;
}

static int compare_file(struct attn_contrast *c, const char *name, struct attn_err *err)
{
    if (c->side[0].source.kind->whole || c->side[1].source.kind->whole)
        return ATTN_OK;                 /* its files are made: the tokens themselves are compared */
    struct attn_contrast_file f = {.name = name, .has_a = attn_source_has(&c->side[0].source, name),
                                   .has_b = attn_source_has(&c->side[1].source, name)};
    struct attn_map a = {0}, b = {0};
    /* A file that seems to be on one side alone is opened, too: it may only not have been possible to see. */
    int rc = f.has_a ? attn_source_open(&c->side[0].source, name, SIZE_MAX, &a, err) : ATTN_OK;
    if (!rc && f.has_b)
        rc = attn_source_open(&c->side[1].source, name, SIZE_MAX, &b, err);
    if (!rc && f.has_a && f.has_b)
        f.line = first_line(&a, &b);
    attn_map_close(&a);
    attn_map_close(&b);
    if (rc || (f.has_a == f.has_b && !f.line))
        return rc;
    struct attn_contrast_file *list = attn_grow(c->file, &c->file_room, c->result.files + 1, sizeof *list);
    if (!list)
        return attn_no_memory(err, NULL, "to compare two tokenizers");
    c->file = list;
    list[c->result.files++] = f;
    return ATTN_OK;
}

int attn_contrast_texts(struct attn_contrast *c, struct attn_err *err)
{
    static const char *const files[] = {"vocab.json", "tokenizer.json", "merges.txt", "tokenizer.model",
                                        "tokenizer.bin", "tokenizer_config.json",
                                        "special_tokens_map.json", "added_tokens.json"};
    const struct attn_tokenizer *a = c->side[0].tokenizer, *b = c->side[1].tokenizer;
    int rc = ATTN_OK;
    if (a && b)
        rc = compare_vocabularies(c, attn_tokenizer_vocab(a), attn_tokenizer_vocab(b), err);
    else
        for (int i = 0; i < 2; i++)
            c->result.vocab[i] = c->side[i].tokenizer ? attn_tokenizer_size(c->side[i].tokenizer) : 0;
    if (attn_contrast_lone(&c->side[0]) || attn_contrast_lone(&c->side[1]))
        return ATTN_OK;                 /* a file of weights has no tokenizer, so nothing was compared */
    size_t first = a && b;              /* both tokenizers have what vocab.json has: how that differs is told already */
    for (size_t i = first; i < sizeof files / sizeof *files && !rc; i++)
        rc = compare_file(c, files[i], err);
    return rc;
}

/* tokenizer.c - a model's tokenizer from its files, weights or not. */
#include "source.h"

#include "base/err.h"
#include "io/config.h"
#include "io/tokens.h"

#include <stdlib.h>

enum { VOCAB_LIMIT = 256 << 20 };

static int read_rule(const struct attn_source *s, struct attn_config *c, struct attn_err *err)
{
    struct attn_map map;
    if (!attn_source_has(s, "config.json"))
        return ATTN_OK;
    int rc = attn_source_open(s, "config.json", ATTN_CONFIG_LIMIT, &map, err);
    if (rc)
        return rc;
    char *path = attn_source_path(s, "config.json");
    if (path)
        rc = attn_config_read_tokenizer(c, (const char *)map.data, map.len, path, err);
    else
        rc = attn_fail(err, ATTN_ENOMEM, "out of memory: no room for a path");
    free(path);
    attn_map_close(&map);
    return rc;
}

static int read_vocab(struct attn_tokenizer **out, const struct attn_source *s, const struct attn_word_rule *rule,
                      struct attn_err *err)
{
    struct attn_map map = {0};
    struct attn_vocab *vocab = NULL;
    char *path = attn_source_path(s, "vocab.json");
    if (!path)
        return attn_fail(err, ATTN_ENOMEM, "out of memory: no room for a path");
    int rc = attn_source_open(s, "vocab.json", VOCAB_LIMIT, &map, err);
    if (!rc)
        rc = attn_vocab_read(&vocab, (const char *)map.data, map.len, path, err);
    if (!rc)
        rc = attn_tokenizer_word(out, vocab, rule, path, err);
    attn_map_close(&map);
    free(path);
    return rc;
}

/* Splitting such a vocabulary's text at white space would give wrong ids, so say no. */
static int refuse_bpe(const struct attn_source *s, const struct attn_config *c, struct attn_err *err)
{
    if (!c->tokenizer.bpe && !attn_source_has(s, "merges.txt") && !attn_source_has(s, "tokenizer.json"))
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: its tokenizer is byte-level BPE, which this version cannot read; "
                     "give token numbers with --ids", s->name);
}

int attn_tokenizer_open(struct attn_tokenizer **out, const char *model, struct attn_err *err)
{
    struct attn_source s;
    struct attn_config c = {0};
    *out = NULL;
    int rc = attn_source_find(&s, model, err);
    if (rc)
        return rc;
    rc = read_rule(&s, &c, err);
    if (!rc)
        rc = refuse_bpe(&s, &c, err);
    if (!rc)
        rc = read_vocab(out, &s, &c.tokenizer, err);
    attn_config_free(&c);
    attn_source_free(&s);
    return rc;
}

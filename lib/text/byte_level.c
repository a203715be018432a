#include "text/byte_level.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "text/bytes.h"

static int no_memory(const char *name, struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "%s: no memory for a tokenizer", name);
}

void attn_byte_level_free(struct attn_byte_level *b)
{
    if (!b)
        return;
    attn_vocab_free(b->rules.vocab);
    attn_merges_free(&b->rules.merges);
    attn_added_free(&b->added[0]);
    attn_added_free(&b->added[1]);
    attn_readings_free(b->readings);
    free(b);
}

void attn_byte_level_set_bos(struct attn_byte_level *b, int32_t id)
{
    if (b->bos < 0 && attn_vocab_rank(b->rules.vocab, id) != SIZE_MAX)
        b->bos = id;
}

static void find_bytes(struct attn_bpe_rules *r)
{
    char spelled[4];
    for (int i = 0; i < 256; i++) {
        size_t len = attn_bytes_spell(spelled, (unsigned char)i);
        r->byte[i] = attn_vocab_own_id(r->vocab, spelled, len);
    }
}

int attn_byte_level_finish(struct attn_byte_level *b, const char *name, struct attn_err *err)
{
    find_bytes(&b->rules);
    attn_added_sort(&b->added[0]);
    attn_added_sort(&b->added[1]);
    b->readings = attn_readings_new(b->rules.vocab, b->added);
    return b->readings ? ATTN_OK : no_memory(name, err);
}

/* ---- vocab.json and merges.txt --------------------------------------------------------- */

/* Whether each token, by rank, is made by some rule; NULL: no memory. */
static bool *find_made(const struct attn_bpe_rules *r)
{
    bool *made = calloc(attn_vocab_size(r->vocab), sizeof *made);
    for (size_t i = 0; made && i < r->merges.n; i++)
        made[attn_vocab_rank(r->vocab, r->merges.rule[i].id)] = true;
    return made;
}

static int find_special(struct attn_byte_level *b, const char *name, struct attn_err *err)
{
    bool *made = find_made(&b->rules), ok = made != NULL;
    for (size_t i = 0; ok && i < attn_vocab_size(b->rules.vocab); i++) {
        size_t len;
        const char *word = attn_vocab_at(b->rules.vocab, i, &len);
        if (made[i] || len < 3 || word[0] != '<' || word[len - 1] != '>')
            continue;
        struct attn_added_token t = {.text = strdup(word), .len = len, .id = attn_vocab_id_at(b->rules.vocab, i),
                                     .special = true};
        ok = t.text && attn_added_put(&b->added[0], &t);
    }
    free(made);
    return ok ? ATTN_OK : no_memory(name, err);
}

int attn_byte_level_read(struct attn_byte_level **out, const struct attn_text_file *vocab,
                         const struct attn_text_file *merges, struct attn_err *err)
{
    struct attn_byte_level *b = calloc(1, sizeof *b);
    if (!b)
        return no_memory(vocab->name, err);
    b->cut[b->cuts++] = ATTN_PRETOKEN_GPT2;
    b->bos = -1;
    int rc = attn_vocab_read(&b->rules.vocab, vocab->text, vocab->len, vocab->name, err);
    if (!rc)
        rc = attn_merges_read(&b->rules.merges, b->rules.vocab, merges->text, merges->len, merges->name, err);
    if (!rc)
        rc = find_special(b, vocab->name, err);
    if (!rc)
        rc = attn_byte_level_finish(b, vocab->name, err);
    if (rc)
        attn_byte_level_free(b);
    else
        *out = b;
    return rc;
}

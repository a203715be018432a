/* attn_bpe_learn: learns a tokenizer from a text and writes it as a directory with vocab.json and merges.txt. */
#include "attn_tools.h"

#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/utf8.h"
#include "text/bytes.h"
#include "text/documents.h"
#include "making/learn.h"

/* ---- files --------------------------------------------------------------------------------- */

/* A spelling has at most two bytes for each byte. */
static size_t spell(const struct attn_learned *l, size_t id, char out[2 * ATTN_LEARN_LONGEST + 2])
{
    size_t len, n = 0;
    const char *bytes = attn_strings_at(&l->token, id, &len);
    for (size_t i = 0; i < len; i++)
        n += attn_bytes_spell(out + n, (unsigned char)bytes[i]);
    return n;
}

static void write_vocab(struct attn_out *out, const struct attn_learned *l)
{
    char word[2 * ATTN_LEARN_LONGEST + 2];
    for (size_t i = 0; i < l->token.n; i++) {
        attn_out_str(out, i == 0 ? "{" : ", ");
        attn_out_json(out, word, spell(l, i, word));
        attn_out_printf(out, ": %zu", i);
    }
    attn_out_printf(out, ", \"" ATTN_END_OF_TEXT "\": %zu}\n", l->token.n);
}

static void write_merges(struct attn_out *out, const struct attn_learned *l)
{
    char word[2 * ATTN_LEARN_LONGEST + 2];
    attn_out_str(out, "#version: 0.2\n");
    for (size_t i = 0; i < l->n; i++) {
        attn_out_write(out, word, spell(l, (size_t)l->rule[i].left, word));
        attn_out_char(out, ' ');
        attn_out_write(out, word, spell(l, (size_t)l->rule[i].right, word));
        attn_out_char(out, '\n');
    }
}

/* Writes both files completely before the first one replaces its target. */
static int write_directory(const char *dir, const struct attn_learned *l, struct attn_err *err)
{
    struct attn_out *vocab = NULL, *merges = NULL;
    struct attn_held held;
    int rc = attn_folder_begin(&held, dir, err);
    if (!rc && attn_folder_has(dir, ATTN_CHECKPOINT_FILE))      /* a training may have ended there while we learned */
        rc = attn_folder_spare_training(dir, err);
    if (rc || (rc = attn_folder_open(&vocab, dir, "vocab.json", err)) ||
        (rc = attn_folder_open(&merges, dir, "merges.txt", err)))
        goto out;
    write_vocab(vocab, l);
    write_merges(merges, l);
    rc = attn_out_commit_all((struct attn_out *const[]){merges, vocab}, 2, err);
out:
    attn_out_close(vocab);
    attn_out_close(merges);
    return attn_folder_end(&held, rc);
}

/* ---- learning ------------------------------------------------------------------------------ */

static int count_pieces(struct attn_tally *tally, const char *text, size_t len, struct attn_err *err)
{
    struct attn_documents walk = attn_documents_of(text, len);
    const char *document;
    size_t n, valid = attn_utf8_valid(text, len);
    int rc = ATTN_OK;
    if (valid < len)
        return attn_fail(err, ATTN_EFORMAT, "the text is not UTF-8 at byte %zu: found 0x%02X", valid,
                         (unsigned char)text[valid]);
    while (!rc && attn_documents_next(&walk, &document, &n))
        rc = attn_tally_add(tally, document, n, err);
    if (!rc && tally->piece.n == 0)
        rc = attn_fail(err, ATTN_EFORMAT, "the text is empty, expected something to learn tokens from");
    return rc;
}

int attn_bpe_learn(const char *path, size_t *tokens, const char *text, size_t len, size_t size, struct attn_err *err)
{
    struct attn_tally tally = {0};
    struct attn_learned learned = {0};
    if (size < ATTN_BPE_LEAST || size > ATTN_BPE_MOST)
        return attn_fail(err, ATTN_EUSAGE, "a vocabulary of %zu tokens, expected %d to %d", size, ATTN_BPE_LEAST,
                         ATTN_BPE_MOST);
    int rc = count_pieces(&tally, text, len, err);
    if (!rc)
        rc = attn_learn(&learned, &tally, size - 1, err);           /* one token is kept for the end of a text */
    if (!rc)
        rc = write_directory(path, &learned, err);
    *tokens = learned.token.n + 1;
    attn_learned_free(&learned);
    attn_tally_free(&tally);
    return rc;
}

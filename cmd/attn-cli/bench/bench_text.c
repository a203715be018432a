/* bench_text.c - encodes text made of words of the vocabulary. */
#include "bench/bench.h"

#include "clock.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << 20, TRIES = 1 << 22 };               /* bytes of text; random ids tried to fill it */

struct text { const struct stage *stage; const struct attn_tokenizer *tokenizer; char *text; size_t len; };

/* Letters of the token if it is a whole word, else 0.  Byte-level BPE keeps the space before a word in its token. */
static size_t word_length(const struct attn_tokenizer *t, const char **word, int32_t id)
{
    size_t len, letters = 0;
    const char *s = attn_tokenizer_text(t, id, &len);
    bool space = s && len && s[0] == ' ';
    if (!s || len == 0 || len > 64 || (!strcmp(attn_tokenizer_kind(t), "bpe") && !space))
        return 0;
    *word = s + space;
    while (letters < len - space && ((*word)[letters] | 0x20) >= 'a' && ((*word)[letters] | 0x20) <= 'z')
        letters++;
    return letters == len - space ? letters : 0;
}

static const char *tokenize_lacks(const struct stage *s, const struct bench *b)
{
    const char *word;
    (void)s;
    for (size_t i = 0; b->tokenizer && i < attn_tokenizer_size(b->tokenizer); i++)
        if (word_length(b->tokenizer, &word, (int32_t)i))
            return NULL;
    return b->tokenizer ? "the vocabulary has no words to make a text of" : "there is no tokenizer";
}

static int tokenize_once(void *self, struct sample *out, struct attn_err *err)
{
    const struct text *t = self;
    struct attn_tokens *tokens;
    double start = clock_now();
    int code = attn_encode(&tokens, t->tokenizer, t->text, t->len, err);
    out->seconds = clock_now() - start;
    out->value = (double)t->len / out->seconds / t->stage->scale;
    if (!code)
        attn_tokens_free(tokens);
    return code;
}

static void tokenize_end(void *self)
{
    struct text *t = self;
    free(t->text);
    free(t);
}

/* Words of the vocabulary with spaces between them, in a pseudorandom order that is the same every time. */
static void fill(struct text *t)
{
    size_t size = attn_tokenizer_size(t->tokenizer);
    uint64_t state = 1;
    const char *word;
    for (size_t i = 0; i < TRIES && t->len < TEXT - 80; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t len = word_length(t->tokenizer, &word, (int32_t)((state >> 33) % size));
        if (!len)
            continue;
        if (t->len)
            t->text[t->len++] = ' ';
        memcpy(t->text + t->len, word, len);
        t->len += len;
    }
}

static int tokenize_start(struct work *w, const struct stage *s, const struct bench *b, struct attn_err *err)
{
    struct text *t = bench_work(w, sizeof *t, tokenize_once, tokenize_end, err);
    if (!t)
        return err->code;
    if (!(t->text = malloc(TEXT)))
        return fail(err, ATTN_ENOMEM, "no memory for %d bytes of text", TEXT);
    t->stage = s;
    t->tokenizer = b->tokenizer;
    fill(t);
    return ATTN_OK;
}

const struct stage_kind tokenize_kind = {tokenize_lacks, tokenize_start};

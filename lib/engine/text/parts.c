/* parts.c - where a piece can be cut before it is merged: which characters are tokens and which two meet in one. */
#include "text/bpe.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

static size_t meeting(uint32_t a, uint32_t b)
{
    uint64_t h = ((uint64_t)a << 32 | b) * 0x9E3779B97F4A7C15u;
    return (size_t)(h >> 44);           /* ATTN_MEETINGS has 20 bits */
}

static bool add_char(struct attn_bpe_rules *r, uint32_t c, int32_t id)
{
    int32_t **page = &r->page[c / ATTN_PAGE];
    if (!*page) {
        *page = malloc(ATTN_PAGE * sizeof **page);
        for (size_t i = 0; *page && i < ATTN_PAGE; i++)
            (*page)[i] = -1;
    }
    if (*page)
        (*page)[c % ATTN_PAGE] = id;
    return *page != NULL;
}

static bool add_token(struct attn_bpe_rules *r, size_t rank)
{
    size_t len, step;
    const char *s = attn_vocab_at(r->vocab, rank, &len);
    if (len == 0)
        return true;
    uint32_t last = attn_utf8_next(s, len, &step);
    if (step == len)
        return add_char(r, last, attn_vocab_id_at(r->vocab, rank));
    for (size_t at = step; at < len; at += step) {
        uint32_t c = attn_utf8_next(s + at, len - at, &step);
        size_t bit = meeting(last, c);
        r->meetings[bit / 64] |= (uint64_t)1 << bit % 64;
        last = c;
    }
    return true;
}

void attn_bpe_rules_bytes(struct attn_bpe_rules *r)
{
    char spelled[8];
    for (unsigned i = 0; i < 256; i++) {
        snprintf(spelled, sizeof spelled, "<0x%02X>", i);
        r->byte[i] = attn_vocab_own_id(r->vocab, spelled, 6);
    }
}

bool attn_bpe_rules_index(struct attn_bpe_rules *r)
{
    r->meetings = calloc(ATTN_MEETINGS / 64, sizeof *r->meetings);
    r->page = calloc(ATTN_PAGES, sizeof *r->page);
    bool ok = r->meetings && r->page;
    for (size_t i = 0; ok && i < attn_vocab_size(r->vocab); i++)
        ok = add_token(r, i);
    return ok;
}

void attn_bpe_rules_free(struct attn_bpe_rules *r)
{
    attn_vocab_free(r->vocab);
    attn_merges_free(&r->merges);
    free(r->meetings);
    free(r->suffix);
    for (size_t i = 0; r->page && i < ATTN_PAGES; i++)
        free(r->page[i]);
    free(r->page);
}

static bool is_known(const struct attn_bpe_rules *r, uint32_t c)
{
    const int32_t *page = r->page[c / ATTN_PAGE];
    return page && page[c % ATTN_PAGE] >= 0;
}

/* Between an unknown character and its neighbours there is no cut, so that unknown ones stay together. */
size_t attn_bpe_part(const struct attn_bpe_rules *r, const char *s, size_t len)
{
    size_t at, step;
    if (!r->chars || r->whole_first || r->suffix)
        return len;
    uint32_t last = attn_utf8_next(s, len, &at);
    for (; at < len; at += step) {
        uint32_t c = attn_utf8_next(s + at, len - at, &step);
        size_t bit = meeting(last, c);
        if (!(r->meetings[bit / 64] >> bit % 64 & 1) && is_known(r, last) && is_known(r, c))
            break;
        last = c;
    }
    return at;
}

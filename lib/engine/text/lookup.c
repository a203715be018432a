#include "text/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Builds the trie of the tokens that begin with a prefix, without it. */
static bool index_behind(struct attn_trie *t, const struct attn_vocab *v, const char *prefix, size_t lead)
{
    const size_t all = attn_vocab_size(v);
    struct attn_str_view *s = malloc((all + 1) * sizeof *s);
    int32_t *id = malloc((all + 1) * sizeof *id);
    size_t n = 0, len;
    for (size_t rank = 0; s && id && rank < all; rank++) {
        const char *word = attn_vocab_at(v, rank, &len);
        if (len <= lead || memcmp(word, prefix, lead) != 0)
            continue;
        s[n] = (struct attn_str_view){word + lead, len - lead};
        id[n++] = attn_vocab_own_id(v, word, len);
    }
    bool ok = s && id && attn_trie_make(t, s, id, n);
    free(s);
    free(id);
    return ok;
}

bool attn_lookup_index(struct attn_lookup *l)
{
    return !l->parts ||
           (index_behind(&l->first, l->vocab, "", 0) && index_behind(&l->others, l->vocab, l->prefix, l->prefix_len));
}

void attn_lookup_free(struct attn_lookup *l)
{
    if (!l)
        return;
    attn_trie_free(&l->first);
    attn_trie_free(&l->others);
    free(l->prefix);
    free(l);
}

void attn_lookup_work_free(struct attn_lookup_work *w)
{
    free(w->part);
    *w = (struct attn_lookup_work){0};
}

static size_t characters(const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)s[i] & 0xC0) != 0x80;
    return n;
}

/* Returns how many tokens, or 0. */
static size_t take_apart(struct attn_piece_token *part, const struct attn_lookup *l, const char *s, size_t len)
{
    size_t n = 0, found;
    for (size_t at = 0; at < len; at += found) {
        int32_t id = attn_trie_longest(at == 0 ? &l->first : &l->others, s + at, len - at, &found);
        if (id < 0)
            return 0;
        part[n++] = (struct attn_piece_token){id, (uint32_t)found};
    }
    return n;
}

int attn_lookup_encode(struct attn_lookup_work *w, const struct attn_lookup *l, const char *s, size_t len,
                       const struct attn_piece_token **part, size_t *n)
{
    const size_t chars = l->parts ? characters(s, len) : 1;
    const bool long_one = chars > l->longest;
    struct attn_piece_token *room = len <= UINT32_MAX ? attn_grow(w->part, &w->room, long_one ? 1 : chars,
                                                                  sizeof *room) : NULL;
    *n = 0;
    if (!room)
        return ATTN_ENOMEM;
    *part = w->part = room;
    if (l->parts && !long_one) {
        *n = take_apart(room, l, s, len);
    } else if (!l->parts) {
        room[0] = (struct attn_piece_token){attn_vocab_own_id(l->vocab, s, len), (uint32_t)len};
        *n = room[0].id >= 0;
    }
    if (*n > 0)
        return ATTN_OK;
    if (l->unknown < 0)
        return ATTN_EFORMAT;
    room[0] = (struct attn_piece_token){l->unknown, (uint32_t)len};
    *n = 1;
    return ATTN_OK;
}

#include "text/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"

void attn_lookup_free(struct attn_lookup *l)
{
    if (l)
        free(l->prefix);
    free(l);
}

void attn_lookup_work_free(struct attn_lookup_work *w)
{
    free(w->part);
    free(w->spelled);
    *w = (struct attn_lookup_work){0};
}

static size_t characters(const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)s[i] & 0xC0) != 0x80;
    return n;
}

/* Room for a token for each byte, and for the piece behind a prefix. */
static bool make_room(struct attn_lookup_work *w, const struct attn_lookup *l, size_t len)
{
    struct attn_piece_token *part = attn_grow(w->part, &w->room, l->parts ? len : 1, sizeof *part);
    char *spelled = attn_grow(w->spelled, &w->spelled_room, l->prefix_len + len, 1);
    w->part = part ? part : w->part;
    w->spelled = spelled ? spelled : w->spelled;
    return part && spelled;
}

/* The longest beginning of what is left of the piece; len 0: there is none. */
static struct attn_piece_token longest(struct attn_lookup_work *w, const struct attn_lookup *l, const char *s, size_t len, bool first)
{
    const size_t lead = first ? 0 : l->prefix_len;
    if (lead)
        memcpy(w->spelled, l->prefix, lead);
    memcpy(w->spelled + lead, s, len);
    while (len > 0) {
        int32_t id = attn_vocab_own_id(l->vocab, w->spelled, lead + len);
        if (id >= 0)
            return (struct attn_piece_token){id, (uint32_t)len};
        do
            len--;
        while (len > 0 && ((unsigned char)s[len] & 0xC0) == 0x80);
    }
    return (struct attn_piece_token){.id = -1};
}

/* Returns how many tokens, or 0. */
static size_t take_apart(struct attn_lookup_work *w, const struct attn_lookup *l, const char *s, size_t len)
{
    size_t n = 0;
    if (characters(s, len) > l->longest)
        return 0;
    for (size_t at = 0; at < len; at += w->part[n++].len) {
        w->part[n] = longest(w, l, s + at, len - at, at == 0);
        if (w->part[n].len == 0)
            return 0;
    }
    return n;
}

int attn_lookup_encode(struct attn_lookup_work *w, const struct attn_lookup *l, const char *s, size_t len,
                       const struct attn_piece_token **part, size_t *n)
{
    *n = 0;
    if (len > UINT32_MAX || !make_room(w, l, len))
        return ATTN_ENOMEM;
    *part = w->part;
    if (l->parts) {
        *n = take_apart(w, l, s, len);
    } else {
        w->part[0] = (struct attn_piece_token){attn_vocab_own_id(l->vocab, s, len), (uint32_t)len};
        *n = w->part[0].id >= 0;
    }
    if (*n > 0)
        return ATTN_OK;
    if (l->unknown < 0)
        return ATTN_EFORMAT;
    w->part[0] = (struct attn_piece_token){l->unknown, (uint32_t)len};
    *n = 1;
    return ATTN_OK;
}

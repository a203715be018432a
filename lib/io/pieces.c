#include "io/pieces.h"

#include <stdlib.h>

#include "io/hash.h"

/* Different for all pieces of one length. */
static void key_of(uint64_t key[2], const char *s, size_t len)
{
    size_t first = len < 8 ? len : 8;
    key[0] = attn_hash_word(s, first);
    key[1] = attn_hash_word(s + first, len - first);
}

struct attn_piece_slot *attn_pieces_slot(struct attn_pieces *p, const char *s, size_t len, bool *known)
{
    uint64_t key[2];
    if (!p->slot && !(p->slot = calloc(ATTN_PIECES, sizeof *p->slot)))
        return NULL;
    key_of(key, s, len);
    uint64_t h = attn_hash_mix(key[0] ^ 0x9E3779B97F4A7C15u, key[1] ^ len ^ 0xD6E8FEB86659FD93u);
    struct attn_piece_slot *slot = &p->slot[h % ATTN_PIECES];
    *known = slot->len == len && slot->key[0] == key[0] && slot->key[1] == key[1];
    return slot;
}

size_t attn_piece_recall(const struct attn_piece_slot *slot, struct attn_part part[ATTN_PIECE_PARTS])
{
    size_t n = 0;
    for (; n < ATTN_PIECE_PARTS && slot->part_len[n] > 0; n++)
        part[n] = (struct attn_part){.id = slot->id[n], .len = slot->part_len[n]};
    return n;
}

void attn_piece_keep(struct attn_piece_slot *slot, const char *s, size_t len, const struct attn_part *part, size_t n)
{
    if (n > ATTN_PIECE_PARTS)
        return;
    *slot = (struct attn_piece_slot){.len = (uint8_t)len};
    key_of(slot->key, s, len);
    for (size_t i = 0; i < n; i++) {
        slot->id[i] = part[i].id;
        slot->part_len[i] = (uint8_t)part[i].len;
    }
}

void attn_pieces_free(struct attn_pieces *p)
{
    free(p->slot);
    *p = (struct attn_pieces){0};
}

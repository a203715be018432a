/* pieces.c - the tokens of pieces seen before.
 *
 * Most pieces of a text are short and recur often.  A hash of a piece's bytes selects a set of two entries, one cache
 * line; the less recently used one is replaced.  Only pieces of at most 16 bytes and 3 tokens are kept.  The table
 * begins small, as most texts are a sentence; each time it kept as many pieces as it has sets, it grows, up to 2 MB,
 * and is empty again. */
#include "text/bpe.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/strings.h"

enum { LINE = 64 };                     /* a cache line, which holds one set */
enum { FIRST_SETS = 1 << 6, MORE = 8, LAST_SETS = FIRST_SETS * MORE * MORE * MORE };

/* Replaces the sets by more of them; false: no memory, and they are those of before. */
static bool add_sets(struct attn_pieces *p)
{
    size_t sets = p->sets ? p->sets * MORE : FIRST_SETS;
    void *memory = calloc(sets + 1, sizeof *p->set);
    if (!memory)
        return false;
    free(p->memory);
    p->memory = memory;
    p->set = (void *)(((uintptr_t)memory + LINE - 1) / LINE * LINE);
    p->sets = sets;
    return true;
}

/* The bytes of s padded with zeros.  It has no branches that depend on len. */
static void key_of(uint64_t key[2], const char *s, size_t len, size_t readable)
{
    static const uint64_t first[] = {
        0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, UINT64_MAX};
    size_t low = len < 8 ? len : 8;
    char end[ATTN_PIECE_MAX] = "";
    if (readable < sizeof end)
        s = memcpy(end, s, len);
    memcpy(key, s, sizeof end);
    key[0] = le64toh(key[0]) & first[low];
    key[1] = le64toh(key[1]) & first[len - low];
}

static bool is_piece(const struct attn_piece_entry *piece, const uint64_t key[2], size_t len)
{
    return piece->key[0] == key[0] && piece->key[1] == key[1] && piece->len == len;
}

struct attn_piece_entry *attn_pieces_find(struct attn_pieces *p, const char *s, size_t len, size_t readable,
                                          bool *known)
{
    uint64_t key[2];
    bool full = p->kept >= p->sets && p->sets < LAST_SETS;          /* as is one that has no sets yet */
    if (full && !add_sets(p) && !p->sets)
        return NULL;
    key_of(key, s, len, readable);
    uint64_t h = attn_hash_mix(key[0] ^ 0x9E3779B97F4A7C15u, key[1] ^ len ^ 0xD6E8FEB86659FD93u);
    struct attn_piece_entry *set = p->set[h & (p->sets - 1)];
    *known = true;
    if (is_piece(&set[0], key, len))
        return set;
    struct attn_piece_entry second = set[1];
    *known = is_piece(&second, key, len);
    if (*known) {
        set[1] = set[0];
        set[0] = second;
    }
    return set;
}

size_t attn_pieces_recall(const struct attn_piece_entry *known, struct attn_piece_token part[ATTN_PIECE_PARTS])
{
    const uint8_t *len = known->part_len;
    part[0] = (struct attn_piece_token){known->id[0], len[0]};
    part[1] = (struct attn_piece_token){known->id[1], len[1]};
    part[2] = (struct attn_piece_token){known->id[2], (uint32_t)known->len - len[0] - len[1]};
    return known->parts;
}

void attn_pieces_keep(struct attn_pieces *p, struct attn_piece_entry *set, const char *s, size_t len,
                      const struct attn_piece_token *part, size_t n)
{
    if (n > ATTN_PIECE_PARTS)
        return;
    p->kept++;
    set[1] = set[0];
    *set = (struct attn_piece_entry){.len = (uint8_t)len, .parts = (uint8_t)n};
    key_of(set->key, s, len, len);
    for (size_t i = 0; i < n; i++)
        set->id[i] = part[i].id;
    for (size_t i = 0; i < n && i + 1 < ATTN_PIECE_PARTS; i++)
        set->part_len[i] = (uint8_t)part[i].len;
}

void attn_pieces_free(struct attn_pieces *p)
{
    free(p->memory);
    *p = (struct attn_pieces){0};
}


#include "text/index.h"

/* The next n items of `size` bytes.  Arrays of a growing set can be written to; those of a lent one never are. */
static void *take(const char **at, uint64_t n, size_t size)
{
    const char *items = *at;
    *at += (n * size + 7) / 8 * 8;
    return (void *)(uintptr_t)items;
}

struct attn_text_index attn_text_index_of(const void *image)
{
    const struct attn_text_index_head *h = image;
    const char *at = (const char *)(h + 1);
    struct attn_text_index x = {
        .words = {.n = h->words, .slots = h->slots, .used = h->used, .seed = ATTN_TEXT_INDEX_SEED},
        .merges = {.n = h->rules, .slots = h->rule_slots, .low = (uint32_t)h->rule_slots - 1,
                   .seed = ATTN_TEXT_INDEX_SEED, .lent = true},
        .specials = h->specials,
    };
    x.merges.rule = take(&at, h->rules, sizeof *x.merges.rule);
    x.merges.slot = take(&at, h->rule_slots, sizeof *x.merges.slot);
    x.words.item = take(&at, h->words, sizeof *x.words.item);
    x.id = take(&at, h->words, sizeof *x.id);
    x.words.slot = take(&at, h->slots, sizeof *x.words.slot);
    x.words.pool = take(&at, h->used, 1);
    x.special = take(&at, h->specials, sizeof *x.special);
    x.byte = take(&at, 256, sizeof *x.byte);
    return x;
}

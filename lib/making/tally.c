#include "making/tally.h"

#include "base/err.h"
#include "base/grow.h"
#include "text/pretoken.h"

static bool count(struct attn_tally *t, const char *s, size_t len)
{
    size_t known = t->piece.n, i = attn_strings_add(&t->piece, s, len);
    if (i == ATTN_STRINGS_NONE)
        return false;
    if (i == known) {
        uint64_t *more = attn_grow(t->count, &t->room, i + 1, sizeof *more);
        if (!more)
            return false;
        t->count = more;
        more[i] = 0;
    }
    t->count[i]++;
    return true;
}

int attn_tally_add(struct attn_tally *t, const char *text, size_t len, struct attn_err *err)
{
    for (size_t at = 0, n; at < len; at += n) {
        n = attn_pretoken_next(ATTN_PRETOKEN_GPT2, text + at, len - at);
        if (!count(t, text + at, n))
            return attn_fail(err, ATTN_ENOMEM, "no memory to count the pieces of a text");
    }
    return ATTN_OK;
}

void attn_tally_free(struct attn_tally *t)
{
    attn_strings_free(&t->piece);
    free(t->count);
    *t = (struct attn_tally){0};
}

#include "picture/stack.h"

#include <string.h>

#include "base/utf8.h"

/* Length of the character at s with the accents after it. */
static size_t letter(const char *s, size_t *columns)
{
    size_t len = strlen(s), step, n;
    attn_utf8_next(s, len, &n);
    *columns = attn_utf8_width(s, n);
    for (; n < len; n += step) {
        attn_utf8_next(s + n, len - n, &step);
        if (attn_utf8_width(s + n, step))
            break;
    }
    return n;
}

size_t attn_stack_height(const struct attn_label *l)
{
    size_t n = 0, columns;
    for (const char *s = l->text; *s; s += letter(s, &columns))
        n++;
    return n;
}

bool attn_stack_fits(const struct attn_label *l, size_t columns)
{
    size_t taken = 0;
    for (const char *s = l->text; *s && taken <= columns;)
        s += letter(s, &taken);
    return taken <= columns;
}

void attn_stack_write(struct attn_out *o, const struct attn_label *l, size_t i, size_t columns)
{
    const char *s = l->text;
    size_t taken, n = letter(s, &taken);
    for (; i > 0; i--) {
        s += n;
        n = letter(s, &taken);
    }
    attn_out_write(o, s, n);
    attn_label_pad(o, columns - taken);
}

#include "sinks/cell.h"

#include <string.h>

#include "base/utf8.h"

/* What a reader could take for the end of the cell, or drop. */
static bool needs_quotes(const char *s, size_t len)
{
    if (len && (s[0] == ' ' || s[len - 1] == ' '))
        return true;
    for (size_t i = 0; i < len; i++)
        if (s[i] == ',' || s[i] == '"' || s[i] == '\r' || s[i] == '\n')
            return true;
    return false;
}

/* Valid UTF-8 as it is, but for what readers do not take. */
static void put(struct attn_out *o, const char *s, size_t len)
{
    const char *start = s, *end = s + len;
    for (; s < end; s++) {
        if (*s != '"' && *s != '\0')
            continue;
        attn_out_write(o, start, (size_t)(s - start));
        attn_out_str(o, *s ? "\"\"" : "\uFFFD");
        start = s + 1;
    }
    attn_out_write(o, start, (size_t)(end - start));
}

void attn_cell_text(struct attn_out *o, const char *s, size_t len)
{
    bool quotes = needs_quotes(s, len);
    if (quotes)
        attn_out_char(o, '"');
    for (;;) {
        size_t good = attn_utf8_valid(s, len), broken;
        put(o, s, good);
        if (good == len)
            break;
        attn_utf8_next(s + good, len - good, &broken);
        attn_out_str(o, "\uFFFD");
        s += good + broken;
        len -= good + broken;
    }
    if (quotes)
        attn_out_char(o, '"');
}

void attn_cell_token(struct attn_out *o, const struct attn_token *t)
{
    if (t->known)
        attn_cell_text(o, t->text, t->text_len);
    else
        attn_out_u64(o, (uint64_t)t->id);
}

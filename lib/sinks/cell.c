#include "sinks/cell.h"

#include <string.h>

#include "base/utf8.h"

static bool needs_quotes(const char *s, size_t len)
{
    if (len && (s[0] == ' ' || s[len - 1] == ' '))
        return true;
    for (size_t i = 0; i < len; i++)
        if (strchr(",\"\r\n", s[i]) && s[i])
            return true;
    return false;
}

/* Valid UTF-8, quotes doubled. */
static void put(struct attn_out *o, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '"')
            attn_out_char(o, '"');
        if (s[i])
            attn_out_char(o, s[i]);
        else
            attn_out_str(o, "\uFFFD");
    }
}

void attn_cell_text(struct attn_out *o, const char *s, size_t len)
{
    bool quotes = needs_quotes(s, len);
    if (quotes)
        attn_out_char(o, '"');
    for (;;) {
        size_t good = attn_utf8_valid(s, len);
        put(o, s, good);
        if (good == len)
            break;
        attn_out_str(o, "\uFFFD");
        s += good + 1;
        len -= good + 1;
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

#include "sinks/label.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

static const char ellipsis[] = "…";     /* one column */

/* Characters that show nothing, or turn the direction of what follows. */
static bool invisible(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || (c != ' ' && attn_utf8_space(c)) ||
           (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
           c == 0xFEFF;
}

/* The visible form of the first character of s, NUL-terminated; returns how many bytes it stands for. */
static size_t visible(char out[16], const char *s, size_t len)
{
    size_t step = 1, upto = len < 4 ? len : 4;
    size_t good = attn_utf8_valid(s, upto);
    if (!good) {
        snprintf(out, 16, "\\x%02X", (unsigned char)s[0]);
        return 1;
    }
    uint32_t c = attn_utf8_next(s, good, &step);
    if (c == ' ' || c == '\n' || c == '\t')
        snprintf(out, 16, "%s", c == ' ' ? "·" : c == '\n' ? "↵" : "→");
    else if (invisible(c))
        snprintf(out, 16, c < 0x80 ? "\\x%02X" : "\\u{%X}", (unsigned)c);
    else
        snprintf(out, 16, "%.*s", (int)step, s);
    return step;
}

struct attn_label attn_label_text(const char *s, size_t len, size_t max_columns)
{
    struct attn_label l = { .columns = 0 };
    size_t n = 0, cut = 0, cut_columns = 0;     /* cut: where an ellipsis still fits */
    while (len) {
        char form[16];
        size_t step = visible(form, s, len), bytes = strlen(form), columns = attn_utf8_width(form, bytes);
        if (l.columns + columns > max_columns || n + bytes + sizeof ellipsis > sizeof l.text) {
            memcpy(l.text + cut, ellipsis, sizeof ellipsis);
            l.columns = cut_columns + 1;
            return l;
        }
        memcpy(l.text + n, form, bytes);
        n += bytes;
        l.columns += columns;
        if (l.columns < max_columns) {
            cut = n;
            cut_columns = l.columns;
        }
        s += step;
        len -= step;
    }
    l.text[n] = '\0';
    return l;
}

struct attn_label attn_label_token(const struct attn_token *t, size_t max_columns)
{
    return t->known ? attn_label_text(t->text, t->text_len, max_columns) : attn_label_number((uint64_t)t->id);
}

struct attn_label attn_label_number(uint64_t x)
{
    struct attn_label l;
    l.columns = attn_num_u64(l.text, x);
    l.text[l.columns] = '\0';
    return l;
}

void attn_label_pad(struct attn_out *o, size_t columns)
{
    while (columns--)
        attn_out_char(o, ' ');
}

void attn_label_left(struct attn_out *o, const struct attn_label *l, size_t columns)
{
    attn_out_str(o, l->text);
    if (l->columns < columns)
        attn_label_pad(o, columns - l->columns);
}

void attn_label_right(struct attn_out *o, const struct attn_label *l, size_t columns)
{
    if (l->columns < columns)
        attn_label_pad(o, columns - l->columns);
    attn_out_str(o, l->text);
}

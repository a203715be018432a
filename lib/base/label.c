#include "base/label.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

static const char ellipsis[] = "…";     /* one column */

/* Characters that show nothing, or turn the direction of what follows; white space is beside them. */
static bool invisible(uint32_t c)
{
    static const struct { uint32_t first, last; } ranges[] = {
        { 0x00, 0x1F }, { 0x7F, 0x9F }, { 0xAD, 0xAD }, { 0x61C, 0x61C }, { 0x180E, 0x180E }, { 0x200B, 0x200F },
        { 0x202A, 0x202E }, { 0x2060, 0x206F }, { 0xFEFF, 0xFEFF }, { 0xFFF9, 0xFFFB }, { 0xE0000, 0xE007F },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return attn_utf8_space(c);
}

/* The visible form of the first character of s, NUL-terminated; returns how many bytes it stands for. */
static size_t visible(char out[16], const char *s, size_t len, const char *space)
{
    size_t step, good = attn_utf8_valid(s, len < 4 ? len : 4);
    if (!good) {
        snprintf(out, 16, "\\x%02X", (unsigned char)s[0]);
        return 1;
    }
    uint32_t c = attn_utf8_next(s, good, &step);
    if (c == ' ' || c == '\n' || c == '\t') {
        strcpy(out, c == ' ' ? space : c == '\n' ? "↵" : "→");
    } else if (invisible(c)) {
        snprintf(out, 16, c < 0x80 ? "\\x%02X" : "\\u{%X}", (unsigned)c);
    } else {
        memcpy(out, s, step);
        out[step] = '\0';
    }
    return step;
}

static struct attn_label make(const char *s, size_t len, size_t max_columns, const char *space)
{
    struct attn_label l = { .columns = 0 };
    size_t n = 0, cut = 0, cut_columns = 0;     /* cut: where an ellipsis still fits */
    while (len) {
        char form[16];
        size_t step = visible(form, s, len, space), bytes = strlen(form), columns = attn_utf8_width(form, bytes);
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

struct attn_label attn_label_text(const char *s, size_t len, size_t max_columns)
{
    return make(s, len, max_columns, "·");
}

struct attn_label attn_label_line(const char *s, size_t len, size_t max_columns)
{
    return make(s, len, max_columns, " ");
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
    static const char blanks[] = "                ";
    for (; columns >= sizeof blanks; columns -= sizeof blanks - 1)
        attn_out_write(o, blanks, sizeof blanks - 1);
    attn_out_write(o, blanks, columns);
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

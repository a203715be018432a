#include "text/label.h"

#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

static const char ellipsis[] = "…";     /* one column wide */

static size_t visible(char out[ATTN_VISIBLE], const char *s, size_t len, const char *space)
{
    const char *sign = *s == ' ' ? space : *s == '\n' ? "↵" : *s == '\t' ? "→" : NULL;
    if (!sign)
        return attn_utf8_visible(out, s, len);
    strcpy(out, sign);
    return 1;
}

static struct attn_label make(const char *s, size_t len, size_t max_columns, const char *space)
{
    struct attn_label l;                /* not cleared: that would take longer than most labels */
    size_t n = 0, cut = 0, cut_columns = 0;     /* cut: the last position where an ellipsis still fits */
    for (l.columns = 0; len > 0; ) {
        char form[ATTN_VISIBLE] = {*s};
        bool plain = *s > ' ' && *s < 0x7F;
        size_t step = plain ? 1 : visible(form, s, len, space), bytes = plain ? 1 : strlen(form);
        size_t columns = plain ? 1 : attn_utf8_width(form, bytes);
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

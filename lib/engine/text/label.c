#include "text/label.h"

#include <string.h>

#include "base/num.h"
#include "base/size.h"

static const char ellipsis[] = "…";     /* one column wide */

/* What a character at s, or several plain ones, show as: the text, its bytes and columns, and its bytes of s. */
struct shown { const char *text; size_t bytes, columns, from; };

/* Characters that show as themselves: as many as there are, at most `most`. */
static size_t count_plain(const char *s, size_t most)
{
    size_t n = 0;
    while (n < most && s[n] > ' ' && s[n] < 0x7F)
        n++;
    return n;
}

static struct shown show(const char *s, size_t len, size_t most, const char *space, char room[ATTN_VISIBLE])
{
    size_t plain = count_plain(s, smaller(len, larger(most, 1)));
    if (plain)
        return (struct shown){s, plain, plain, plain};
    const char *sign = *s == ' ' ? space : *s == '\n' ? "↵" : *s == '\t' ? "→" : NULL;
    if (sign)
        return (struct shown){sign, strlen(sign), 1, 1};
    size_t from = attn_utf8_visible(room, s, len), bytes = strlen(room);
    return (struct shown){room, bytes, attn_utf8_width(room, bytes), from};
}

static struct attn_label make(const char *s, size_t len, size_t max_columns, const char *space)
{
    struct attn_label l;                /* not cleared: that would take longer than most labels */
    size_t cut = 0, cut_columns = 0;    /* cut: the last position where an ellipsis still fits */
    for (l.bytes = l.columns = 0; len > 0; ) {
        char shown[ATTN_VISIBLE];
        size_t columns_left = max_columns - l.columns, bytes_left = sizeof l.text - sizeof ellipsis - l.bytes;
        struct shown c = show(s, len, smaller(columns_left, bytes_left), space, shown);
        if (c.columns > columns_left || c.bytes > bytes_left) {
            memcpy(l.text + cut, ellipsis, sizeof ellipsis);
            l.bytes = cut + sizeof ellipsis - 1;
            l.columns = cut_columns + 1;
            return l;
        }
        memcpy(l.text + l.bytes, c.text, c.bytes);
        l.bytes += c.bytes;
        l.columns += c.columns;
        size_t back = l.columns == max_columns && c.text == s;          /* to before the last of plain characters */
        if (l.columns - back < max_columns) {
            cut = l.bytes - back;
            cut_columns = l.columns - back;
        }
        s += c.from;
        len -= c.from;
    }
    l.text[l.bytes] = '\0';
    return l;
}

struct attn_label attn_label_text(const char *s, size_t len, size_t max_columns)
{
    return make(s, len, max_columns, "·");
}

bool attn_label_has_dots(const struct attn_tokens *t)
{
    bool has = false;
    for (size_t i = 0; i < t->n && !has; i++)
        has = t->tok[i].known && memchr(t->tok[i].text, ' ', t->tok[i].text_len);
    return has;
}

struct attn_label attn_label_line(const char *s, size_t len, size_t max_columns)
{
    return make(s, len, max_columns, " ");
}

struct attn_label attn_label_token(const struct attn_token *t, size_t max_columns)
{
    char part[ATTN_READING];
    size_t len;
    if (!t->known)
        return attn_label_number((uint64_t)t->id);
    const char *text = attn_token_reading(part, t, &len);
    return attn_label_text(text, len, max_columns);
}

struct attn_label attn_label_number(uint64_t x)
{
    struct attn_label l;
    l.bytes = l.columns = attn_num_u64(l.text, x);
    l.text[l.bytes] = '\0';
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
    attn_out_write(o, l->text, l->bytes);
    if (l->columns < columns)
        attn_label_pad(o, columns - l->columns);
}

void attn_label_right(struct attn_out *o, const struct attn_label *l, size_t columns)
{
    if (l->columns < columns)
        attn_label_pad(o, columns - l->columns);
    attn_out_write(o, l->text, l->bytes);
}

#include "sinks/cell.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"

/* Whether a reader could take part of the text for the end of the field, or drop it. */
static bool needs_quotes(const char *s, size_t len)
{
    if (len && (s[0] == ' ' || s[len - 1] == ' '))
        return true;
    for (size_t i = 0; i < len; i++)
        if (s[i] == ',' || s[i] == '"' || s[i] == '\r' || s[i] == '\n')
            return true;
    return false;
}

/* Writes valid UTF-8, with quotes doubled and NULs replaced. */
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

void attn_cell_record(struct attn_out *o, const struct attn_record *r)
{
    attn_out_u64(o, r->number);
    attn_out_char(o, ',');
    attn_out_u64(o, r->line);
    attn_out_char(o, ',');
    if (r->id)
        attn_cell_text(o, r->id, r->id_len);
    attn_out_char(o, ',');
}

void attn_cell_token(struct attn_out *o, const struct attn_token *t)
{
    if (t->known)
        attn_cell_text(o, t->text, t->text_len);
    else
        attn_out_u64(o, (uint64_t)t->id);
}

int attn_cells_make(struct attn_cells *c, const struct attn_tokens *t, struct attn_err *err)
{
    struct attn_out *o;
    size_t len;
    *c = (struct attn_cells){ .end = calloc(t->n + 1, sizeof *c->end) };
    if (!c->end)
        return attn_fail(err, ATTN_ENOMEM, "no memory for the text of %zu tokens", t->n);
    int rc = attn_out_open_memory(&o, err);
    for (size_t i = 0; !rc && i < t->n; i++) {
        size_t start = (size_t)attn_out_bytes(o);
        attn_cell_token(o, &t->tok[i]);
        c->end[i] = (size_t)attn_out_bytes(o);
        if (c->end[i] - start > c->longest)
            c->longest = c->end[i] - start;
    }
    if (!rc)
        rc = attn_out_take(o, &c->text, &len, err);
    attn_out_close(o);
    if (rc)
        attn_cells_free(c);
    return rc;
}

void attn_cells_free(struct attn_cells *c)
{
    free(c->text);
    free(c->end);
    *c = (struct attn_cells){ 0 };
}

size_t attn_cells_put(const struct attn_cells *c, size_t i, char *buf)
{
    size_t start = i ? c->end[i - 1] : 0;
    memcpy(buf, c->text + start, c->end[i] - start);
    return c->end[i] - start;
}

/* query.c - figures of weights from tokens to tokens: whether there are such, and which token looks. */
#include "picture/section.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "text/label.h"

enum { COLUMNS_MOST = 18 };

int attn_weights_check(const struct attn_album *a, const struct attn_sheet *first, const char *figure,
                       struct attn_err *err)
{
    bool weights = first->rows > 0;
    for (const struct attn_sheet *s = first; s && weights; s = attn_album_next_sheet(a, s)) {
        const struct attn_tokens *rows = attn_album_rows(a, s), *columns = attn_album_columns(a, s);
        weights = rows && columns && rows->n == s->rows && columns->n == s->cols;
        for (size_t i = 0; i < s->n * s->rows * s->cols && weights; i++)
            weights = !(s->data[i] < 0 && s->data[i] > -INFINITY);
    }
    if (weights)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "%s: a figure of %s shows weights from tokens to tokens, none below 0: "
                                       "--show pattern", first->title, figure);
}

static size_t by_text(const struct attn_tokens *t, const char *text, size_t *found)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        char part[ATTN_READING];
        size_t len = 0;
        const char *s = t->tok[i].text ? attn_token_reading(part, &t->tok[i], &len) : NULL;
        size_t blank = len && *s == ' ';
        if (s && len - blank == strlen(text) && !memcmp(s + blank, text, len - blank)) {
            *found = i;
            n++;
        }
    }
    return n;
}

static const char *nearest(const struct attn_tokens *t, const char *text,
                           char buf[sizeof((struct attn_label *)0)->text])
{
    struct attn_near near;
    unsigned best = ATTN_FAR;
    *buf = '\0';
    attn_near_start(&near, text, strlen(text));
    for (size_t i = 0; i < t->n; i++) {
        struct attn_label l = attn_label_token(&t->tok[i], COLUMNS_MOST);
        size_t dot = strncmp(l.text, "\xC2\xB7", 2) ? 0 : 2;
        unsigned far = attn_near(&near, l.text + dot, l.bytes - dot, best);
        if (far < best) {
            best = far;
            strcpy(buf, l.text + dot);
        }
    }
    return buf;
}

int attn_query_find(size_t *row, const struct attn_tokens *t, const char *query, struct attn_err *err)
{
    char word[sizeof((struct attn_label *)0)->text];
    size_t digits = strspn(query, "0123456789"), index = 0, n = by_text(t, query, row);
    if (n == 1)
        return ATTN_OK;
    for (size_t i = 0; i < digits && index < t->n; i++)
        index = 10 * index + (size_t)(query[i] - '0');
    if (digits && !query[digits] && index < t->n) {
        *row = index;
        return ATTN_OK;
    }
    if (n)
        return attn_fail(err, ATTN_EUSAGE, "--query: %zu tokens read '%.60s': give an index, 0 to %zu", n, query,
                         t->n - 1);
    nearest(t, query, word);
    return attn_fail(err, ATTN_EUSAGE, "--query: no token reads '%.60s'%s%s%s: give its text or its index, 0 to %zu",
                     query, *word ? ", did you mean '" : "", word, *word ? "'" : "", t->n - 1);
}

#include "picture/album.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

static int make_room(float **out, const struct attn_sheet *s, struct attn_err *err)
{
    size_t n, bytes;
    bool huge = __builtin_mul_overflow(s->n, s->rows, &n) || __builtin_mul_overflow(n, s->cols, &n) ||
                __builtin_mul_overflow(n, sizeof **out, &bytes);
    *out = huge ? NULL : calloc(n ? n : 1, sizeof **out);
    return *out ? ATTN_OK : attn_no_memory(err, NULL, "to draw %s: %zu matrices of %zu x %zu numbers; choose layers "
                                      "and heads with --layer and --head", s->title, s->n, s->rows, s->cols);
}

int attn_album_add(struct attn_album *a, const struct attn_sheet *what, float **own, struct attn_err *err)
{
    struct attn_sheet *more = attn_grow(a->sheet, &a->room, a->n + 1, sizeof *more), add = *what;
    if (!more)
        return attn_no_memory(err, NULL, "to list %zu activations", a->n + 1);
    a->sheet = more;
    int rc = add.data ? ATTN_OK : make_room(&add.own, &add, err);
    if (rc)
        return rc;
    if (add.own)
        add.data = *own = add.own;
    a->sheet[a->n++] = add;
    return ATTN_OK;
}

int attn_album_mask(struct attn_album *a, unsigned char **out, size_t cells, struct attn_err *err)
{
    unsigned char **more = attn_grow(a->mask, &a->masks_room, a->n_masks + 1, sizeof *more);
    a->mask = more ? more : a->mask;
    *out = more ? calloc(cells + 1, 1) : NULL;
    if (!*out)
        return attn_no_memory(err, NULL, "for a mask of %zu keys", cells);
    a->mask[a->n_masks++] = *out;
    return ATTN_OK;
}

void attn_album_free(struct attn_album *a)
{
    for (size_t i = 0; i < a->n_masks; i++)
        free(a->mask[i]);
    free(a->mask);
    for (size_t i = 0; i < a->n; i++)
        free(a->sheet[i].own);
    for (size_t i = 0; i < a->n_lens; i++)
        free(a->lens[i].at);
    free(a->lens);
    free(a->without);
    free(a->scored);
    free(a->sheet);
}

const struct attn_tokens *attn_album_rows(const struct attn_album *a, const struct attn_sheet *s)
{
    return s->of_keys ? a->keys : a->queries;
}

const struct attn_tokens *attn_album_columns(const struct attn_album *a, const struct attn_sheet *s)
{
    return s->keys ? a->keys : NULL;
}

void attn_album_edits(char text[ATTN_ALBUM_EDITS], const struct attn_album *a)
{
    enum { ENOUGH = 80, COLUMNS = 48 };
    size_t n = attn_edits_count(a->edits), at = 0;
    *text = '\0';
    for (size_t i = 0; i < n; i++) {
        const char *edit = attn_edits_text(a->edits, i);
        struct attn_label l = attn_label_line(edit, strlen(edit), COLUMNS);
        if (at > ENOUGH) {
            snprintf(text + at, ATTN_ALBUM_EDITS - at, " and %zu more", n - i);
            return;
        }
        at += (size_t)snprintf(text + at, ATTN_ALBUM_EDITS - at, "%s%s", i ? ", " : ", edited: ", l.text);
    }
}

bool attn_album_rows_are_tokens(const struct attn_album *a, const struct attn_sheet *s)
{
    const struct attn_tokens *tokens = attn_album_rows(a, s);
    if (s->axes && strstr(s->axes, "rows: "))
        return strstr(s->axes, "rows: queries");
    return tokens && tokens->n == s->rows;
}

/* Sorts pointers to sheets by kind, then in order. */
static int by_kind(const void *a, const void *b)
{
    const struct attn_sheet *x = *(struct attn_sheet *const *)a, *y = *(struct attn_sheet *const *)b;
    int order = strcmp(x->kind, y->kind);
    return order ? order : (x > y) - (x < y);
}

int attn_album_link(struct attn_album *a, struct attn_err *err)
{
    struct attn_sheet **order = calloc(a->n + 1, sizeof *order);
    if (!order)
        return attn_no_memory(err, NULL, "to sort %zu activations", a->n);
    for (size_t i = 0; i < a->n; i++)
        order[i] = &a->sheet[i];
    qsort(order, a->n, sizeof *order, by_kind);
    for (size_t i = a->n; i-- > 0;) {
        bool last = i + 1 == a->n || strcmp(order[i]->kind, order[i + 1]->kind) != 0;
        order[i]->next = last ? a->n : (size_t)(order[i + 1] - a->sheet);
    }
    for (size_t i = 0; i < a->n; i++) {
        bool first = i == 0 || strcmp(order[i]->kind, order[i - 1]->kind) != 0;
        order[i]->opens = first ? (size_t)(order[i] - a->sheet) : order[i - 1]->opens;
    }
    free(order);
    return ATTN_OK;
}

bool attn_album_opens_kind(const struct attn_album *a, size_t i)
{
    return a->sheet[i].opens == i;
}

const struct attn_sheet *attn_album_next_sheet(const struct attn_album *a, const struct attn_sheet *s)
{
    return s->next < a->n ? &a->sheet[s->next] : NULL;
}

bool attn_sheet_hides(const struct attn_sheet *s, size_t r, size_t c)
{
    float x = s->data[r * s->cols + c];
    return s->mask && s->mask[(s->masks ? r : r % s->rows) * s->cols + c] && (x == 0 || x == -INFINITY);
}

void attn_sheet_call(char text[64], const struct attn_sheet *s, size_t i, size_t brevity)
{
    static const char *const words[ATTN_BREVITIES][5] = {
        {"layer ", ", ", "head ", "step ", "kv head "}, {"L", " ", "H", "s", "KV"}, {"", ".", "", "", ""}};
    const char *const *word = words[brevity];
    size_t head = s->heads ? s->heads[i] : s->steps ? s->head : ATTN_NO_HEAD, n = 0;
    text[0] = '\0';
    if (s->name)
        n += (size_t)snprintf(text, 64, "%.31s", s->name);
    else if (s->layer >= 0)
        n += (size_t)snprintf(text, 64, "%s%d", word[0], s->layer);
    if (head != ATTN_NO_HEAD)
        n += (size_t)snprintf(text + n, 64 - n, "%s%s%zu", n ? word[1] : "", word[s->shared ? 4 : 2], head);
    if (s->steps)
        snprintf(text + n, 64 - n, "%s%s%zu", n ? word[1] : "", word[3], s->steps[i]);
}

const char *attn_sheet_title(const struct attn_sheet *s, const struct attn_language *l)
{
    return s->said ? s->said : attn_tr(l, s->title);
}

void attn_sheet_say(char text[64], const struct attn_sheet *s, const struct attn_language *l)
{
    size_t n = 0;
    if (!l || s->name || s->steps) {
        attn_sheet_call(text, s, 0, 0);
        return;
    }
    text[0] = '\0';
    if (s->layer >= 0)
        n = (size_t)snprintf(text, 64, attn_tr(l, "layer %d"), s->layer);
    if (s->heads && n)
        n += (size_t)snprintf(text + n, 64 - n, "%s", attn_tr(l, ", "));
    if (s->heads)
        snprintf(text + n, 64 - n, s->shared ? attn_tr(l, "kv head %zu") : attn_tr(l, "head %zu"), s->heads[0]);
}

/* grid.c - the same head under each kind of attention, as a picture with one sheet for each kind. */
#include "variants/variants.h"

#include "base/err.h"
#include "picture/album.h"
#include "picture/look.h"
#include "sinks/sink.h"

#include <stdio.h>

static int add(struct attn_album *a, const struct attn_variants *s, size_t i, const char *title, struct attn_err *err)
{
    size_t T = s->tokens->n;
    float *own;
    const struct attn_sheet sheet = {.kind = "attn.pattern", .title = title, .axes = " (rows: queries, columns: keys)", .layer = (int)i,
                                     .name = s->v[i].name, .n = 1, .rows = T, .cols = T, .keys = true, .data = s->v[i].drawn};
    return attn_album_add(a, &sheet, &own, err);
}

int attn_variants_grid(struct attn_out *o, const struct attn_variants *s, const char *format, struct attn_err *err)
{
    char title[80];
    struct attn_look look;
    struct attn_album a = {.model = s->model->source.name, .text = s->o->text, .text_len = s->o->text_len, .queries = s->tokens,
                           .keys = s->tokens};
    snprintf(title, sizeof title, "attention pattern of layer %zu, head %zu", s->o->layer, s->o->head);
    int rc = attn_look_make(&look, &s->o->picture, err);
    look.width = s->o->width;
    for (size_t i = 0; i < s->n && !rc; i++)
        rc = add(&a, s, i, title, err);
    if (!rc)
        rc = attn_album_link(&a, err);
    if (!rc)
        rc = attn_format_find(format)->methods->draw(o, &a, &look, err);
    attn_album_free(&a);
    return rc;
}

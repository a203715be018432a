/* gguf_save.c - the tensors of a GGUF model as in the Hugging Face directory that it was made from.
 *
 * The configuration that was made of the metadata says which tensors that directory has, and their shapes; each part of
 * the model has a view of its numbers, whatever tensor and order of rows the file keeps them in.  So a tensor is made
 * by writing its parts' numbers where the family has them. */
#include "attn_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "compute/vec.h"
#include "model/gguf_model.h"
#include "model/layout.h"
#include "model/model.h"

struct saving {
    struct attn_recast as;              /* its first member, by which it is known elsewhere */
    const struct attn_model *m;
    const struct attn_save_opts *o;     /* NULL: types are those of the file */
    struct attn_config config;          /* as the directory's config.json says */
    struct made { struct attn_slot slot; size_t tensor; } *made; size_t n, made_room;       /* parts, in the order of
                                                                                             * the forward pass */
};

static int no_memory(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "to convert a GGUF model");
}

/* ---- what there is --------------------------------------------------------------------- */

/* The numbers of a part: a matrix, or a vector. */
struct numbers { const struct attn_mat *mat; struct attn_vec vec; };

static struct numbers numbers_of(const struct attn_model *m, const struct attn_slot *s)
{
    struct attn_weights *w = (struct attn_weights *)&m->w;          /* which only lends addresses */
    const struct attn_mat *mat = attn_slot_mat(w, s);
    if (mat)
        return (struct numbers){mat, s->is_bias ? mat->bias : (struct attn_vec){mat->data, mat->type}};
    const struct attn_norm *norm = attn_slot_norm(w, s);
    return (struct numbers){NULL, s->is_bias ? norm->bias : norm->weight};
}

/* What the numbers of a stored type are written in. */
static const char *type_for(const struct saving *s, enum attn_dtype stored)
{
    if (!s->o)
        return attn_dtypes[stored].name;
    return s->o->dtype ? s->o->dtype : attn_dtype_in_blocks(stored) ? "F16" : attn_dtypes[stored].name;
}

static int add_part(struct saving *s, const struct attn_slot *slot, enum attn_dtype stored, struct attn_err *err)
{
    struct attn_st *st = &s->as.st;
    size_t n = st->names.n, i = attn_strings_add(&st->names, slot->name, strlen(slot->name));
    struct made *made = attn_grow(s->made, &s->made_room, s->n + 1, sizeof *made);
    s->made = made ? made : s->made;
    struct attn_st_tensor *t = i == ATTN_STRINGS_NONE ? NULL : attn_grow(st->tensor, &st->room, i + 1, sizeof *t);
    st->tensor = t ? t : st->tensor;
    if (!made || !t)
        return no_memory(err);
    made[s->n++] = (struct made){*slot, i};
    const char *type = type_for(s, stored);
    if (i == n)
        t[i] = (struct attn_st_tensor){.dtype = type, .ndim = slot->ndim, .shape = {slot->shape[0], slot->shape[1]}};
    else if (strcmp(t[i].dtype, type) != 0)
        t[i].dtype = "F32";             /* which holds the numbers of both */
    return ATTN_OK;
}

/* Biases that the family may have and the file has not are left out. */
static int list_parts(struct saving *s, struct attn_err *err)
{
    struct attn_layout walk = attn_layout_start(&s->config);
    struct attn_slot slot;
    int rc = ATTN_OK;
    while (!rc && attn_layout_next(&walk, &slot)) {
        struct attn_vec v = numbers_of(s->m, &slot).vec;
        if (v.data)
            rc = add_part(s, &slot, v.type, err);
        else if (slot.required)
            rc = attn_fail(err, ATTN_EFORMAT, "%s: has nothing for '%s', which a directory of family %s must have",
                           s->m->source.path, slot.name, s->config.family->name);
    }
    for (size_t i = 0; i < s->as.st.names.n && !rc; i++) {
        struct attn_st_tensor *t = &s->as.st.tensor[i];
        t->name = attn_strings_at(&s->as.st.names, i, NULL);
        t->count = t->shape[0] * (t->ndim > 1 ? t->shape[1] : 1);   /* no more than the file has */
        t->bytes = t->count * (s->o ? attn_st_element(t->dtype) : sizeof(float));
    }
    return rc;
}

/* ---- making a tensor ------------------------------------------------------------------- */

/* Where output j of a part is in its tensor. */
static size_t place_of(const struct attn_slot *s, size_t j)
{
    return s->first + (s->group ? j / s->group * s->step + j % s->group : j);
}

/* A table's rows, a matrix by outputs as rows, or as columns.  row: room for one. */
static void put_matrix(float *to, const struct attn_slot *s, const struct attn_mat *w, float *row)
{
    size_t width = s->shape[1];
    if (!w->transposed)
        for (size_t i = 0; i < w->in; i++)
            attn_vec_widen(to + (i + s->first) * width, w->data, w->type, i * w->ld, w->out);
    for (size_t j = 0; w->transposed && j < w->out; j++) {
        size_t at = attn_mat_index(w, j) * w->ld, place = place_of(s, j);
        attn_vec_widen(s->transposed ? to + place * width : row, w->data, w->type, at, w->in);
        for (size_t i = 0; !s->transposed && i < w->in; i++)
            to[i * width + place] = row[i];
    }
}

static void put_vector(float *to, const struct attn_slot *s, const struct numbers *x, bool from_one)
{
    for (size_t j = 0; j < s->out; j++) {
        size_t at = x->mat ? attn_mat_index(x->mat, j) : s->piece * s->out + j;
        float *y = &to[x->mat ? place_of(s, j) : j];
        attn_vec_widen(y, x->vec.data, x->vec.type, at, 1);
        if (!x->mat && !s->is_bias && from_one)
            *y -= 1;
    }
}

static int make_numbers(const struct saving *s, size_t tensor, float *to, struct attn_err *err)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct attn_slot *slot = &s->made[i].slot;
        if (s->made[i].tensor != tensor)
            continue;
        struct numbers x = numbers_of(s->m, slot);
        if (!x.mat || slot->is_bias) {
            put_vector(to, slot, &x, s->config.norm_from_one);
            continue;
        }
        float *row = malloc((x.mat->in + 1) * sizeof *row);
        if (!row)
            return no_memory(err);
        put_matrix(to, slot, x.mat, row);
        free(row);
    }
    return ATTN_OK;
}

static int make(const struct attn_recast *r, size_t tensor, float *to, struct attn_err *err)
{
    return make_numbers((const struct saving *)r, tensor, to, err);
}

/* ---- all of them ----------------------------------------------------------------------- */

struct attn_gguf_model attn_gguf_tied(const struct attn_gguf_model *m)
{
    struct attn_gguf_model tied = *m;
    const struct attn_st_tensor *embed = attn_gguf_model_tensor(m, "token_embd.weight"),
                                *output = attn_gguf_model_tensor(m, "output.weight");
    tied.tied = embed && output && embed->bytes == output->bytes && !strcmp(embed->dtype, output->dtype) &&
                !memcmp(embed->data, output->data, embed->bytes) && !attn_gguf_model_tensor(m, "output.bias");
    return tied;
}

static int start(struct saving *s, struct attn_err *err)
{
    struct attn_map map = {0};
    int rc = attn_source_saved(&s->m->source, "config.json", SIZE_MAX, &map, err);
    if (!rc)
        rc = attn_config_read(&s->config, (const char *)map.data, map.len, "config.json", err);
    attn_map_close(&map);
    return rc ? rc : list_parts(s, err);
}

static void finish(struct attn_recast *r)
{
    struct saving *s = (struct saving *)r;
    attn_config_free(&s->config);
    attn_strings_free(&r->st.names);
    free(r->st.tensor);
    free(s->made);
    free(s);
}

int attn_gguf_recast(struct attn_recast **out, const struct attn_model *m, const struct attn_save_opts *o,
                     struct attn_err *err)
{
    struct saving *s = calloc(1, sizeof *s);
    if (!s)
        return no_memory(err);
    *s = (struct saving){.as = {.make = make, .free = finish}, .m = m, .o = o};
    int rc = start(s, err);
    if (rc)
        finish(&s->as);
    else
        *out = &s->as;
    return rc;
}

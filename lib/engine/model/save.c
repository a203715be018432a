/* attn_model_save: writes an open model as a Hugging Face directory: config.json, model.safetensors and the tokenizer's
 * files.  A GGUF model has them made (gguf_save.c). */
#include "attn_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/narrow.h"
#include "base/size.h"
#include "compute/vec.h"
#include "io/safetensors.h"
#include "model/container.h"
#include "model/model.h"

/* Copied as they are, where the model has them.  In a directory that keeps another model's, they would be misread. */
static const char *const copied[] = {"config.json", "vocab.json", "merges.txt", "tokenizer.json",
                                     "tokenizer_config.json",
                                     "added_tokens.json", "special_tokens_map.json", "tokenizer.model", "tokenizer.bin",
                                     "generation_config.json"};
enum { COPIED = sizeof copied / sizeof *copied };

static const char weights_file[] = "model.safetensors";

static int check_there(const struct attn_model *m, const char *dir, bool replace, struct attn_err *err)
{
    static const char *const weights[] = {weights_file, "model.safetensors.index.json", "pytorch_model.bin",
                                          "pytorch_model.bin.index.json"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        found = attn_folder_has(dir, weights[i]) ? weights[i] : found;
    for (size_t i = 0; i < COPIED; i++) {
        if (!attn_folder_has(dir, copied[i]))
            continue;
        found = copied[i];
        if (replace && !attn_source_saves(&m->source, found))
            return attn_fail(err, ATTN_EUSAGE, "%s: there is %s, which model %s lacks: the two would not belong "
                                               "together; remove it first", dir, found, m->source.name);
    }
    if (!found || replace)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "%s: there is %s already: choose another directory, or replace the files of the "
                                       "model there with --force", dir, found);
}

/* An output layer that is the embedding: PyTorch saves the same bytes under a second name, which nothing reads. */
static bool is_second_name(const struct attn_model *m, const struct attn_st_tensor *t, const bool *used)
{
    return !used[attn_shards_index(&m->weights, t)] && t->data == m->tensor[0]->data && t->bytes == m->tensor[0]->bytes;
}

static size_t list_tensors(const struct attn_model *m, struct attn_st_tensor *list, bool *used)
{
    size_t n = 0;
    for (size_t i = 0; i < m->tensors; i++)
        used[attn_shards_index(&m->weights, m->tensor[i])] = true;
    for (size_t i = 0; i < m->weights.tensors; i++) {
        const struct attn_shard *in;
        const struct attn_st_tensor *t = attn_shards_at(&m->weights, i, &in);
        if (!is_second_name(m, t, used))
            list[n++] = *t;
    }
    return n;
}

/* ---- weights that are made ---- */

/* As other files have them: larger elements first, then by name. */
static int in_order(const void *a, const void *b)
{
    const struct attn_st_tensor *x = *(const struct attn_st_tensor *const *)a,
                                *y = *(const struct attn_st_tensor *const *)b;
    size_t x_size = attn_st_element(x->dtype), y_size = attn_st_element(y->dtype);
    return x_size != y_size ? (x_size > y_size ? -1 : 1) : strcmp(x->name, y->name);
}

/* What comes as float32 is written in the type of the tensor. */
static int make(const struct attn_recast *r, size_t i, float *to, struct attn_err *err)
{
    const struct attn_st_tensor *t = &r->st.tensor[i];
    const struct attn_narrow *type = attn_narrow_find(t->dtype);
    int rc = r->make(r, i, to, err);
    return rc || !type ? rc : attn_narrow(type, to, t->count, t->name, err);
}

static int write_each(struct attn_out *out, const struct attn_st_tensor **order,
                      size_t n, const struct attn_recast *r, const struct attn_save_opts *o, struct attn_err *err)
{
    uint64_t done = 0, all = 0;
    int rc = ATTN_OK;
    for (size_t i = 0; i < n; i++)
        all += order[i]->bytes;
    for (size_t i = 0; i < n && !rc; i++) {
        size_t numbers = order[i]->count * sizeof(float);
        float *x = calloc(1, larger(numbers, order[i]->bytes) + 1);
        rc = x ? make(r, (size_t)(order[i] - r->st.tensor), x, err) :
             attn_no_memory(err, NULL, "for tensor '%s'", order[i]->name);
        if (!rc)
            attn_out_write(out, x, order[i]->bytes);
        done += order[i]->bytes;
        if (!rc && o->step && order[i]->bytes)
            rc = o->step(o->self, done, all, err);
        free(x);
    }
    return rc;
}

static int write_made(struct attn_out *out, const struct attn_recast *r, size_t n, const struct attn_save_opts *o,
                      struct attn_err *err)
{
    const struct attn_st_tensor **order = calloc(n + 1, sizeof *order);
    struct attn_st_tensor *header = calloc(n + 1, sizeof *header);
    int rc = order && header ? ATTN_OK : attn_no_memory(err, NULL, "for a list of %zu tensors", n);
    for (size_t i = 0; i < n && !rc; i++)
        order[i] = &r->st.tensor[i];
    if (!rc && n)
        qsort(order, n, sizeof *order, in_order);
    for (size_t i = 0; i < n && !rc; i++)
        header[i] = *order[i];
    if (!rc)
        rc = attn_st_write_header(out, header, n, err);
    if (!rc)
        rc = write_each(out, order, n, r, o, err);
    free(order);
    free(header);
    return rc;
}

/* Tensors in another type than they are stored in. */
struct retyping { struct attn_recast as; const struct attn_st_tensor *from; };

static int retype(const struct attn_recast *r, size_t i, float *to, struct attn_err *err)
{
    const struct attn_st_tensor *t = &((const struct retyping *)r)->from[i];
    enum attn_dtype type;
    if (!attn_dtype_named(t->dtype, &type)) {           /* a mask of whole numbers, say */
        memcpy(to, t->data, t->bytes);
        return ATTN_OK;
    }
    unsigned char *aligned = malloc(t->bytes + 1);
    if (!aligned)
        return attn_no_memory(err, NULL, "for tensor '%s'", t->name);
    memcpy(aligned, t->data, t->bytes);
    attn_vec_widen(to, aligned, type, 0, t->count);
    free(aligned);
    return ATTN_OK;
}

static int write_retyped(struct attn_out *out, const struct attn_st_tensor *list, size_t n,
                         const struct attn_save_opts *o, struct attn_err *err)
{
    struct attn_st_tensor *to = calloc(n + 1, sizeof *to);
    struct retyping r = {{.st.tensor = to, .make = retype}, list};
    enum attn_dtype type;
    for (size_t i = 0; to && i < n; i++) {
        to[i] = list[i];
        if (!attn_dtype_named(list[i].dtype, &type))
            continue;
        to[i].dtype = o->dtype;
        to[i].bytes = list[i].count * attn_st_element(o->dtype);
    }
    int rc = to ? write_made(out, &r.as, n, o, err) : attn_no_memory(err, NULL, "for a list of %zu tensors", n);
    free(to);
    return rc;
}

static int write_list(struct attn_out *out, const struct attn_st_tensor *list, size_t n, const struct attn_save_opts *o,
                      struct attn_err *err)
{
    const struct attn_st_progress progress = {o->step, o->self};
    return o->dtype ? write_retyped(out, list, n, o, err) : attn_st_write_telling(out, list, n, &progress, err);
}

static int write_recast(struct attn_out *out, const struct attn_model *m, const struct attn_save_opts *o,
                        size_t *tensors, struct attn_err *err)
{
    struct attn_recast *r = NULL;
    int rc = m->source.kind->recast(&r, m, o, err);
    if (rc)
        return rc;
    *tensors = r->st.names.n;
    rc = write_made(out, r, *tensors, o, err);
    r->free(r);
    return rc;
}

static int write_weights(struct attn_out *out, const struct attn_model *m, const struct attn_save_opts *o,
                         size_t *tensors, struct attn_err *err)
{
    if (m->source.kind->recast)
        return write_recast(out, m, o, tensors, err);
    struct attn_st_tensor *list = calloc(m->weights.tensors + 1, sizeof *list);
    bool *used = calloc(m->weights.tensors + 1, sizeof *used);
    int rc = ATTN_OK;
    if (!list || !used)
        rc = attn_no_memory(err, NULL, "for a list of %zu tensors", m->weights.tensors);
    else
        rc = write_list(out, list, *tensors = list_tensors(m, list, used), o, err);
    free(list);
    free(used);
    return rc;
}

static int copy_file(struct attn_out **out, const struct attn_model *m, const char *dir, const char *file,
                     struct attn_err *err)
{
    struct attn_map map;
    if (!attn_source_saves(&m->source, file))
        return ATTN_OK;
    int rc = attn_source_saved(&m->source, file, SIZE_MAX, &map, err);
    if (rc)
        return rc;
    rc = attn_folder_open(out, dir, file, err);
    if (!rc)
        attn_out_write(*out, map.data, map.len);
    attn_map_close(&map);
    return rc;
}

/* Writes everything completely before the first file replaces its target; the weights come last. */
static int write_directory(const struct attn_model *m, const char *dir, const struct attn_save_opts *o, size_t *tensors,
                           struct attn_err *err)
{
    struct attn_out *out[COPIED + 1] = {0};
    int rc = ATTN_OK;
    for (size_t i = 0; i < COPIED && !rc; i++)
        rc = copy_file(&out[i], m, dir, copied[i], err);
    if (!rc)
        rc = attn_folder_open(&out[COPIED], dir, weights_file, err);
    if (!rc)
        rc = write_weights(out[COPIED], m, o, tensors, err);
    if (!rc)
        rc = attn_out_commit_all(out, COPIED + 1, err);
    for (size_t i = 0; i <= COPIED; i++)
        attn_out_close(out[i]);
    return rc;
}

int attn_model_save_held(const struct attn_model *m, const char *dir, const struct attn_save_opts *o, size_t *tensors,
                         struct attn_err *err)
{
    int rc = check_there(m, dir, o->replace, err);
    return rc ? rc : write_directory(m, dir, o, tensors, err);
}

int attn_model_save(const struct attn_model *m, const char *dir, const struct attn_save_opts *o, size_t *tensors,
                    struct attn_err *err)
{
    static const struct attn_save_opts usual;
    struct attn_held held;
    if (o && o->dtype && !attn_narrow_find(o->dtype))
        return attn_fail(err, ATTN_EUSAGE, "weights cannot be written as '%s', expected F32, F16 or BF16", o->dtype);
    if (m->attend)
        return attn_fail(err, ATTN_EUSAGE, "model %s is made of numbers that were given, which no model's file holds",
                         m->source.name);
    int rc = attn_folder_begin(&held, dir, err);
    if (!rc)
        rc = attn_model_save_held(m, dir, o ? o : &usual, tensors, err);
    return attn_folder_end(&held, rc);
}

/* attn_model_save: writes an open model as a Hugging Face directory: config.json, model.safetensors and the tokenizer's
 * files. */
#include "attn_tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "io/safetensors.h"
#include "model/model.h"

/* What is copied as it is, where the model has it.  A directory that has one of these from another model would be
 * misread. */
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
        if (replace && !attn_source_has(&m->source, found))
            return attn_fail(err, ATTN_EUSAGE, "%s: there is %s, which model %s lacks: the two would not belong "
                                               "together; remove it first", dir, found, m->source.name);
    }
    if (!found || replace)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "%s: there is %s already: choose another directory, or replace the files of the "
                                       "model there with --force", dir, found);
}

/* An output layer that is the embedding, as PyTorch saves it, is the same bytes under a second name, which nothing
 * reads. */
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

static int write_weights(struct attn_out *out, const struct attn_model *m, const struct attn_save_opts *o,
                         size_t *tensors, struct attn_err *err)
{
    const struct attn_st_progress progress = {o->step, o->self};
    struct attn_st_tensor *list = calloc(m->weights.tensors + 1, sizeof *list);
    bool *used = calloc(m->weights.tensors + 1, sizeof *used);
    int rc = ATTN_OK;
    if (!list || !used)
        rc = attn_no_memory(err, NULL, "for a list of %zu tensors", m->weights.tensors);
    else
        rc = attn_st_write_telling(out, list, *tensors = list_tensors(m, list, used), &progress, err);
    free(list);
    free(used);
    return rc;
}

static int copy_file(struct attn_out **out, const struct attn_model *m, const char *dir, const char *file,
                     struct attn_err *err)
{
    struct attn_map map;
    if (!attn_source_has(&m->source, file))
        return ATTN_OK;
    int rc = attn_source_open(&m->source, file, SIZE_MAX, &map, err);
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
    int rc = attn_folder_begin(&held, dir, err);
    if (!rc)
        rc = attn_model_save_held(m, dir, o ? o : &usual, tensors, err);
    return attn_folder_end(&held, rc);
}

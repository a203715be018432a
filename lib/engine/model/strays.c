/* strays.c - tensors of a file that no part of the model reads: which may be there, and which would change a number? */
#include "model/strays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/size.h"
#include "model/container.h"
#include "model/layout.h"

static bool is_listed(const char *name, const char *const *list)
{
    while (*list && strcmp(name, *list) != 0)
        list++;
    return *list != NULL;
}

/* "h.3.attn.bias" and the like are masks that some files contain, not weights. */
static bool is_buffer(const struct attn_model *m, const char *name, bool bare)
{
    const struct attn_family *f = m->config.family;
    const char *begins = attn_layout_prefix(&m->config, ATTN_PART_EMBED);
    size_t prefix = bare ? 0 : strlen(begins), block = strlen(f->block);
    if (strncmp(name, begins, prefix))
        return false;
    name += prefix;
    if (strncmp(name, f->block, block))
        return is_listed(name, f->buffers);
    size_t digits = strspn(name + block, "0123456789");
    name += block + digits;
    return digits && *name == '.' && is_listed(name + 1, f->buffers);
}

/* Weights of a model of something else than texts, which the file also has. */
static bool is_beside(const struct attn_family *f, const char *name)
{
    static const char model[] = "model.";
    if (!strncmp(name, model, sizeof model - 1))
        name += sizeof model - 1;
    for (const char *const *p = f->beside; p && *p; p++)
        if (!strncmp(name, *p, strlen(*p)))
            return true;
    return false;
}

/* ---- an output layer that is stored although it is tied to the embedding ---- */

static bool may_be_tied(const struct attn_model *m) { return m->config.tied && !m->config.family->native; }

static bool is_output(const struct attn_model *m, const char *name)
{
    const char *prefix = attn_layout_prefix(&m->config, ATTN_PART_UNEMBED);
    const char *path = m->config.family->part[ATTN_PART_UNEMBED].path;
    size_t n = strlen(path), begins = strlen(prefix);
    name += strncmp(name, prefix, begins) ? 0 : begins;
    return !strncmp(name, path, n) && !strcmp(name + n, ".weight");
}

const struct attn_st_tensor *attn_strays_tied(const struct attn_model *m, const struct attn_shard **in)
{
    const char *prefix = attn_layout_prefix(&m->config, ATTN_PART_UNEMBED);
    char name[ATTN_SLOT_NAME_MAX];
    snprintf(name, sizeof name, "%s%s.weight", prefix, m->config.family->part[ATTN_PART_UNEMBED].path);
    const struct attn_st_tensor *t = may_be_tied(m) ? attn_shards_find(&m->weights, name, in) : NULL;
    return t || !may_be_tied(m) ? t : attn_shards_find(&m->weights, name + strlen(prefix), in);
}

/* Compares the first and the last bytes of an output layer that is stored although it is tied to the embedding.  If
 * they differ, the file contradicts itself, which becomes the model's warning. */
static void compare_tied(struct attn_model *m, const struct attn_st_tensor *t, const struct attn_st_tensor *embed,
                         size_t ends)
{
    size_t last = t->bytes - smaller(ends, t->bytes - ends);            /* compares nothing twice if the ends overlap */
    bool same = t->bytes == embed->bytes && strcmp(t->dtype, embed->dtype) == 0 &&
                memcmp(t->data, embed->data, ends) == 0 &&
                    memcmp(t->data + last, embed->data + last, t->bytes - last) == 0;
    if (!same && !m->warning && attn_asprintf(&m->warning,
                                              "%s: '%s' differs from '%s', but config.json says they are tied "
                                              "(\"tie_word_embeddings\"): the embedding is used; with "
                                              "\"tie_word_embeddings\": false in config.json '%s' would be",
                                              attn_shards_path(&m->weights), t->name, embed->name, t->name) < 0)
        m->warning = NULL;
}

/* Whether t is such an output layer.  In large models only both ends are compared: reading all of it would take longer
 * than a short run. */
static bool is_tied_copy(struct attn_model *m, const struct attn_st_tensor *t, const struct attn_st_tensor *embed)
{
    enum { ENDS = 1 << 16 };
    if (!may_be_tied(m) || !is_output(m, t->name))
        return false;
    compare_tied(m, t, embed, attn_model_is_small(m) ? t->bytes : smaller(t->bytes, ENDS));
    return true;
}

void attn_model_compare(struct attn_model *m)
{
    const struct attn_shard *in;
    const struct attn_st_tensor *t = attn_strays_tied(m, &in);
    if (t)
        compare_tied(m, t, m->tensor[0], t->bytes);
}

/* ---- what remains ---- */

int attn_strays_find(struct attn_model *m, const bool *used, struct attn_err *err)
{
    for (size_t i = 0; i < m->weights.tensors; i++) {
        const struct attn_shard *in;
        const struct attn_st_tensor *t = attn_shards_at(&m->weights, i, &in);
        bool known = used[i] || is_buffer(m, t->name, m->bare) || is_beside(m->config.family, t->name);
        if (!known && !is_tied_copy(m, t, m->tensor[0]))
            return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' has no place in the model that %s describes",
                             in->path, t->name, m->source.kind->config);
    }
    return ATTN_OK;
}

/* Whether `name` is that of the embedding or the output layer of a model that needs only one of them. */
static bool is_tied_name(const struct attn_model *m, const char *name)
{
    const char *prefix = attn_layout_prefix(&m->config, ATTN_PART_EMBED);
    char embed[ATTN_SLOT_NAME_MAX];
    snprintf(embed, sizeof embed, "%s%s.weight", prefix, m->config.family->part[ATTN_PART_EMBED].path);
    return may_be_tied(m) && (is_output(m, name) || !strcmp(name, embed) || !strcmp(name, embed + strlen(prefix)));
}

int attn_strays_absent(const struct attn_model *m, struct attn_err *err)
{
    for (size_t i = 0; i < m->weights.n_absent; i++) {
        const char *tensor = m->weights.absent[i].tensor;
        bool buffer = is_buffer(m, tensor, true) || is_buffer(m, tensor, false);
        if (!buffer && !is_tied_name(m, tensor) && !is_beside(m->config.family, tensor))
            return attn_shards_lack(&m->weights, &m->weights.absent[i], err);
    }
    return ATTN_OK;
}

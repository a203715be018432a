/* contrast.c - opens two models, or files of weights, as far as they can be compared without a run. */
#include "compare/contrast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/format.h"

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Whether the models that are known by a name have this one. */
static bool is_name(const char *name)
{
    struct attn_source s;
    struct attn_err why = {0};
    if (attn_source_find(&s, name, NULL, &why))
        return false;
    bool there = attn_source_has(&s, "config.json");
    attn_source_free(&s);
    return there;
}

/* Whether a file is a whole model, as those of courses are, and not weights alone, or those of an unknown
 * architecture; a file out of reach is neither. */
static int find_model(bool *is, const char *path, struct attn_err *err)
{
    struct attn_source s;
    struct attn_err why = {0};
    int rc = attn_source_find(&s, path, NULL, &why);
    *is = !rc && (!s.kind->known || s.kind->known(&s));
    if (!rc)
        attn_source_free(&s);
    return rc == ATTN_EIO || rc == ATTN_ENOMEM ? attn_fail_as(err, &why) : ATTN_OK;
}

bool attn_contrast_takes(const char *path)
{
    static const char *const endings[] = {".safetensors", ".bin", ".pt", ".pth", ".gguf"};
    struct attn_err why = {0};
    struct stat st;
    bool is;
    if (stat(path, &st))
        return is_name(path);
    for (size_t i = 0; S_ISREG(st.st_mode) && i < sizeof endings / sizeof *endings; i++)
        if (attn_ends_with(path, endings[i]))
            return true;
    if (S_ISREG(st.st_mode))
        return !find_model(&is, path, &why) && is;
    struct attn_source s = {.kind = &attn_container_directory, .dir = (char *)path};
    return S_ISDIR(st.st_mode) && (attn_source_has(&s, "config.json") || attn_shards_there(&s));
}

/* ---- one side ---- */

static int read_config(struct attn_contrast_side *s, struct attn_err *err)
{
    struct attn_err why = {0};
    if (!attn_source_has(&s->source, "config.json"))
        return ATTN_OK;
    s->path = attn_source_path(&s->source, "config.json");
    if (!s->path)
        return attn_no_memory(err, NULL, "for a path");
    int rc = attn_source_saved(&s->source, "config.json", ATTN_CONFIG_LIMIT, &s->map, err);
    if (rc)
        return rc;
    rc = attn_config_read(&s->config, (const char *)s->map.data, s->map.len, s->path, &why);
    s->known = !rc;
    return rc == ATTN_ENOMEM ? attn_fail_as(err, &why) : ATTN_OK;
}

/* Tensors with the names, shapes and rows of the family; an unknown model is compared by its own names.  One that
 * is out of reach, though it was read a moment ago, is no difference but a failure. */
static int take_recast(struct attn_contrast_side *s, const char *name, struct attn_err *err)
{
    struct attn_err why = {0};
    int rc = attn_model_open(&s->model, name, &why);
    if (!rc)
        rc = s->source.kind->recast(&s->recast, s->model, NULL, &why);
    if (rc)
        return rc == ATTN_ENOMEM || rc == ATTN_EIO ? attn_fail_as(err, &why) : ATTN_OK;
    struct attn_shard *file = s->weights.shard;
    const size_t bytes = s->weights.bytes;
    attn_strings_free(&s->weights.names);
    file->st = &s->recast->st;
    file->before = 0;
    s->weights = (struct attn_shards){.shard = file, .n = 1, .tensors = attn_st_count(file->st), .bytes = bytes,
                                      .lent = true};
    return ATTN_OK;
}

/* A tokenizer that cannot be read is no obstacle: the contrast says why. */
static int open_tokenizer(struct attn_contrast_side *s, const char *name, const struct attn_lacking *given,
                          struct attn_err *err)
{
    struct attn_err why = {0};
    int rc = attn_tokenizer_open_with(&s->tokenizer, name, given, &why);
    if (rc && !(s->why = strdup(why.msg)))
        return attn_no_memory(err, NULL, "for a message");
    return rc == ATTN_ENOMEM ? attn_fail_as(err, &why) : ATTN_OK;
}

static int open_side(struct attn_contrast_side *s, const char *name, const struct attn_lacking *given,
                     struct attn_err *err)
{
    bool model = true;
    if (is_file(name) && !given && find_model(&model, name, err))
        return err->code;
    if (!model)
        return attn_shards_open_file(&s->weights, name, err);
    /* What is here goes before what other places have under this name: it was given as a path. */
    char *path = NULL;
    struct stat st;
    bool here = !strchr(name, '/') && stat(name, &st) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) &&
                attn_asprintf(&path, "./%s", name) > 0;
    int rc = attn_source_find(&s->source, here ? path : name, given, err);
    if (!rc)
        rc = read_config(s, err);
    if (!rc && (s->map.data == NULL || attn_shards_there(&s->source)))
        rc = attn_shards_open(&s->weights, &s->source, err);
    if (!rc && s->source.kind->recast)
        rc = take_recast(s, here ? path : name, err);
    if (!rc)
        rc = open_tokenizer(s, here ? path : name, given, err);
    free(path);
    return rc;
}

static void close_side(struct attn_contrast_side *s)
{
    attn_tokenizer_close(s->tokenizer);
    attn_shards_close(&s->weights);
    if (s->recast)
        s->recast->free(s->recast);
    attn_model_close(s->model);
    attn_config_free(&s->config);
    if (s->map.data)
        attn_map_close(&s->map);
    attn_source_free(&s->source);
    free(s->path);
    free(s->why);
}

/* ---- both ---- */

static int fill(struct attn_contrast *c, const char *const name[2], struct attn_err *err)
{
    int rc = ATTN_OK;
    for (int i = 0; i < 2 && !rc; i++) {
        rc = open_side(&c->side[i], name[i], c->o.given[i], err);
        c->result.config[i] = c->side[i].map.data != NULL;
        c->result.weights[i] = c->side[i].weights.n > 0;
        c->result.tokenizer[i] = c->side[i].tokenizer;
        c->result.why[i] = c->side[i].why;
        c->result.assumed[i] = attn_source_assumed(&c->side[i].source, &c->result.n_assumed[i]);
    }
    if (!rc)
        rc = attn_contrast_configs(c, err);
    if (!rc)
        rc = attn_contrast_texts(c, err);
    if (!rc)
        rc = attn_contrast_weights(c, err);
    if (!rc)
        rc = attn_contrast_types(c, err);
    c->result.field = c->field;
    c->result.token = c->token;
    c->result.file = c->file;
    c->result.weight = c->weight;
    c->result.type = c->type;
    return rc;
}

int attn_contrast_new(struct attn_contrast **out, const char *a, const char *b, const struct attn_contrast_opts *o,
                      struct attn_err *err)
{
    const char *const name[2] = {a, b};
    *out = NULL;
    struct attn_contrast *c = calloc(1, sizeof *c);
    if (!c)
        return attn_no_memory(err, NULL, "to compare two models");
    c->o = o ? *o : (struct attn_contrast_opts){0};
    int rc = fill(c, name, err);
    if (rc)
        attn_contrast_free(c);
    else
        *out = c;
    return rc;
}

void attn_contrast_free(struct attn_contrast *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->result.fields; i++) {
        free((char *)c->field[i].name);
        free((char *)c->field[i].a);
        free((char *)c->field[i].b);
    }
    free(c->field);
    free(c->token);
    free(c->file);
    free(c->weight);
    free(c->type);
    close_side(&c->side[0]);
    close_side(&c->side[1]);
    free(c);
}

const struct attn_contrasted *attn_contrast_result(const struct attn_contrast *c)
{
    return &c->result;
}

bool attn_contrast_differs(const struct attn_contrasted *r)
{
    return r->fields || r->tokens || r->files || r->differing || r->config[0] != r->config[1] ||
           r->weights[0] != r->weights[1];
}

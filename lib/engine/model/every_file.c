#include "model/every_file.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "model/container.h"
#include "model/model.h"

/* In a directory: those of the weights are known once it is open. */
static const char *const sides[] = {"config.json", "generation_config.json", "vocab.json", "merges.txt",
                                    "tokenizer.json",
                                    "tokenizer_config.json", "added_tokens.json", "special_tokens_map.json",
                                    "tokenizer.model", "tokenizer.bin", NULL};

static const char *last(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int attn_file_tell(const struct attn_file_told *to, const char *folder, const char *file, const void *data, size_t len,
                   struct attn_err *err)
{
    char name[ATTN_FILE_NAME];
    int n = folder ? snprintf(name, sizeof name, "%s/%s", folder, file) : snprintf(name, sizeof name, "%s", file);
    if (n < 0 || (size_t)n >= sizeof name)
        return attn_fail(err, ATTN_EUSAGE, "%s: the name is too long for a page", file);
    return to->tell(to->self, name, data, len, err);
}

int attn_file_tell_path(const struct attn_file_told *to, const char *folder, const char *path, struct attn_err *err)
{
    struct attn_map map;
    int rc = attn_map_open_found(&map, path, SIZE_MAX, ATTN_LINKS_FOLLOWED, err);
    if (rc)
        return rc;
    rc = attn_file_tell(to, folder, last(path), map.data, map.len, err);
    attn_map_close(&map);
    return rc;
}

static int tell_side(const struct attn_source *s, const char *file, const struct attn_file_told *to,
                     struct attn_err *err)
{
    struct attn_map map;
    if (!attn_source_has(s, file))
        return ATTN_OK;
    int rc = attn_source_open(s, file, SIZE_MAX, &map, err);
    if (rc)
        return rc;
    rc = attn_file_tell(to, s->name, file, map.data, map.len, err);
    attn_map_close(&map);
    return rc;
}

int attn_model_each_file(const struct attn_model *m, const struct attn_file_told *to, struct attn_err *err)
{
    const struct attn_source *s = &m->source;
    const struct attn_shards *w = &m->weights;
    int rc = ATTN_OK;
    if (s->kind->tell)
        return s->kind->tell(s, to, err);
    for (const char *const *file = sides; *file && !rc && !s->kind->whole; file++)
        rc = tell_side(s, *file, to, err);
    if (!rc && w->index)
        rc = tell_side(s, w->index, to, err);
    for (size_t i = 0; i < w->n && !rc; i++)
        rc = attn_file_tell(to, s->name, last(w->shard[i].path), w->shard[i].map.data, w->shard[i].map.len, err);
    return rc;
}

void attn_model_opens_again(struct attn_opened_again *out, const struct attn_model *m)
{
    const char *elsewhere = m->source.vocabulary;
    *out = (struct attn_opened_again){.as = m->source.as, .has_vocab = elsewhere != NULL};
    snprintf(out->model, sizeof out->model, "%s", m->source.name);
    if (elsewhere && attn_directory_is(elsewhere))
        snprintf(out->vocab, sizeof out->vocab, ATTN_FILE_VOCAB);
    else if (elsewhere)
        snprintf(out->vocab, sizeof out->vocab, ATTN_FILE_VOCAB "/%s", last(elsewhere));
}

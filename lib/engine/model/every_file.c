#include "model/every_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/format.h"
#include "model/course.h"
#include "model/gguf_model.h"
#include "model/model.h"

/* In a directory: those of the weights are known once it is open. */
static const char *const sides[] = {"config.json", "generation_config.json", "vocab.json", "merges.txt",
                                    "tokenizer.json",
                                    "tokenizer_config.json", "added_tokens.json", "special_tokens_map.json",
                                    "tokenizer.model", "tokenizer.bin", NULL};
static const char vocab[] = "vocab";

struct walk { const struct attn_model *m; const struct attn_file_told *to; struct attn_err *err; };

static const char *last(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether the model is a file of its own, and not found by the name of its directory. */
static bool is_alone(const struct attn_model *m)
{
    return attn_source_is_file(&m->source) && !strcmp(m->source.name, last(m->source.course->path));
}

static int tell(const struct walk *w, const char *folder, const char *file, const void *data, size_t len)
{
    char name[ATTN_FILE_NAME];
    int n = folder ? snprintf(name, sizeof name, "%s/%s", folder, file) : snprintf(name, sizeof name, "%s", file);
    if (n < 0 || (size_t)n >= sizeof name)
        return attn_fail(w->err, ATTN_EUSAGE, "%s: the name is too long for a page", file);
    return w->to->tell(w->to->self, name, data, len, w->err);
}

/* ---- directories, and what is built in --------------------------------------------------- */

static int tell_side(const struct walk *w, const char *file)
{
    const struct attn_source *s = &w->m->source;
    struct attn_map map;
    if (!attn_source_has(s, file))
        return ATTN_OK;
    int rc = attn_source_open(s, file, SIZE_MAX, &map, w->err);
    if (rc)
        return rc;
    rc = tell(w, s->name, file, map.data, map.len);
    attn_map_close(&map);
    return rc;
}

static int tell_directory(const struct walk *w)
{
    const struct attn_shards *s = &w->m->weights;
    int rc = ATTN_OK;
    for (const char *const *file = sides; *file && !rc; file++)
        rc = tell_side(w, *file);
    if (!rc && s->index)
        rc = tell_side(w, s->index);
    for (size_t i = 0; i < s->n && !rc; i++)
        rc = tell(w, w->m->source.name, last(s->shard[i].path), s->shard[i].map.data, s->shard[i].map.len);
    return rc;
}

/* ---- a file of its own ------------------------------------------------------------------- */

static int tell_path(const struct walk *w, const char *folder, const char *path)
{
    struct attn_map map;
    int rc = attn_map_open_found(&map, path, SIZE_MAX, ATTN_LINKS_FOLLOWED, w->err);
    if (rc)
        return rc;
    rc = tell(w, folder, last(path), map.data, map.len);
    attn_map_close(&map);
    return rc;
}

static int tell_if_there(const struct walk *w, const char *folder, const char *dir, const char *file)
{
    char *path = NULL;
    if (attn_asprintf(&path, "%s/%s", dir, file) < 0)
        return attn_no_memory(w->err, dir, "for a path");
    int rc = access(path, F_OK) ? ATTN_OK : tell_path(w, folder, path);
    free(path);
    return rc;
}

static int tell_beside(const struct walk *w, const char *folder, const char *dir)
{
    int rc = ATTN_OK;
    for (const char *const *file = sides; *file && !rc; file++)
        if (attn_course_knows(*file))
            rc = tell_if_there(w, folder, dir, *file);
    return rc;
}

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Beside it there may be files of a tokenizer, nanoGPT's characters, and llama2.c's tokenizer for a size. */
static int tell_course(const struct walk *w)
{
    const struct attn_course *c = w->m->source.course;
    const char *folder = is_alone(w->m) ? NULL : w->m->source.name;
    char sized[32];
    snprintf(sized, sizeof sized, "tok%zu.bin", c->V);
    int rc = tell(w, folder, last(c->path), c->map.data, c->map.len);
    if (!rc)
        rc = tell_beside(w, folder, c->dir);
    if (!rc)
        rc = tell_if_there(w, folder, c->dir, "meta.pkl");
    if (!rc)
        rc = tell_if_there(w, folder, c->dir, sized);
    if (rc || !c->vocabulary)
        return rc;
    return is_directory(c->vocabulary) ? tell_beside(w, vocab, c->vocabulary) : tell_path(w, vocab, c->vocabulary);
}

/* ---- all of them ------------------------------------------------------------------------- */

static int tell_gguf(const struct walk *w)
{
    const struct attn_gguf_model *g = w->m->source.gguf;
    int rc = ATTN_OK;
    for (size_t i = 0; i < g->n && !rc; i++)
        rc = tell(w, w->m->source.name, last(g->part[i].path), g->part[i].map.data, g->part[i].map.len);
    return rc;
}

int attn_model_each_file(const struct attn_model *m, const struct attn_file_told *to, struct attn_err *err)
{
    const struct walk w = {m, to, err};
    return m->source.gguf ? tell_gguf(&w) : attn_source_is_file(&m->source) ? tell_course(&w) : tell_directory(&w);
}

void attn_model_opens_again(struct attn_opened_again *out, const struct attn_model *m)
{
    const struct attn_course *c = attn_source_is_file(&m->source) ? m->source.course : NULL;
    const char *elsewhere = c ? c->vocabulary : NULL;
    *out = (struct attn_opened_again){.as = c ? c->said : NULL, .has_vocab = elsewhere != NULL};
    snprintf(out->model, sizeof out->model, "%s", m->source.name);
    if (elsewhere && is_directory(elsewhere))
        snprintf(out->vocab, sizeof out->vocab, "%s", vocab);
    else if (elsewhere)
        snprintf(out->vocab, sizeof out->vocab, "%s/%s", vocab, last(elsewhere));
}

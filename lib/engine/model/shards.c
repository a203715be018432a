#include "model/shards.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/strings.h"
#include "base/tree.h"
#include "io/safetensors.h"
#include "io/torch.h"
#include "model/container.h"
#include "model/hints.h"

/* ---- the index ------------------------------------------------------------------------- */

enum { VALUES_MAX = 1 << 17, FILES_MAX = 1024 };

static int no_memory_for_index(const char *name, struct attn_err *err)
{
    return attn_no_memory(err, name, "for its list of tensors");
}

static bool is_plain(const char *file)
{
    return *file && *file != '.' && !strchr(file, '/') && !strchr(file, '\\') && strlen(file) < 256;
}

/* Finds a file's index in the list, adding it if it is new. */
static int file_of(struct attn_index *x, struct attn_strings *names, const char *file, size_t *at, const char *name,
                   struct attn_err *err)
{
    *at = attn_strings_add(names, file, strlen(file));
    if (*at == ATTN_STRINGS_NONE)
        return no_memory_for_index(name, err);
    if (*at < x->files)
        return ATTN_OK;
    if (x->files == FILES_MAX)
        return attn_fail(err, ATTN_EFORMAT, "%s: more than %d files, expected fewer", name, FILES_MAX);
    x->file[x->files] = strdup(file);
    return x->file[x->files] ? (x->files++, ATTN_OK) : no_memory_for_index(name, err);
}

static int by_tensor(const void *a, const void *b)
{
    const struct attn_index_entry *x = a, *y = b;
    return strcmp(x->tensor, y->tensor);
}

const struct attn_index_entry *attn_index_find(const struct attn_index *x, const char *tensor)
{
    const struct attn_index_entry key = {.tensor = (char *)tensor};
    return x->n ? bsearch(&key, x->entry, x->n, sizeof *x->entry, by_tensor) : NULL;
}

static int add_entry(struct attn_index *x, struct attn_strings *names, const cJSON *v, const char *name,
                     struct attn_err *err)
{
    struct attn_index_entry *e = &x->entry[x->n];
    char found[ATTN_TREE_SHOWN];
    if (!cJSON_IsString(v) || !is_plain(v->valuestring))
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: \"weight_map\" says tensor '%.*s' is in %s, expected the plain name of a file beside it",
                         name, attn_shown(v->string, strlen(v->string)), v->string, attn_tree_show(v, found));
    e->tensor = strdup(v->string);
    if (!e->tensor)
        return no_memory_for_index(name, err);
    x->n++;
    return file_of(x, names, v->valuestring, &e->file, name, err);
}

static int read_map(struct attn_index *x, const cJSON *map, const char *name, struct attn_err *err)
{
    struct attn_strings names = {0};
    const cJSON *v;
    size_t n = 0;
    int rc = ATTN_OK;
    cJSON_ArrayForEach(v, map)
        n++;
    if (!cJSON_IsObject(map) || n == 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: there is no \"weight_map\" with tensors, expected one", name);
    x->entry = calloc(n, sizeof *x->entry);
    x->file = calloc(FILES_MAX, sizeof *x->file);
    if (!x->entry || !x->file)
        return no_memory_for_index(name, err);
    cJSON_ArrayForEach(v, map)
        if (!rc)
            rc = add_entry(x, &names, v, name, err);
    if (!rc)
        qsort(x->entry, x->n, sizeof *x->entry, by_tensor);
    attn_strings_free(&names);
    return rc;
}

int attn_index_read(struct attn_index *out, const char *text, size_t len, const char *name, struct attn_err *err)
{
    cJSON *root = NULL;
    *out = (struct attn_index){0};
    int rc = attn_tree_read(&root, text, len, name, VALUES_MAX, err);
    if (!rc)
        rc = read_map(out, attn_tree_member(root, "weight_map"), name, err);
    cJSON_Delete(root);
    if (rc)
        attn_index_free(out);
    return rc;
}

void attn_index_free(struct attn_index *x)
{
    for (size_t i = 0; i < x->n; i++)
        free(x->entry[i].tensor);
    for (size_t i = 0; i < x->files; i++)
        free(x->file[i]);
    free(x->entry);
    free(x->file);
    *x = (struct attn_index){0};
}

/* ---- the files ------------------------------------------------------------------------- */

/* In the order of preference; of each, one file comes before several. */
static const struct format {
    const char *single, *index;
    int (*open)(struct attn_st **out, const unsigned char *bytes, size_t len, const char *name, struct attn_err *err);
} formats[] = {
    {"model.safetensors", "model.safetensors.index.json", attn_st_open},
    {"pytorch_model.bin", "pytorch_model.bin.index.json", attn_torch_open}
};
enum { FORMATS = sizeof formats / sizeof *formats, INDEX_LIMIT = 64 << 20 };

static int no_memory(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for the list of weight files");
}

static int open_shard(struct attn_shard *sh, const struct attn_source *s, const struct format *f, const char *file,
                      struct attn_err *err)
{
    sh->path = attn_source_path(s, file);
    if (!sh->path)
        return no_memory(err);
    int rc = attn_source_open(s, file, SIZE_MAX, &sh->map, err);
    return rc ? rc : f->open(&sh->st, sh->map.data, sh->map.len, sh->path, err);
}

/* Notes the names of a file's tensors, and which of them another file has. */
static bool note_names(struct attn_shards *s, const struct attn_shard *sh, struct attn_strings *twice)
{
    for (size_t i = 0; i < attn_st_count(sh->st); i++) {
        const char *name = attn_st_at(sh->st, i)->name;
        size_t n = s->names.n, at = attn_strings_add(&s->names, name, strlen(name));
        if (at == ATTN_STRINGS_NONE || (at < n && attn_strings_add(twice, name, strlen(name)) == ATTN_STRINGS_NONE))
            return false;
    }
    return true;
}

int attn_shards_count(struct attn_shards *s, struct attn_shard *sh, bool several, struct attn_strings *twice,
                      struct attn_err *err)
{
    sh->before = s->tensors;
    s->tensors += attn_st_count(sh->st);
    return !several || note_names(s, sh, twice) ? ATTN_OK : no_memory(err);
}

/* twice: becomes the names of tensors that are in several files. */
static int open_files(struct attn_shards *out, const struct attn_source *s, const struct format *f,
                      const char *const *file, size_t n, struct attn_strings *twice, struct attn_err *err)
{
    out->shard = calloc(n + 1, sizeof *out->shard);         /* never of size 0 */
    if (!out->shard)
        return no_memory(err);
    int rc = ATTN_OK;
    for (; out->n < n && !rc; out->n++) {
        struct attn_shard *sh = &out->shard[out->n];
        rc = open_shard(sh, s, f, file[out->n], err);
        if (!rc)
            rc = attn_shards_count(out, sh, n > 1, twice, err);
        out->bytes += sh->map.len;
    }
    return rc;
}

int attn_shards_lack(const struct attn_shards *s, const struct attn_absent *a, struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT,
                     "%s: tensor '%s' is missing; %s says it is here", s->shard[a->file].path, a->tensor,
                     s->index);
}

/* Whether one may be absent is for the model to say. */
static int note_absent(struct attn_shards *s, const struct attn_index *x, struct attn_err *err)
{
    for (size_t i = 0, room = 0; i < x->n; i++) {
        const struct attn_index_entry *e = &x->entry[i];
        const struct attn_shard *in;
        if (attn_shards_find(s, e->tensor, &in))
            continue;
        struct attn_absent *more = attn_grow(s->absent, &room, s->n_absent + 1, sizeof *more);
        if (!more)
            return no_memory(err);
        s->absent = more;
        more[s->n_absent] = (struct attn_absent){strdup(e->tensor), e->file};
        if (!more[s->n_absent++].tensor)
            return no_memory(err);
    }
    return ATTN_OK;
}

static int check_present(const struct attn_shards *s, size_t file, const struct attn_index *x,
                         const struct attn_strings *twice, struct attn_err *err)
{
    const struct attn_shard *sh = &s->shard[file];
    for (size_t i = 0; i < attn_st_count(sh->st); i++) {
        const char *tensor = attn_st_at(sh->st, i)->name;
        const struct attn_index_entry *e = attn_index_find(x, tensor);
        if ((!e || e->file != file) && attn_strings_find(twice, tensor, strlen(tensor)) != ATTN_STRINGS_NONE)
            return attn_fail(err, ATTN_EFORMAT,
                             "%s: tensor '%s' is here and in another file, but %s says it is in %s", sh->path,
                             tensor, s->index, e ? x->file[e->file] : "no file");
    }
    return ATTN_OK;
}

/* Python's readers take only the names of the files from the index.  While each tensor is in one of them it does not
 * matter what else is written there; which of two of the same name counts nothing else could say. */
static int check_index(struct attn_shards *s, const struct attn_index *x, const struct attn_strings *twice,
                       struct attn_err *err)
{
    int rc = note_absent(s, x, err);
    for (size_t i = 0; i < s->n && !rc && twice->n; i++)
        rc = check_present(s, i, x, twice, err);
    return rc;
}

static int open_index(struct attn_shards *out, const struct attn_source *s, const struct format *f,
                      struct attn_err *err)
{
    struct attn_map map;
    struct attn_index x = {0};
    struct attn_strings twice = {0};
    char *path = attn_source_path(s, f->index);
    if (!path)
        return no_memory(err);
    out->index = f->index;
    int rc = attn_source_open(s, f->index, INDEX_LIMIT, &map, err);
    if (!rc) {
        rc = attn_index_read(&x, (const char *)map.data, map.len, path, err);
        attn_map_close(&map);
    }
    if (!rc)
        rc = open_files(out, s, f, (const char *const *)x.file, x.files, &twice, err);
    if (!rc)
        rc = check_index(out, &x, &twice, err);
    attn_strings_free(&twice);
    attn_index_free(&x);
    free(path);
    return rc;
}

int attn_shards_of_directory(struct attn_shards *out, const struct attn_source *s, struct attn_err *err)
{
    for (const struct format *f = formats; f < formats + FORMATS; f++) {
        if (attn_source_has(s, f->single))
            return open_files(out, s, f, &f->single, 1, NULL, err);
        if (attn_source_has(s, f->index))
            return open_index(out, s, f, err);
    }
    return attn_hint_no_weights(s, err);
}

int attn_shards_open(struct attn_shards *out, const struct attn_source *s, struct attn_err *err)
{
    *out = (struct attn_shards){0};
    return s->kind->tensors(out, s, err);
}

/* Any other container is told by weights that it has, whatever its files are called. */
bool attn_shards_there(const struct attn_source *s)
{
    if (s->kind != &attn_container_directory)
        return true;
    for (const struct format *f = formats; f < formats + FORMATS; f++)
        if (attn_source_has(s, f->single) || attn_source_has(s, f->index))
            return true;
    return false;
}

/* A zip archive, or the pickle of older files. */
static bool is_torch(const struct attn_map *m)
{
    return m->len > 4 && (!memcmp(m->data, "PK\003\004", 4) || (m->data[0] == 0x80 && m->data[1] == 2));
}

int attn_shards_open_file(struct attn_shards *out, const char *path, struct attn_err *err)
{
    *out = (struct attn_shards){0};
    out->shard = calloc(1, sizeof *out->shard);
    if (!out->shard || !(out->shard->path = strdup(path)))
        return no_memory(err);
    struct attn_shard *sh = out->shard;
    out->n = 1;
    int rc = attn_map_open_found(&sh->map, path, SIZE_MAX, ATTN_LINKS_FOLLOWED, err);
    if (!rc)
        rc = attn_hint_file(&sh->map, path, err);
    if (!rc)
        rc = formats[is_torch(&sh->map)].open(&sh->st, sh->map.data, sh->map.len, path, err);
    out->tensors = rc ? 0 : attn_st_count(sh->st);
    out->bytes = sh->map.len;
    return rc;
}

void attn_shards_close(struct attn_shards *s)
{
    for (size_t i = 0; i < s->n && !s->lent; i++) {
        attn_st_close(s->shard[i].st);
        attn_map_close(&s->shard[i].map);
        free(s->shard[i].path);
    }
    for (size_t i = 0; i < s->n_absent; i++)
        free(s->absent[i].tensor);
    free(s->absent);
    free(s->shard);
    attn_strings_free(&s->names);
    *s = (struct attn_shards){0};
}

const struct attn_st_tensor *attn_shards_find(const struct attn_shards *s, const char *name,
                                              const struct attn_shard **in)
{
    *in = s->shard;
    if (s->n == 1)
        return attn_st_find(s->shard->st, name);
    size_t i = attn_strings_find(&s->names, name, strlen(name));
    return i == ATTN_STRINGS_NONE ? NULL : attn_shards_at(s, i, in);
}

const struct attn_st_tensor *attn_shards_at(const struct attn_shards *s, size_t i, const struct attn_shard **in)
{
    size_t lo = 0, hi = s->n;           /* the last file that begins no later */
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        *(s->shard[mid].before <= i ? &lo : &hi) = mid;
    }
    *in = &s->shard[lo];
    return attn_st_at(s->shard[lo].st, i - s->shard[lo].before);
}

size_t attn_shards_index(const struct attn_shards *s, const struct attn_st_tensor *t)
{
    return s->n == 1 ? (size_t)(t - attn_st_at(s->shard->st, 0)) :
           attn_strings_find(&s->names, t->name, strlen(t->name));
}

const char *attn_shards_path(const struct attn_shards *s)
{
    return s->shard[0].path;
}

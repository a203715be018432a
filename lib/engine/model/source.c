#include "model/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/format.h"
#include "base/near.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "model/assume.h"
#include "model/container.h"
#include "model/hints.h"
#include "model/hub.h"
#include "model/shards.h"

#ifndef ATTN_MODELS_DIR
#define ATTN_MODELS_DIR "/usr/local/share/attn-cli/models"
#endif

/* Those that are told by what they hold, in the order of asking.  What is none of them is a directory. */
#define CONTAINERS(each) each(gguf) each(course) each(mlx)
#define DECLARE(of) extern const struct attn_container attn_container_##of;
CONTAINERS(DECLARE)
#define ROW(of) &attn_container_##of,
static const struct attn_container *const containers[] = { CONTAINERS(ROW) };
enum { N_CONTAINERS = sizeof containers / sizeof *containers };

static int no_memory(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for a path");
}

/* ---- what a name stands for ---- */

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* "BASE/NAME" in malloc'd memory if that is a directory; else NULL. */
static char *directory_in(const char *base, size_t base_len, const char *name)
{
    char *path = NULL;
    if (attn_asprintf(&path, "%.*s/%s", (int)base_len, base, name) < 0)
        return NULL;
    if (attn_directory_is(path))
        return path;
    free(path);
    return NULL;
}

static char *directory_in_list(const char *list, const char *name)
{
    for (const char *at = list; at && *at;) {
        size_t len = strcspn(at, ":");
        char *path = len ? directory_in(at, len, name) : NULL;
        if (path)
            return path;
        at += len + (at[len] == ':');
    }
    return NULL;
}

/* The built-in model that was probably meant; NULL: none is near. */
static const char *nearest(const char *name)
{
    const char *best = NULL;
    unsigned distance = ATTN_FAR;
    struct attn_near near;
    size_t len = strlen(name);
    if (attn_utf8_valid(name, len) != len)
        return NULL;
    attn_near_start(&near, name, len);
    for (const char *const *own = attn_model_builtin(); *own; own++) {
        unsigned d = attn_near(&near, *own, strlen(*own), distance);
        best = d < distance ? *own : best;
        distance = d < distance ? d : distance;
    }
    return best;
}

static int not_found(const char *name, struct attn_err *err)
{
    const char *env = getenv("ATTN_MODEL_PATH"), *near = nearest(name);
    if (near)
        return attn_fail(err, ATTN_EIO,
                         "no model '%s', the nearest is '%s' ('attn-cli models' lists what is here)", name, near);
    return attn_fail(err, ATTN_EIO,
        "no model '%s': it is not built in ('attn-cli models' lists those), nor a directory in ATTN_MODEL_PATH (%s), "
        "%s or here, nor in Hugging Face's cache; a path needs a slash, as in ./%s. Nothing is downloaded here: where "
        "there is a network, do 'huggingface-cli download %s --local-dir %s', and bring that directory",
        name, env && *env ? env : "not set", ATTN_MODELS_DIR, name, name, name);
}

static bool ends_as_a_file(const char *path)
{
    for (size_t i = 0; i < N_CONTAINERS; i++)
        for (const char *const *ending = containers[i]->endings; ending && *ending; ending++)
            if (attn_ends_with(path, *ending))
                return true;
    return false;
}

/* A path that is not there; "openai-community/gpt2" may be a name in Hugging Face's cache, too. */
static int no_directory(const char *path, struct attn_err *err)
{
    if (ends_as_a_file(path))
        return attn_fail(err, ATTN_EIO, "%s: cannot open: No such file or directory", path);
    const char *slash = strchr(path, '/');
    bool named = slash && *path != '.' && slash > path && slash[1] && !strchr(slash + 1, '/');
    return attn_fail(err, ATTN_EIO,
        "%s/config.json: cannot open: No such file or directory: there is no directory %s%s", path, path, named ?
        ", nor a model of this name in Hugging Face's cache, where 'huggingface-cli download' would put it" : "");
}

const char *attn_source_installed(void)
{
    return ATTN_MODELS_DIR;
}

static char *last_component(const char *path)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return start == end ? strdup(path) : attn_utf8_readable(path + start, end - start);
}

/* Rather than the name of a model, which is looked for. */
static bool is_path(const char *name)
{
    return strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, "..");
}

/* The directory that a name stands for, malloc'd; NULL: there is none. */
static char *find_directory(const char *name)
{
    char *dir = NULL;
    if (is_path(name))
        return access(name, F_OK) && (dir = attn_hub_find(name)) ? dir : strdup(name);
    if ((dir = directory_in_list(getenv("ATTN_MODEL_PATH"), name)) ||
        (dir = directory_in(ATTN_MODELS_DIR, strlen(ATTN_MODELS_DIR), name)))
        return dir;
    return attn_directory_is(name) ? strdup(name) : attn_hub_find(name);
}

/* Names a directory by its last component; one of Hugging Face's cache is entered, and named by the model. */
static int name_directory(struct attn_source *s, struct attn_err *err)
{
    char *last = last_component(s->dir), *model = last ? attn_hub_name(last) : NULL;
    bool inside = false;
    int rc = !last ? no_memory(err) : attn_source_has(s, "config.json") ? ATTN_OK :
             attn_hub_enter(&s->dir, &inside, err);
    if (inside && model)
        s->name = last_component(model);
    else if (last)
        s->name = strdup(last);
    free(model);
    free(last);
    return rc ? rc : s->name ? ATTN_OK : no_memory(err);
}

/* ---- what it is ---- */

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
}

int attn_source_is(struct attn_source *s, const struct attn_container *kind, void *of, const char *path, bool beside,
                   struct attn_err *err)
{
    s->kind = kind;
    s->of = of;
    if (!path)
        return ATTN_OK;
    free(s->dir);
    s->dir = beside ? directory_of(path) : NULL;
    s->path = strdup(path);
    if (!s->name)                       /* else it is the directory's, where the file was found in one */
        s->name = last_component(path);
    return (!beside || s->dir) && s->path && s->name ? ATTN_OK : no_memory(err);
}

/* A file where a directory is expected: what it is, if its first bytes tell. */
static int refuse_file(const struct attn_map *map, const char *path, struct attn_err *err)
{
    int rc = attn_hint_file(map, path, err);
    bool words = attn_ends_with(path, ".json") && !attn_ends_with(path, "config.json");
    const unsigned char *b = map->data;
    if (!rc && attn_ends_with(path, ".gguf"))
        return map->len < 4 ? attn_fail(err, ATTN_EFORMAT, "%s: is no GGUF file: has %zu bytes, expected the letters "
                                        "GGUF and what follows them", path, map->len)
                            : attn_fail(err, ATTN_EFORMAT, "%s: is no GGUF file: begins with %02x %02x %02x %02x, "
                                        "expected the letters GGUF: was it copied whole?", path, b[0], b[1], b[2],
                                        b[3]);
    return rc ? rc : attn_fail(err, ATTN_EFORMAT,
        "%s: is a file, expected the directory of a model, which has a config.json, or a GGUF file%s", path,
        words ? "; of a vocabulary, 'init -o DIR --vocab FILE' makes one" : "");
}

static int take_file(struct attn_source *s, const char *path, const struct attn_lacking *given, struct attn_err *err)
{
    struct attn_map map;
    int rc = attn_map_open_found(&map, path, SIZE_MAX, ATTN_LINKS_FOLLOWED, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < N_CONTAINERS && !rc && !s->kind; i++)
        rc = containers[i]->open ? containers[i]->open(s, path, &map, given, err) : ATTN_OK;
    if (!rc && !s->kind)
        rc = refuse_file(&map, path, err);
    attn_map_close(&map);
    return rc;
}

/* s->dir is there, or its files will not be. */
static int take_directory(struct attn_source *s, const struct attn_lacking *given, struct attn_err *err)
{
    s->kind = &attn_container_directory;
    int rc = access(s->dir, F_OK) && errno == ENOENT ? no_directory(s->dir, err) : name_directory(s, err);
    if (rc)
        return rc;
    const bool weights = attn_shards_there(s);
    for (size_t i = 0; i < N_CONTAINERS && !rc && s->kind == &attn_container_directory; i++)
        rc = containers[i]->enter ? containers[i]->enter(s, weights, given, err) : ATTN_OK;
    return rc;
}

static int take(struct attn_source *s, const char *name, const struct attn_lacking *given, struct attn_err *err)
{
    bool path = is_path(name);
    if (path && is_file(name))
        return take_file(s, name, given, err);
    if (!path && attn_builtin_named(s, name))
        return (s->name = strdup(name)) ? ATTN_OK : no_memory(err);
    if ((s->dir = find_directory(name)))
        return take_directory(s, given, err);
    return path ? no_memory(err) : is_file(name) ? take_file(s, name, given, err) : not_found(name, err);
}

int attn_source_find(struct attn_source *out, const char *name, const struct attn_lacking *given, struct attn_err *err)
{
    *out = (struct attn_source){0};
    if (!name)
        name = attn_model_builtin()[0];
    if (!*name)
        return attn_fail(err, ATTN_EIO, "the name of the model is empty");
    int rc = take(out, name, given, err);
    if (!rc && given && (given->as || given->vocab) && out->kind->says)
        rc = attn_fail(err, ATTN_EUSAGE, "%s: %s, %s itself what --%s would say: leave it out", out->name,
                       out->kind->what, out->kind->says, given->as ? "as" : "vocab");
    if (rc)
        attn_source_free(out);
    return rc;
}

void attn_source_free(struct attn_source *s)
{
    if (s->kind && s->kind->close)
        s->kind->close(s->of);
    free(s->name);
    free(s->dir);
    free(s->path);
    *s = (struct attn_source){0};
}

/* ---- its files ---- */

const struct attn_assumed *attn_source_assumed(const struct attn_source *s, size_t *n)
{
    *n = s->assumed ? s->assumed->n : 0;
    return s->assumed ? s->assumed->of : NULL;
}

const void *attn_source_index(const struct attn_source *s)
{
    return s->kind->index ? s->kind->index(s) : NULL;
}

char *attn_source_path(const struct attn_source *s, const char *file)
{
    return s->kind->path(s, file);
}

bool attn_source_has(const struct attn_source *s, const char *file)
{
    return s->kind->has(s, file);
}

int attn_source_open(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                     struct attn_err *err)
{
    *out = (struct attn_map){0};
    return s->kind->read(s, file, limit, out, err);
}

bool attn_source_saves(const struct attn_source *s, const char *file)
{
    return s->kind->saves ? s->kind->saves(s, file) : s->kind->has(s, file);
}

int attn_source_saved(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                      struct attn_err *err)
{
    *out = (struct attn_map){0};
    return s->kind->save ? s->kind->save(s, file, out, err) : s->kind->read(s, file, limit, out, err);
}

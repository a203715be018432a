#include "model/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/err.h"
#include "base/format.h"
#include "base/near.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "model/course.h"
#include "model/gguf_model.h"
#include "model/hints.h"
#include "model/hub.h"
#include "model/mlx.h"
#include "model/shards.h"

#ifndef ATTN_BUILT
#define ATTN_BUILT "build/release"      /* where what is made before this file is */
#endif

/* ---- the built-in models ---- */

/* Symbol and name of each; the default model comes first. */
#define BUILTINS(each) \
    each(tiny, "tiny") \
    each(life, "life") each(life_full, "life-full") each(life_4_heads, "life-4-heads") \
    each(journey, "journey") each(journey_causal, "journey-causal") each(journey_multi_head, "journey-multi-head") \
    each(stacked, "stacked") each(induction, "induction")

#define EMBED(of, name) \
    ATTN_EMBED(attn_##of##_config, "models/" name "/config.json"); \
    ATTN_EMBED(attn_##of##_vocab, "models/" name "/vocab.json"); \
    ATTN_EMBED(attn_##of##_weights, "models/" name "/model.safetensors");
BUILTINS(EMBED)
ATTN_EMBED(attn_tiny_merges, "models/tiny/merges.txt");
ATTN_EMBED(attn_tiny_index, ATTN_BUILT "/tiny.index");

struct builtin_file { const char *name; const unsigned char *data, *end; };
struct attn_builtin { const char *name; struct builtin_file file[3]; };

#define ROW(of, name) \
    {name, {{"config.json", attn_##of##_config, attn_##of##_config_end}, \
            {"vocab.json", attn_##of##_vocab, attn_##of##_vocab_end}, \
            {"model.safetensors", attn_##of##_weights, attn_##of##_weights_end}}},
static const struct attn_builtin builtins[] = { BUILTINS(ROW) };
enum { N_BUILTINS = sizeof builtins / sizeof *builtins };
/* The tokens of the others are words, few enough to be read at once: they need no index (text/index.h). */
static const struct builtin_file merges = {"merges.txt", attn_tiny_merges, attn_tiny_merges_end};

const char *const *attn_model_builtin(void)
{
#define NAME(of, name) name,
    static const char *const names[] = { BUILTINS(NAME) NULL };
    return names;
}

#ifndef ATTN_MODELS_DIR
#define ATTN_MODELS_DIR "/usr/local/share/attn-cli/models"
#endif

static int no_memory(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for a path");
}

/* ---- finding ---- */

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

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
    if (is_directory(path))
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

static const struct attn_builtin *builtin_called(const char *name)
{
    for (size_t i = 0; i < N_BUILTINS; i++)
        if (strcmp(builtins[i].name, name) == 0)
            return &builtins[i];
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
    for (size_t i = 0; i < N_BUILTINS; i++) {
        unsigned d = attn_near(&near, builtins[i].name, strlen(builtins[i].name), distance);
        best = d < distance ? builtins[i].name : best;
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

/* A path that is not there; "openai-community/gpt2" may be a name in Hugging Face's cache, too. */
static int no_directory(const char *path, struct attn_err *err)
{
    static const char *const endings[] = {".gguf", ".pt", ".pth", ".bin", ".json"};     /* of files that are models */
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (attn_ends_with(path, endings[i]))
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

/* ---- GGUF ---- */

/* "DIR/NAME-00001-of-00003.gguf" is called NAME. */
static char *name_of_gguf(const char *path)
{
    char *name = last_component(path), *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot > name && attn_ends_with(dot, ".gguf"))
        *dot = '\0';
    size_t len = name ? strlen(name) : 0, tail = strlen("-00001-of-00003");
    if (len > tail && name[len - tail] == '-' && !strncmp(name + len - tail + 6, "-of-", 4))
        name[len - tail] = '\0';
    return name;
}

/* Takes a GGUF file, or one of several that are one model. */
static int take_gguf(struct attn_source *s, const char *path, struct attn_err *err)
{
    char *name = s->name;               /* the directory's, where it was found in one */
    free(s->dir);
    s->name = name ? name : name_of_gguf(path);
    s->dir = strdup(path);
    return s->name && s->dir ? attn_gguf_model_open(&s->gguf, path, err) : no_memory(err);
}

/* Whether a file in place of a directory is a GGUF model: one that cannot be read is nothing else instead. */
static int is_gguf(bool *is, const char *path, struct attn_err *err)
{
    struct attn_map map;
    int rc = attn_map_open_found(&map, path, SIZE_MAX, ATTN_LINKS_FOLLOWED, err);
    *is = !rc && attn_gguf_is(map.data, map.len);
    if (!rc)
        attn_map_close(&map);
    return rc;
}

/* A directory without other weights may hold a GGUF model. */
static int look_for_gguf(struct attn_source *s, struct attn_err *err)
{
    char *path = NULL;
    int rc = attn_shards_there(s) ? ATTN_OK : attn_gguf_model_in(&path, s->dir, err);
    if (!rc && path)
        rc = take_gguf(s, path, err);
    free(path);
    return rc;
}

/* ---- files of courses ---- */

/* The file of a course, where it is and what it is called. */
static int take_course(struct attn_source *s, const char *path, const struct attn_lacking *given, struct attn_err *err)
{
    int rc = attn_course_open(&s->course, path, given, err);
    if (rc || !s->course)
        return rc;
    free(s->dir);
    s->dir = strdup(s->course->dir);
    if (!s->name)
        s->name = last_component(path);
    return s->dir && s->name ? ATTN_OK : no_memory(err);
}

/* What MLX has quantised is seen as if it were not. */
static int look_for_mlx(struct attn_source *s, struct attn_err *err)
{
    char *path = attn_source_path(s, "config.json");
    int rc = path ? attn_mlx_open(&s->course, s->dir, path, err) : no_memory(err);
    free(path);
    return rc;
}

/* In a directory without other weights, the file of a course that usually has this name. */
static int look_for_course(struct attn_source *s, const struct attn_lacking *given, struct attn_err *err)
{
    if (attn_shards_there(s))
        return look_for_mlx(s, err);
    for (const char *const *file = attn_course_usual; *file; file++) {
        if (!attn_source_has(s, *file))
            continue;
        char *path = attn_source_path(s, *file);
        int rc = path ? take_course(s, path, given, err) : no_memory(err);
        free(path);
        return rc;
    }
    return ATTN_OK;
}

/* A file where a directory is expected: what it is, if its first bytes tell. */
static int refuse_file(const char *path, struct attn_err *err)
{
    struct attn_map map;
    int rc = attn_map_open_found(&map, path, SIZE_MAX, ATTN_LINKS_FOLLOWED, err);
    if (rc)
        return rc;
    rc = attn_hint_file(&map, path, err);
    attn_map_close(&map);
    bool words = attn_ends_with(path, ".json") && !attn_ends_with(path, "config.json");
    return rc ? rc : attn_fail(err, ATTN_EFORMAT,
        "%s: is a file, expected the directory of a model, which has a config.json, or a GGUF file%s", path,
        words ? "; of a vocabulary, 'init -o DIR --vocab FILE' makes one" : "");
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
    return is_directory(name) ? strdup(name) : attn_hub_find(name);
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

static int find_file(struct attn_source *out, const char *path, const struct attn_lacking *given, struct attn_err *err)
{
    bool gguf;
    int rc = is_gguf(&gguf, path, err);
    if (rc || gguf)
        return rc ? rc : take_gguf(out, path, err);
    rc = take_course(out, path, given, err);
    return rc || out->course ? rc : refuse_file(path, err);
}

/* What is said of it in options, it says itself. */
static int refuse_given(const struct attn_source *s, const struct attn_lacking *given, struct attn_err *err)
{
    const char *what = s->gguf ? "is a GGUF file, whose metadata says" : s->builtin ? "is built in, and says" :
                       "is a directory, whose config.json says";
    return attn_fail(err, ATTN_EUSAGE, "%s: %s itself what --%s would say: leave it out", s->name, what,
                     given->as ? "as" : "vocab");
}

int attn_source_find(struct attn_source *out, const char *name, struct attn_err *err)
{
    return attn_source_find_with(out, name, NULL, err);
}

int attn_source_find_with(struct attn_source *out, const char *name, const struct attn_lacking *given,
                          struct attn_err *err)
{
    *out = (struct attn_source){0};
    if (!name)
        name = builtins[0].name;
    if (!*name)
        return attn_fail(err, ATTN_EIO, "the name of the model is empty");
    bool path = is_path(name);
    int rc = ATTN_OK;
    if (path && is_file(name))
        rc = find_file(out, name, given, err);
    else if (!path && (out->builtin = builtin_called(name)))
        rc = (out->name = strdup(out->builtin->name)) ? ATTN_OK : no_memory(err);
    else if ((out->dir = find_directory(name)))
        rc = access(out->dir, F_OK) && errno == ENOENT ? no_directory(name, err) : name_directory(out, err);
    else
        rc = path ? no_memory(err) : is_file(name) ? find_file(out, name, given, err) : not_found(name, err);
    if (!rc && out->dir && !out->gguf && !out->course)
        rc = look_for_gguf(out, err);
    if (!rc && out->dir && !out->gguf && !out->course)
        rc = look_for_course(out, given, err);
    if (!rc && given && (given->as || given->vocab) && (!out->course || out->course->directory))
        rc = refuse_given(out, given, err);
    if (rc)
        attn_source_free(out);
    return rc;
}

void attn_source_free(struct attn_source *s)
{
    attn_course_close(s->course);
    free(s->name);
    free(s->dir);
    attn_gguf_model_close(s->gguf);
    *s = (struct attn_source){0};
}

/* ---- files ---- */

static bool builtin_file(const struct attn_builtin *b, const char *file, struct attn_map *out)
{
    const struct builtin_file *f = b == builtins && strcmp(file, merges.name) == 0 ? &merges : NULL;
    for (size_t i = 0; !f && i < sizeof b->file / sizeof *b->file; i++)
        if (strcmp(b->file[i].name, file) == 0)
            f = &b->file[i];
    *out = f ? (struct attn_map){.data = f->data, .len = (size_t)(f->end - f->data)} : (struct attn_map){0};
    return f;
}

const void *attn_source_index(const struct attn_source *s)
{
    return s->builtin == &builtins[0] ? attn_tiny_index : NULL;
}

const char *attn_source_config(const struct attn_source *s)
{
    return s->gguf ? "its metadata" : attn_source_is_file(s) ? "the rest of the file" : "config.json";
}

const struct attn_assumed *attn_source_assumed(const struct attn_source *s, size_t *n)
{
    *n = s->course ? s->course->assumed.n : 0;
    return s->course ? s->course->assumed.of : NULL;
}

const char *attn_source_where(const struct attn_source *s)
{
    return attn_source_is_file(s) ? s->course->path : s->dir;
}

bool attn_source_is_file(const struct attn_source *s)
{
    return s->course && !s->course->directory;
}

char *attn_source_path(const struct attn_source *s, const char *file)
{
    char *path = NULL;
    if (s->gguf)
        return attn_asprintf(&path, "%s, as %s", s->dir, file) < 0 ? NULL : path;
    if (s->course && attn_course_file(s->course, file))
        return strdup(s->course->path);
    size_t len = s->dir ? strlen(s->dir) : 0;
    const char *slash = len > 0 && s->dir[len - 1] == '/' ? "" : "/";
    int n = s->dir ? attn_asprintf(&path, "%s%s%s", s->dir, slash, file) :
            attn_asprintf(&path, "built-in %s/%s", s->name, file);
    return n < 0 ? NULL : path;
}

bool attn_source_has(const struct attn_source *s, const char *file)
{
    struct attn_map map;
    if (s->gguf)
        return attn_gguf_model_has(s->gguf, file);
    if (s->builtin)
        return builtin_file(s->builtin, file, &map);
    if (s->course && attn_course_file(s->course, file))
        return true;
    if (s->course && !s->course->directory && !attn_course_knows(file))
        return false;
    char *path = attn_source_path(s, file);
    bool missing = path && access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
    free(path);
    return !missing;
}

/* Links are followed, as a download cache of models is made of them.  Any file may be a pointer, not downloaded yet. */
static int open_file(const char *path, size_t limit, struct attn_map *out, struct attn_err *err)
{
    int rc = attn_map_open_found(out, path, limit, ATTN_LINKS_FOLLOWED, err);
    if (!rc)
        rc = attn_hint_file(out, path, err);
    if (rc)
        attn_map_close(out);
    return rc;
}

/* A file that is made of a GGUF model's metadata. */
static int make_file(const struct attn_gguf_model *m, const char *file, struct attn_map *out, struct attn_err *err)
{
    char *text;
    int rc = attn_gguf_model_text(m, file, &text, &out->len, err);
    if (rc)
        return rc;
    out->data = (unsigned char *)text;
    out->owned = true;
    return ATTN_OK;
}

int attn_source_open(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                     struct attn_err *err)
{
    *out = (struct attn_map){0};
    const struct attn_course_file *made = s->course ? attn_course_file(s->course, file) : NULL;
    if (made)
        return attn_map_copy(out, made->text, made->len) ? ATTN_OK : no_memory(err);
    char *path = attn_source_path(s, file);
    if (!path)
        return no_memory(err);
    int rc = ATTN_OK;
    if (s->gguf)
        rc = make_file(s->gguf, file, out, err);
    else if (!s->builtin)
        rc = open_file(path, limit, out, err);
    else if (!builtin_file(s->builtin, file, out))
        rc = attn_fail(err, ATTN_EIO, "%s: no such file", path);
    free(path);
    return rc;
}

/* gguf_model.c - finds and opens the files of a GGUF model, and reads single values of its metadata. */
#include "model/gguf_model.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/out.h"
#include "base/size.h"
#include "model/shards.h"

enum { SHARDS_MOST = 1024, NUMBER = 5 };
static const char ending[] = ".gguf", between[] = "-of-";
extern const struct attn_container attn_container_gguf;

static int no_memory(struct attn_err *err)
{
    return attn_no_memory(err, NULL, "for the files of a GGUF model");
}

/* ---- values ---------------------------------------------------------------------------- */

/* A value of the architecture, or NULL. */
static const struct attn_gguf_value *value_of(const struct attn_gguf_model *m, const char *key)
{
    char name[128];
    if (snprintf(name, sizeof name, "%s.%s", m->arch->name, key) >= (int)sizeof name)
        return NULL;
    return attn_gguf_find(m->meta, name);
}

static int wrong_kind(const struct attn_gguf_model *m, const struct attn_gguf_value *v, const char *expected,
                      struct attn_err *err)
{
    return attn_fail(err, ATTN_EFORMAT, "%s: key '%s' is %s, expected %s", m->meta->name, v->key,
                     attn_gguf_kind_name(v), expected);
}

/* Lists with a value for each layer occur; where all are the same they are one. */
static int read_sizes(const struct attn_gguf_model *m, const struct attn_gguf_value *v, size_t *out,
                      struct attn_err *err)
{
    uint64_t first = 0, x = 0;
    if (v->n == 0 || !attn_gguf_whole(v, 0, &first))
        return wrong_kind(m, v, "a whole number", err);
    for (size_t i = 1; i < v->n; i++)
        if (!attn_gguf_whole(v, i, &x) || x != first)
            return attn_fail(err, ATTN_EFORMAT, "%s: key '%s' differs from layer to layer (%ju in layer 0, %ju in "
                                                "layer %zu), expected one value for all: such models are not read here",
                             m->meta->name, v->key, (uintmax_t)first, (uintmax_t)x, i);
    if (first > INT32_MAX)
        return attn_fail(err, ATTN_EFORMAT, "%s: key '%s' is %ju, expected at most %d", m->meta->name, v->key,
                         (uintmax_t)first, INT32_MAX);
    *out = (size_t)first;
    return ATTN_OK;
}

int attn_gguf_size(const struct attn_gguf_model *m, const char *key, size_t *out, bool *there, struct attn_err *err)
{
    const struct attn_gguf_value *v = value_of(m, key);
    *there = v != NULL;
    return v ? read_sizes(m, v, out, err) : ATTN_OK;
}

int attn_gguf_number(const struct attn_gguf_model *m, const char *key, double *out, bool *there, struct attn_err *err)
{
    const struct attn_gguf_value *v = value_of(m, key);
    *there = v != NULL;
    if (!v || (!v->array && attn_gguf_real(v, 0, out)))
        return ATTN_OK;
    return wrong_kind(m, v, "a number", err);
}

int attn_gguf_bool(const struct attn_gguf_model *m, const char *key, bool *out, bool *there, struct attn_err *err)
{
    const struct attn_gguf_value *v = value_of(m, key);
    *there = v != NULL;
    return !v || attn_gguf_flag(v, out) ? ATTN_OK : wrong_kind(m, v, "bool", err);
}

int attn_gguf_string(const struct attn_gguf_model *m, const char *key, struct attn_str_view *out, bool *there,
                     struct attn_err *err)
{
    const struct attn_gguf_value *v = value_of(m, key);
    *there = v != NULL;
    return !v || attn_gguf_text(v, out) ? ATTN_OK : wrong_kind(m, v, "string", err);
}

const struct attn_st_tensor *attn_gguf_model_tensor(const struct attn_gguf_model *m, const char *name)
{
    const struct attn_st_tensor *t = NULL;
    for (size_t i = 0; i < m->n && !t; i++)
        t = attn_st_find(m->part[i].of->st, name);
    return t;
}

/* ---- shards ---------------------------------------------------------------------------- */

/* "X-00002-of-00003.gguf": where "-00002-of-00003.gguf" begins, and the two numbers; NULL: the name is another. */
static const char *shard_of(const char *name, size_t *i, size_t *n)
{
    enum { TAIL = 1 + NUMBER + (sizeof between - 1) + NUMBER + (sizeof ending - 1) };
    size_t len = strlen(name);
    const char *at = len > TAIL ? name + len - TAIL : NULL;
    if (!at || *at != '-' || strspn(at + 1, "0123456789") != NUMBER || strncmp(at + 1 + NUMBER, between, 4) ||
        strspn(at + 1 + NUMBER + 4, "0123456789") != NUMBER || strcmp(at + 1 + NUMBER + 4 + NUMBER, ending))
        return NULL;
    *i = (size_t)strtoul(at + 1, NULL, 10);
    *n = (size_t)strtoul(at + 1 + NUMBER + 4, NULL, 10);
    return *i >= 1 && *i <= *n ? at : NULL;
}

static int open_part(struct attn_gguf_part *p, struct attn_err *err)
{
    int rc = attn_map_open_found(&p->map, p->path, SIZE_MAX, ATTN_LINKS_FOLLOWED, err);
    return rc ? rc : attn_gguf_open(&p->of, p->map.data, p->map.len, p->path, err);
}

/* How many files the model says it has, which is 1 where it says nothing. */
static int count_parts(const struct attn_gguf *g, size_t *count, size_t *number, struct attn_err *err)
{
    const struct attn_gguf_value *n = attn_gguf_find(g, "split.count"), *i = attn_gguf_find(g, "split.no");
    uint64_t all = 1, no = 0;
    if ((n && (n->array || !attn_gguf_whole(n, 0, &all))) || (i && (i->array || !attn_gguf_whole(i, 0, &no))))
        return attn_fail(err, ATTN_EFORMAT, "%s: keys 'split.count' and 'split.no' are no whole numbers, expected them "
                                            "in a file that is one of several", g->name);
    if (all > SHARDS_MOST || (all > 1 && no >= all))
        return attn_fail(err, ATTN_EFORMAT, "%s: is file %ju of %ju, expected at most %d, counted from 0", g->name,
                         (uintmax_t)no, (uintmax_t)all, SHARDS_MOST);
    *count = all > 1 ? (size_t)all : 1;
    *number = (size_t)no;
    return ATTN_OK;
}

/* Opens all files of a model of which `path` is one. */
static int open_parts(struct attn_gguf_model *m, const char *path, size_t count, struct attn_err *err)
{
    size_t i, n, number;
    const char *slash = strrchr(path, '/'), *tail = shard_of(slash ? slash + 1 : path, &i, &n);
    int rc = ATTN_OK;
    if (!tail || n != count)
        return attn_fail(err, ATTN_EFORMAT, "%s: is one of %zu files, expected them to be called "
                                            "NAME-00001-of-%05zu.gguf and so on", path, count, count);
    m->part = calloc(count, sizeof *m->part);
    for (; m->part && m->n < count && !rc; m->n++) {
        struct attn_gguf_part *p = &m->part[m->n];
        if (attn_asprintf(&p->path, "%.*s-%05zu-of-%05zu.gguf", (int)(tail - path), path, m->n + 1, count) < 0)
            rc = no_memory(err);
        if (!rc)
            rc = open_part(p, err);
        if (!rc)
            rc = count_parts(p->of, &n, &number, err);
        if (!rc && (n != count || number != m->n))
            rc = attn_fail(err, ATTN_EFORMAT, "%s: says that it is file %zu of %zu, expected %zu of %zu: do the files "
                                              "belong together?", p->path, number, n, m->n, count);
    }
    return rc ? rc : m->part ? ATTN_OK : no_memory(err);
}

/* ---- opening --------------------------------------------------------------------------- */

static int check_kind(const struct attn_gguf_model *m, struct attn_err *err)
{
    const struct attn_gguf_value *v = attn_gguf_find(m->meta, "general.type");
    struct attn_str_view type;
    if (v && !attn_gguf_text(v, &type))
        return wrong_kind(m, v, "string", err);
    if (!v || (type.len == 5 && !memcmp(type.s, "model", 5)))
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: holds no model but '%.*s' (general.type), expected the file of the model "
                                        "itself", m->meta->name, attn_shown(type.s, type.len), type.s);
}

/* NULL where it is not one of ours: its tokenizer may be read all the same. */
static int find_arch(struct attn_gguf_model *m, struct attn_err *err)
{
    const struct attn_gguf_value *v = attn_gguf_find(m->meta, "general.architecture");
    struct attn_str_view name;
    if (!v)
        return attn_fail(err, ATTN_EFORMAT, "%s: there is no key 'general.architecture', expected it to name the kind "
                                            "of model", m->meta->name);
    if (!attn_gguf_text(v, &name))
        return wrong_kind(m, v, "string", err);
    m->arch = attn_gguf_arch_find(name);
    return ATTN_OK;
}

int attn_gguf_model_check(const struct attn_gguf_model *m, struct attn_err *err)
{
    struct attn_str_view name = {0};
    if (m->arch)
        return ATTN_OK;
    attn_gguf_text(attn_gguf_find(m->meta, "general.architecture"), &name);
    return attn_fail(err, ATTN_EFORMAT, "%s: its architecture '%.*s' is not read here, expected one of the families "
                                        "that are (see models/README.md)", m->meta->name, attn_shown(name.s, name.len),
                     name.s);
}

static void close_parts(struct attn_gguf_model *m)
{
    for (size_t i = 0; i < m->n; i++) {
        attn_gguf_close(m->part[i].of);
        attn_map_close(&m->part[i].map);
        free(m->part[i].path);
    }
    free(m->part);
    m->part = NULL;
    m->n = 0;
}

static int open_model(struct attn_gguf_model *m, const char *path, struct attn_err *err)
{
    size_t count = 1, number;
    m->part = calloc(1, sizeof *m->part);
    if (!m->part || !(m->part[0].path = strdup(path)))
        return no_memory(err);
    m->n = 1;
    int rc = open_part(&m->part[0], err);
    if (!rc)
        rc = count_parts(m->part[0].of, &count, &number, err);
    if (!rc && count > 1) {
        close_parts(m);
        rc = open_parts(m, path, count, err);
    }
    if (rc)
        return rc;
    m->meta = m->part[0].of;
    rc = check_kind(m, err);
    return rc ? rc : find_arch(m, err);
}

static void close_model(void *of)
{
    close_parts(of);
    free(of);
}

/* "NAME-00001-of-00003.gguf" is called NAME. */
static void shorten(char *name)
{
    size_t len = strlen(name), tail = strlen("-00001-of-00003");
    if (len > sizeof ending - 1 && attn_ends_with(name, ending))
        name[len -= sizeof ending - 1] = '\0';
    if (len > tail && name[len - tail] == '-' && !strncmp(name + len - tail + 1 + NUMBER, between, 4))
        name[len - tail] = '\0';
}

/* One file of its own, or one of several that are one model. */
static int take(struct attn_source *s, const char *path, struct attn_err *err)
{
    const bool found = s->name;         /* in a directory, whose name it has */
    struct attn_gguf_model *m = calloc(1, sizeof *m);
    int rc = m ? attn_source_is(s, &attn_container_gguf, m, path, false, err) : no_memory(err);
    if (!rc && !found)
        shorten(s->name);
    return rc ? rc : open_model(m, path, err);
}

static int open_file(struct attn_source *s, const char *path, struct attn_map *file, const struct attn_lacking *given,
                     struct attn_err *err)
{
    (void)given;
    return attn_gguf_is(file->data, file->len) ? take(s, path, err) : ATTN_OK;
}

/* ---- in a directory -------------------------------------------------------------------- */

/* A file of its own, or the first of several. */
static int is_model(const struct dirent *e)
{
    size_t i = 1, n;
    return e->d_name[0] != '.' && attn_ends_with(e->d_name, ending) && (!shard_of(e->d_name, &i, &n) || i == 1);
}

static int several(const char *dir, struct dirent *const *entry, int n, struct attn_err *err)
{
    char list[400] = "";
    size_t at = 0;
    for (int i = 0; i < n && at < sizeof list - 40; i++)
        at += (size_t)attn_snprintf(list + at, sizeof list - at, "%s%.*s", i ? ", " : "",
                                    attn_shown(entry[i]->d_name, strlen(entry[i]->d_name)), entry[i]->d_name);
    return attn_fail(err, ATTN_EFORMAT, "%s: holds %d GGUF models, expected one: give the path of the one that is "
                                        "meant: %s", dir, n, list);
}

/* One without other weights may hold a GGUF model. */
static int enter(struct attn_source *s, bool weights, const struct attn_lacking *given, struct attn_err *err)
{
    struct dirent **entry = NULL;
    int n = weights ? 0 : scandir(s->dir, &entry, is_model, alphasort), rc = ATTN_OK;
    char *path = n == 1 ? attn_directory_path(s, entry[0]->d_name) : NULL;
    (void)given;
    if (n > 1)
        rc = several(s->dir, entry, n, err);
    else if (n == 1)
        rc = path ? take(s, path, err) : no_memory(err);
    free(path);
    for (int i = 0; i < n; i++)
        free(entry[i]);
    free(entry);
    return rc;
}

/* ---- its files ------------------------------------------------------------------------- */

struct made_file {
    const char *name;
    int (*write)(struct attn_out *out, const struct attn_gguf_model *m, struct attn_err *err);
};
static const struct made_file files[] = {
    {"config.json", attn_gguf_config}, {"tokenizer_config.json", attn_gguf_tokenizer_config},
    {"tokenizer.json", attn_gguf_tokenizer_json}, {"tokenizer.model", attn_gguf_tokenizer_model}};

static const struct made_file *file_named(const char *name)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!strcmp(files[i].name, name))
            return &files[i];
    return NULL;
}

static bool has(const struct attn_source *s, const char *file)
{
    const struct made_file *f = file_named(file);
    if (!f || f->write == attn_gguf_config || !attn_gguf_has_tokenizer(s->of))
        return f && f->write == attn_gguf_config;
    return f->write != (attn_gguf_is_sentencepiece(s->of) ? attn_gguf_tokenizer_json : attn_gguf_tokenizer_model);
}

static char *path(const struct attn_source *s, const char *file)
{
    char *out = NULL;
    return attn_asprintf(&out, "%s, as %s", s->path, file) < 0 ? NULL : out;
}

int attn_gguf_model_text(const struct attn_gguf_model *m, const char *file, struct attn_map *to, struct attn_err *err)
{
    const struct made_file *f = file_named(file);
    struct attn_out *out;
    char *text = NULL;
    if (!f)
        return attn_fail(err, ATTN_EIO, "%s: has nothing for %s", m->meta->name, file);
    int rc = attn_out_open_memory(&out, err);
    if (rc)
        return rc;
    rc = f->write(out, m, err);
    if (!rc)
        rc = attn_out_take(out, &text, &to->len, err);
    to->data = (unsigned char *)text;
    to->owned = !rc;
    attn_out_close(out);
    return rc;
}

static int read_file(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                     struct attn_err *err)
{
    (void)limit;
    return attn_gguf_model_text(s->of, file, out, err);
}

/* Saved as a directory of its family's, whose tokenizer.json says all that tokenizer.model does. */
static bool saves(const struct attn_source *s, const char *file)
{
    return !strcmp(file, "tokenizer.json") ? attn_gguf_has_tokenizer(s->of) :
           strcmp(file, "tokenizer.model") && has(s, file);
}

static int save(const struct attn_source *s, const char *file, struct attn_map *out, struct attn_err *err)
{
    const struct attn_gguf_model tied = attn_gguf_tied(s->of);
    return attn_gguf_model_text(&tied, file, out, err);
}

/* ---- as a container -------------------------------------------------------------------- */

/* Its files are open already. */
static int lend_tensors(struct attn_shards *out, const struct attn_source *s, struct attn_err *err)
{
    const struct attn_gguf_model *m = s->of;
    struct attn_strings twice = {0};
    int rc = ATTN_OK;
    out->lent = true;
    out->shard = calloc(m->n, sizeof *out->shard);
    if (!out->shard)
        return no_memory(err);
    for (; out->n < m->n && !rc; out->n++) {
        const struct attn_gguf_part *p = &m->part[out->n];
        struct attn_shard *sh = &out->shard[out->n];
        *sh = (struct attn_shard){.map = p->map, .st = p->of->st, .path = p->path};
        out->bytes += sh->map.len;
        rc = attn_shards_count(out, sh, m->n > 1, &twice, err);
        if (!rc && twice.n)
            rc = attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' is here and in a file before it, expected it once",
                           sh->path, attn_strings_at(&twice, 0, NULL));
    }
    attn_strings_free(&twice);
    return rc;
}

static void family(const struct attn_source *s, struct attn_config *c) { attn_gguf_family(s->of, c); }
static bool known(const struct attn_source *s) { return ((const struct attn_gguf_model *)s->of)->arch; }

const struct attn_container attn_container_gguf = {
    .name = "gguf", .what = "is a GGUF file", .says = "whose metadata says", .config = "its metadata",
    .endings = (const char *const[]){ending, NULL}, .whole = true, .open = open_file, .enter = enter,
    .close = close_model, .path = path, .has = has, .read = read_file, .metadata = attn_gguf_metadata, .known = known,
    .tensors = lend_tensors, .family = family, .recast = attn_gguf_recast, .saves = saves, .save = save};

#include "model/course.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "model/hints.h"

/* In the order of trying: the last is told by its size alone. */
static const struct attn_course_format *const formats[] = {
    &attn_course_torch, &attn_course_llama2c, &attn_course_llmc, &attn_course_microgpt, &attn_course_llama2c_old};
enum { FORMATS = sizeof formats / sizeof *formats };

const char *const attn_course_usual[] = {"ckpt.pt", "model.pt", "model.bin", "weights.json", NULL};

/* ---- opening --------------------------------------------------------------------------- */

static int no_memory(const struct attn_course *c, struct attn_err *err)
{
    return attn_no_memory(err, c->path, "for the list of its tensors");
}

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
}

static const struct attn_course_format *format_of(const struct attn_map *m)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->is(m))
            return formats[i];
    return NULL;
}

/* Makes what the directory would have. */
static int read_file(struct attn_course *c, const struct attn_lacking *given, struct attn_err *err)
{
    if (!c->path || !c->dir)
        return no_memory(c, err);
    c->may_copy = c->map.len;
    if (given && given->as && !c->format->asks)
        return attn_fail(err, ATTN_EUSAGE, "%s: %s, which says itself what --as would say: leave it out", c->path,
                         c->format->what);
    int rc = attn_as_read(&c->as, given ? given->as : NULL, err);
    c->vocab = given ? given->vocab : NULL;
    if (!rc && given && given->as && !(c->said = strdup(given->as)))
        rc = no_memory(c, err);
    if (!rc)
        rc = c->format->open(c, err);
    c->vocab = NULL;
    return rc;
}

int attn_course_open(struct attn_course **out, const char *path, const struct attn_lacking *given,
                     struct attn_err *err)
{
    struct attn_map map;
    *out = NULL;
    int rc = attn_map_open_found(&map, path, SIZE_MAX, ATTN_LINKS_FOLLOWED, err);
    if (rc)
        return rc;
    rc = attn_hint_file(&map, path, err);
    const struct attn_course_format *format = rc ? NULL : format_of(&map);
    struct attn_course *c = format ? calloc(1, sizeof *c) : NULL;
    if (!c) {
        attn_map_close(&map);
        return rc || !format ? rc : attn_no_memory(err, path, "to open it");
    }
    *c = (struct attn_course){.format = format, .map = map, .path = strdup(path), .dir = directory_of(path)};
    rc = read_file(c, given, err);
    if (rc)
        attn_course_close(c);
    else
        *out = c;
    return rc;
}

void attn_course_close(struct attn_course *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->files; i++)
        free(c->file[i].text);
    cJSON_Delete(c->rules);
    attn_st_close(c->st);
    attn_map_close(&c->map);
    free(c->said);
    free(c->vocabulary);
    free(c->path);
    free(c->dir);
    free(c);
}

/* ---- its files ------------------------------------------------------------------------- */

int attn_course_add(struct attn_course *c, const char *name, char *text, size_t len, struct attn_err *err)
{
    if (!text)
        return attn_no_memory(err, c->path, "for its %s", name);
    if (c->files == sizeof c->file / sizeof *c->file) {
        free(text);
        return attn_fail(err, ATTN_EFORMAT, "%s: there are too many files of tokenizers for it", c->path);
    }
    c->file[c->files++] = (struct attn_course_file){name, text, len};
    return ATTN_OK;
}

const struct attn_course_file *attn_course_file(const struct attn_course *c, const char *name)
{
    for (size_t i = 0; i < c->files; i++)
        if (!strcmp(c->file[i].name, name))
            return &c->file[i];
    return NULL;
}

static const char *const beside[] = {"tokenizer.json", "tokenizer_config.json", "added_tokens.json", "vocab.json",
                                     "merges.txt", "special_tokens_map.json", "tokenizer.model", "tokenizer.bin", NULL};

bool attn_course_knows(const char *name)
{
    size_t i = 0;
    while (beside[i] && strcmp(beside[i], name) != 0)
        i++;
    return beside[i];
}

/* ---- what it does not say ---------------------------------------------------------------- */

/* Models that minGPT knows by name. */
static size_t heads_of_type(const cJSON *type)
{
    static const struct { const char *name; size_t H; } types[] = {
        {"openai-gpt", 12}, {"gpt2", 12}, {"gpt2-medium", 16}, {"gpt2-large", 20}, {"gpt2-xl", 25}, {"gopher-44m", 16},
        {"gpt-mini", 6}, {"gpt-micro", 4}, {"gpt-nano", 3}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (cJSON_IsString(type) && !strcmp(type->valuestring, types[i].name))
            return types[i].H;
    return 0;
}

static size_t heads_in(const cJSON *settings)
{
    double x;
    const cJSON *v = attn_tree_member(settings, "n_head");
    return v && attn_tree_whole(v, 1, INT32_MAX, &x) ? (size_t)x :
           heads_of_type(attn_tree_member(settings, "model_type"));
}

int attn_course_heads(struct attn_course *c, const char *of, const cJSON *const *settings, size_t n,
                      struct attn_err *err)
{
    const size_t given = c->as.heads;
    for (size_t i = 0; i < n && !c->H; i++)
        c->H = heads_in(settings[i]);
    if (given && c->H && given != c->H)
        return attn_fail(err, ATTN_EUSAGE, "%s: %s with %zu heads, and --as says heads=%zu", c->path, of, c->H, given);
    c->H = c->H ? c->H : given;
    if (!c->H)
        return attn_fail(err, ATTN_EFORMAT, "%s: %s, but nothing in it says how many heads it has: say it with --as "
                                            "heads=N, N a divisor of its width %zu", c->path, of, c->d);
    if (c->d % c->H)
        return attn_fail(err, given ? ATTN_EUSAGE : ATTN_EFORMAT, "%s: %s of width %zu, %s %zu heads, expected a "
                                                                  "divisor of the width", c->path, of, c->d,
                         given ? "which cannot have" : "with", c->H);
    return ATTN_OK;
}

const char *attn_course_activation(const char *act)
{
    return strcmp(act, "gelu_tanh") ? act : "gelu_new";
}

/* ---- its tensors ----------------------------------------------------------------------- */

int attn_course_tensor(const struct attn_course *c, struct attn_st *st, const char *name,
                       const struct attn_st_tensor *like, struct attn_err *err)
{
    if (attn_st_add(st, name, like))
        return ATTN_OK;
    if (attn_strings_find(&st->names, name, strlen(name)) < st->names.n)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%.*s' is there for the second time", c->path,
                         attn_shown(name, strlen(name)), name);
    return no_memory(c, err);
}

void *attn_course_room(struct attn_course *c, struct attn_st *st, size_t bytes, struct attn_err *err)
{
    if (bytes > c->may_copy) {
        attn_fail(err, ATTN_EFORMAT, "%s: its tensors overlap: together they have more bytes than the file, expected "
                                     "each in a place of its own", c->path);
        return NULL;
    }
    void *room = attn_st_keep(st, bytes);
    c->may_copy -= room ? bytes : 0;
    if (!room)
        attn_no_memory(err, c->path, "to copy %zu bytes of it", bytes);
    return room;
}

int attn_course_weights(struct attn_st **out, struct attn_course *c, struct attn_err *err)
{
    struct attn_st *st = calloc(1, sizeof *st);
    c->may_copy = c->map.len;
    int rc = st ? c->format->fill(c, st, err) : no_memory(c, err);
    if (rc) {
        attn_st_close(st);
        return rc;
    }
    attn_st_name(st);
    *out = st;
    return ATTN_OK;
}

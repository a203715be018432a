#include "model/course.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/format.h"
#include "model/every_file.h"
#include "model/hints.h"
#include "model/shards.h"

/* In the order of trying: the last is told by its size alone. */
#define FORMATS(each) each(torch) each(llama2c) each(llmc) each(microgpt) each(llama2c_old)
#define DECLARE(of) extern const struct attn_course_format attn_course_##of;
FORMATS(DECLARE)
#define ROW(of) &attn_course_##of,
static const struct attn_course_format *const formats[] = { FORMATS(ROW) };
enum { N_FORMATS = sizeof formats / sizeof *formats };

extern const struct attn_container attn_container_course;

/* ---- opening --------------------------------------------------------------------------- */

static int no_memory(const struct attn_course *c, struct attn_err *err)
{
    return attn_no_memory(err, c->path, "for the list of its tensors");
}

static const struct attn_course_format *format_of(const struct attn_map *m)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (formats[i]->is(m))
            return formats[i];
    return NULL;
}

static void close_course(void *of)
{
    struct attn_course *c = of;
    for (size_t i = 0; i < c->files; i++)
        free(c->file[i].text);
    attn_st_close(c->st);
    attn_map_close(&c->map);
    free(c->said);
    free(c->vocabulary);
    free(c);
}

/* Makes what the directory would have. */
static int read_course(struct attn_course *c, const struct attn_lacking *given, struct attn_err *err)
{
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

static int open_file(struct attn_source *s, const char *path, struct attn_map *file, const struct attn_lacking *given,
                     struct attn_err *err)
{
    int rc = attn_hint_file(file, path, err);
    const struct attn_course_format *format = rc ? NULL : format_of(file);
    struct attn_course *c = format ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return rc || !format ? rc : attn_no_memory(err, path, "to open it");
    rc = attn_source_is(s, &attn_container_course, c, path, true, err);
    *c = (struct attn_course){.format = format, .map = *file, .path = s->path, .dir = s->dir};
    *file = (struct attn_map){0};
    if (rc || (rc = read_course(c, given, err)))
        return rc;
    s->assumed = &c->assumed;
    s->as = c->said;
    s->vocabulary = c->vocabulary;
    return ATTN_OK;
}

/* In a directory without other weights, the file that usually has this name. */
static int enter(struct attn_source *s, bool weights, const struct attn_lacking *given, struct attn_err *err)
{
    static const char *const usual[] = {"ckpt.pt", "model.pt", "model.bin", "weights.json"};
    enum { USUAL = sizeof usual / sizeof *usual };
    struct attn_map map;
    size_t i = 0;
    while (!weights && i < USUAL && !attn_directory_has(s, usual[i]))
        i++;
    if (weights || i == USUAL)
        return ATTN_OK;
    char *path = attn_directory_path(s, usual[i]);
    int rc = path ? attn_map_open_found(&map, path, SIZE_MAX, ATTN_LINKS_FOLLOWED, err) :
             attn_no_memory(err, NULL, "for a path");
    if (!rc) {
        rc = open_file(s, path, &map, given, err);
        attn_map_close(&map);
    }
    free(path);
    return rc;
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

/* Beside it, those of tokenizers belong to it. */
static const char *const beside[] = {"vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json",
                                     "added_tokens.json", "special_tokens_map.json", "tokenizer.model",
                                     "tokenizer.bin", NULL};

static bool is_beside(const char *name)
{
    size_t i = 0;
    while (beside[i] && strcmp(beside[i], name) != 0)
        i++;
    return beside[i];
}

static char *path_of(const struct attn_source *s, const char *file)
{
    return attn_course_file(s->of, file) ? strdup(s->path) : attn_directory_path(s, file);
}

static bool has(const struct attn_source *s, const char *file)
{
    return attn_course_file(s->of, file) || (is_beside(file) && attn_directory_has(s, file));
}

static int read_file(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                     struct attn_err *err)
{
    const struct attn_course_file *made = attn_course_file(s->of, file);
    return !made ? attn_directory_read(s, file, limit, out, err) :
           attn_map_copy(out, made->text, made->len) ? ATTN_OK : attn_no_memory(err, NULL, "for a path");
}

static int no_tokenizer(const struct attn_source *s, struct attn_err *err)
{
    return attn_fail(err, ATTN_EIO, "%s: there is no vocabulary in it or beside it: expected meta.pkl, a vocab.json of "
                                    "characters and ids, tokenizer.json, tokenizer.model or tokenizer.bin there, or a "
                                    "path with 'attn-cli convert -m %s -o DIR --vocab PATH'; token ids can be given "
                                    "with --ids", s->path, s->path);
}

/* ---- what is read to open it once more --------------------------------------------------- */

static int tell_if_there(const struct attn_file_told *to, const char *folder, const char *dir, const char *file,
                         struct attn_err *err)
{
    char *path = NULL;
    if (attn_asprintf(&path, "%s/%s", dir, file) < 0)
        return attn_no_memory(err, dir, "for a path");
    int rc = access(path, F_OK) ? ATTN_OK : attn_file_tell_path(to, folder, path, err);
    free(path);
    return rc;
}

static int tell_beside(const struct attn_file_told *to, const char *folder, const char *dir, struct attn_err *err)
{
    int rc = ATTN_OK;
    for (const char *const *file = beside; *file && !rc; file++)
        rc = tell_if_there(to, folder, dir, *file, err);
    return rc;
}

/* Beside it there may be files of a tokenizer, nanoGPT's characters, and llama2.c's tokenizer for a size.  Where it was
 * found by the name of its directory, it is in a folder of that name. */
static int tell(const struct attn_source *s, const struct attn_file_told *to, struct attn_err *err)
{
    const struct attn_course *c = s->of;
    const char *slash = strrchr(s->path, '/'), *file = slash ? slash + 1 : s->path;
    const char *folder = strcmp(s->name, file) ? s->name : NULL;
    char sized[32];
    snprintf(sized, sizeof sized, "tok%zu.bin", c->V);
    int rc = attn_file_tell(to, folder, file, c->map.data, c->map.len, err);
    if (!rc)
        rc = tell_beside(to, folder, c->dir, err);
    if (!rc)
        rc = tell_if_there(to, folder, c->dir, "meta.pkl", err);
    if (!rc)
        rc = tell_if_there(to, folder, c->dir, sized, err);
    if (rc || !s->vocabulary)
        return rc;
    return attn_directory_is(s->vocabulary) ? tell_beside(to, ATTN_FILE_VOCAB, s->vocabulary, err) :
           attn_file_tell_path(to, ATTN_FILE_VOCAB, s->vocabulary, err);
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

/* One file, whose bytes belong to the source. */
static int open_tensors(struct attn_shards *out, const struct attn_source *s, struct attn_err *err)
{
    struct attn_course *c = s->of;
    out->shard = calloc(1, sizeof *out->shard);
    if (!out->shard)
        return attn_no_memory(err, NULL, "for the list of weight files");
    struct attn_shard *sh = out->shard;
    out->n = 1;
    out->bytes = c->map.len;
    *sh = (struct attn_shard){.map = {.data = c->map.data, .len = c->map.len}, .path = strdup(c->path),
                              .st = calloc(1, sizeof *sh->st)};
    c->may_copy = c->map.len;
    int rc = sh->path && sh->st ? c->format->fill(c, sh->st, err) : no_memory(c, err);
    if (rc)
        return rc;
    attn_st_name(sh->st);
    return attn_shards_count(out, sh, false, NULL, err);
}

const struct attn_container attn_container_course = {
    .name = "course", .config = "the rest of the file",
    .endings = (const char *const[]){".pt", ".pth", ".bin", ".json", NULL}, .open = open_file, .enter = enter,
    .close = close_course, .path = path_of, .has = has, .read = read_file, .tell = tell, .no_tokenizer = no_tokenizer,
    .tensors = open_tensors};

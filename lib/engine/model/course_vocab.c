/* course_vocab.c - the vocabulary of a course's file: characters, or the files of any tokenizer.
 *
 * Where characters are tokens, the tokenizer.json that is made splits a text into characters and looks each up; the
 * texts of tokens are joined as they are. */
#include "model/course.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/format.h"
#include "base/out.h"
#include "base/utf8.h"
#include "io/pickle_tree.h"

enum { VOCAB_LIMIT = 64 << 20 };

/* ---- characters ------------------------------------------------------------------------ */

static bool is_character(const char *s)
{
    size_t len = strlen(s), step = 0;
    return len && attn_utf8_valid(s, len) == len && (attn_utf8_next(s, len, &step), step == len);
}

/* Puts a token into the list by its id. */
static int place(const char **token, size_t n, const char *text, double id, const char *path, struct attn_err *err)
{
    if (!is_character(text))
        return attn_fail(err, ATTN_EFORMAT, "%s: token '%.*s' is not one character, expected tokens of one character; "
                                            "for another tokenizer put its tokenizer.json, or vocab.json and "
                                            "merges.txt, beside the weights", path, attn_shown(text, strlen(text)),
                         text);
    if (!(id >= 0 && id < (double)n && id == (double)(size_t)id))
        return attn_fail(err, ATTN_EFORMAT, "%s: token '%s' has id %g, expected 0 to %zu, one for each of %zu tokens",
                         path, text, id, n - 1, n);
    if (token[(size_t)id])
        return attn_fail(err, ATTN_EFORMAT, "%s: tokens '%s' and '%s' both have id %g", path, token[(size_t)id], text,
                         id);
    token[(size_t)id] = text;
    return ATTN_OK;
}

static int place_all(const char **token, size_t n, const cJSON *tokens, const char *path, struct attn_err *err)
{
    const cJSON *v;
    size_t i = 0;
    int rc = ATTN_OK;
    cJSON_ArrayForEach(v, tokens) {
        bool list = cJSON_IsArray(tokens);
        if (list ? !cJSON_IsString(v) : !cJSON_IsNumber(v))
            return attn_fail(err, ATTN_EFORMAT, "%s: entry %zu of the vocabulary is no %s, expected %s", path, i,
                             list ? "text" : "id", list ? "a list of characters" : "characters and their ids");
        rc = rc ? rc : place(token, n, list ? v->valuestring : v->string, list ? (double)i : v->valuedouble, path, err);
        i++;
    }
    return rc;
}

static void write_tokenizer(struct attn_out *o, const char *const *token, size_t n, long begin)
{
    attn_out_str(o, "{\"version\": \"1.0\", \"truncation\": null, \"padding\": null, \"added_tokens\": [");
    if (begin >= 0)
        attn_out_printf(o, "{\"id\": %ld, \"content\": \"<BOS>\", \"single_word\": false, \"lstrip\": false, "
                           "\"rstrip\": false, \"normalized\": false, \"special\": true}", begin);
    attn_out_str(o, "], \"normalizer\": null,\n \"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": "
                    "\"[\\\\s\\\\S]\"}, \"behavior\": \"Isolated\", \"invert\": false},\n \"post_processor\": ");
    if (begin >= 0)
        attn_out_printf(o, "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"<BOS>\", "
                           "\"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}], \"pair\": "
                           "[{\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}, {\"Sequence\": {\"id\": \"B\", "
                           "\"type_id\": 1}}], \"special_tokens\": {\"<BOS>\": {\"id\": \"<BOS>\", \"ids\": [%ld], "
                           "\"tokens\": [\"<BOS>\"]}}}", begin);
    else
        attn_out_str(o, "null");
    attn_out_str(o, ",\n \"decoder\": {\"type\": \"Fuse\"},\n \"model\": {\"type\": \"WordLevel\", \"vocab\": {");
    for (size_t i = 0; i < n; i++) {
        const char *text = token[i] ? token[i] : "";    /* each is there: as many ids as tokens, none twice */
        attn_out_str(o, i ? ", " : "");
        attn_out_json(o, text, strlen(text));
        attn_out_printf(o, ": %zu", i);
    }
    if (begin >= 0)
        attn_out_printf(o, "%s\"<BOS>\": %ld", n ? ", " : "", begin);
    attn_out_str(o, "}, \"unk_token\": \"\"}}\n");
}

int attn_course_characters(struct attn_course *c, const cJSON *tokens, const char *path, long begin,
                           struct attn_err *err)
{
    struct attn_out *o = NULL;
    char *text = NULL;
    size_t n = (size_t)cJSON_GetArraySize(tokens), len = 0;
    const char **token = calloc(n + 1, sizeof *token);
    int rc = token ? place_all(token, n, tokens, path, err) : attn_no_memory(err, path, "for its vocabulary");
    if (!rc)
        rc = attn_out_open_memory(&o, err);
    if (!rc) {
        write_tokenizer(o, token, n, begin);
        rc = attn_out_take(o, &text, &len, err);
    }
    attn_out_close(o);
    free(token);
    return rc ? rc : attn_course_add(c, "tokenizer.json", text, len, err);
}

/* ---- files ----------------------------------------------------------------------------- */

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool has(const struct attn_course *c, const char *name)
{
    char *path = NULL;
    bool there = attn_asprintf(&path, "%s/%s", c->dir, name) > 0 && exists(path);
    free(path);
    return there;
}

/* The file as it is, under this name. */
static int take_file(struct attn_course *c, const char *name, const struct attn_map *m, struct attn_err *err)
{
    char *copy = malloc(m->len + 1);
    if (copy) {
        memcpy(copy, m->data, m->len);
        copy[m->len] = '\0';
    }
    return attn_course_add(c, name, copy, m->len, err);
}

static int take_json(struct attn_course *c, const struct attn_map *m, const char *path, struct attn_err *err)
{
    cJSON *root = NULL;
    int rc = attn_tree_read_any(&root, (const char *)m->data, m->len, path, m->len, err);
    if (!rc)
        rc = cJSON_IsObject(attn_tree_member(root, "model")) ? take_file(c, "tokenizer.json", m, err) :
             cJSON_IsObject(root) || cJSON_IsArray(root) ? attn_course_characters(c, root, path, -1, err) :
             attn_fail(err, ATTN_EFORMAT, "%s: is no vocabulary, expected characters and their ids", path);
    cJSON_Delete(root);
    return rc;
}

/* nanoGPT's meta.pkl: a dictionary with "stoi", characters and their ids. */
static int take_pickle(struct attn_course *c, const struct attn_map *m, const char *path, struct attn_err *err)
{
    cJSON *root = NULL;
    int rc = attn_pickle_read_tree(&root, m->data, m->len, path, err);
    const cJSON *stoi = rc ? NULL : attn_tree_member(root, "stoi");
    if (!rc)
        rc = cJSON_IsObject(stoi) ? attn_course_characters(c, stoi, path, -1, err) :
             attn_fail(err, ATTN_EFORMAT, "%s: there is no dictionary \"stoi\" in it, expected characters and their "
                                          "ids, as nanoGPT's prepare.py writes them", path);
    cJSON_Delete(root);
    return rc;
}

static int take_vocabulary(struct attn_course *c, const char *path, struct attn_err *err)
{
    static const char *const whole[] = {"tokenizer.model", "tokenizer.bin"};
    struct attn_map m;
    int rc = attn_map_open_found(&m, path, VOCAB_LIMIT, ATTN_LINKS_FOLLOWED, err);
    if (rc)
        return rc;
    if (m.len && m.data[0] == 0x80)
        rc = take_pickle(c, &m, path, err);
    else if (attn_ends_with(path, ".model") || attn_ends_with(path, ".bin"))
        rc = take_file(c, whole[attn_ends_with(path, ".bin")], &m, err);
    else
        rc = take_json(c, &m, path, err);
    attn_map_close(&m);
    return rc;
}

static const char *const tokenizers[] = {"tokenizer.json", "tokenizer_config.json", "added_tokens.json", "vocab.json",
                                         "merges.txt", "tokenizer.model", "tokenizer.bin", NULL};

/* The files of a tokenizer in a directory. */
static int take_directory(struct attn_course *c, const char *dir, struct attn_err *err)
{
    char *path = NULL;
    size_t before = c->files;
    int rc = ATTN_OK;
    for (const char *const *name = tokenizers; *name && !rc; name++, free(path), path = NULL) {
        struct attn_map m;
        if (attn_asprintf(&path, "%s/%s", dir, *name) < 0)
            return attn_no_memory(err, dir, "for a path");
        if (!exists(path))
            continue;
        rc = attn_map_open_found(&m, path, VOCAB_LIMIT, ATTN_LINKS_FOLLOWED, err);
        if (!rc) {
            rc = take_file(c, *name, &m, err);
            attn_map_close(&m);
        }
    }
    free(path);
    return rc || c->files > before ? rc : attn_fail(err, ATTN_EIO, "%s: there is no tokenizer in it: expected one of "
                                                                   "tokenizer.json, vocab.json, tokenizer.model, "
                                                                   "tokenizer.bin", dir);
}

static int take_beside(struct attn_course *c, const char *name, struct attn_err *err)
{
    char *path = NULL;
    int rc = attn_asprintf(&path, "%s/%s", c->dir, name) < 0 ? attn_no_memory(err, c->path, "for a path") :
             take_vocabulary(c, path, err);
    free(path);
    return rc;
}

/* A path that leads away from the file. */
static int take_elsewhere(struct attn_course *c, const char *path, struct attn_err *err)
{
    if (!(c->vocabulary = strdup(path)))
        return attn_no_memory(err, path, "for a path");
    return attn_directory_is(path) ? take_directory(c, path, err) : take_vocabulary(c, path, err);
}

int attn_course_vocabulary(struct attn_course *c, const char *elsewhere, struct attn_err *err)
{
    if (c->vocab)
        return take_elsewhere(c, c->vocab, err);
    if (attn_course_file(c, "tokenizer.json"))
        return ATTN_OK;
    if (has(c, "meta.pkl"))
        return take_beside(c, "meta.pkl", err);
    bool other = has(c, "tokenizer.json") || has(c, "merges.txt") || has(c, "tokenizer.model") || has(c,
                                                                                                  "tokenizer.bin");
    char sized[32];                     /* as llama2.c calls a tokenizer that was trained for a model */
    snprintf(sized, sizeof sized, "tok%zu.bin", c->V);
    if (!other && has(c, sized))
        return take_beside(c, sized, err);
    if (!other && !has(c, "vocab.json") && elsewhere && exists(elsewhere))
        return take_elsewhere(c, elsewhere, err);
    return has(c, "vocab.json") && !other ? take_beside(c, "vocab.json", err) : ATTN_OK;
}

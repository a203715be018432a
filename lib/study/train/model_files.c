/* model_files.c - what a training takes over into its directory: the files of a tokenizer, and config.json. */
#include "train/trainer.h"
#include "attn_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/format.h"
#include "base/map.h"
#include "model/family.h"

/* ---- files ------------------------------------------------------------------------------ */

enum { FILE_LIMIT = 256 << 20 };

int attn_train_file(struct attn_map *map, char **path, const char *dir, const char *file, struct attn_err *err)
{
    *map = (struct attn_map){0};
    if (attn_asprintf(path, "%s/%s", dir, file) < 0) {
        *path = NULL;
        attn_no_memory(err, dir, "for a path");
        return ATTN_ENOMEM;
    }
    /* training writes through links, too */
    return attn_map_open_found(map, *path, FILE_LIMIT, ATTN_LINKS_FOLLOWED, err);
}

static bool same_directory(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Handles one of the tokenizer files that `from` has. */
typedef int tokenizer_fn(const char *dir, const char *file, const struct attn_map *map, struct attn_err *err);

/* Models of our own read the first ones alone: a vocabulary, which they must have, its rules, how it splits text and
 * which tokens are special. */
static int each_tokenizer_file(const char *dir, const char *from, bool native, tokenizer_fn *with, struct attn_err *err)
{
    static const char *const files[] = {"vocab.json", "merges.txt", "tokenizer_config.json", "added_tokens.json",
                                        "special_tokens_map.json", "tokenizer.json", "tokenizer.model",
                                        "tokenizer.bin"};
    const size_t n = native ? 5 : sizeof files / sizeof *files;
    int rc = ATTN_OK;
    for (size_t i = 0; i < n && !rc && !same_directory(dir, from); i++) {
        struct attn_map map = {0};
        char *path = NULL;
        if ((i > 0 || !native) && !attn_folder_has(from, files[i]))
            continue;
        rc = attn_train_file(&map, &path, from, files[i], err);
        if (!rc)
            rc = with(dir, files[i], &map, err);
        attn_map_close(&map);
        free(path);
    }
    return rc;
}

static int copy_file(const char *dir, const char *file, const struct attn_map *map, struct attn_err *err)
{
    struct attn_out *out = NULL;
    int rc = attn_folder_open(&out, dir, file, err);
    if (rc)
        return rc;
    attn_out_write(out, map->data, map->len);
    return attn_out_end(out, ATTN_OK, err);
}

static int compare_file(const char *dir, const char *file, const struct attn_map *map, struct attn_err *err)
{
    struct attn_map has;
    char *path = NULL;
    int rc = attn_train_file(&has, &path, dir, file, err);
    if (!rc && (has.len != map->len || memcmp(has.data, map->data, map->len) != 0))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: the training there has another vocabulary; leave --vocab out to go on, "
                                          "or choose another directory", path);
    attn_map_close(&has);
    free(path);
    return rc;
}

int attn_train_tokenizer_copy(const char *dir, const char *from, bool native, struct attn_err *err)
{
    return each_tokenizer_file(dir, from, native, copy_file, err);
}

int attn_train_tokenizer_compare(const char *dir, const char *from, bool native, struct attn_err *err)
{
    return each_tokenizer_file(dir, from, native, compare_file, err);
}

/* ---- config.json ------------------------------------------------------------------------ */

/* Another family's file stays as it is, but for the token that ends a text, if it names none. */
static void put_text(struct attn_out *out, const struct attn_train_opts *o, const struct attn_config *c)
{
    static const char key[] = "\"eos_token_id\"";
    const char *brace = memchr(o->config, '{', o->config_len), *rest = brace ? brace + 1 : o->config;
    if (c->n_eos && brace && !memmem(o->config, o->config_len, key, sizeof key - 1))
        attn_out_printf(out, "{%s: %d,\n ", key, (int)c->eos[0]);
    else
        rest = o->config;
    attn_out_write(out, rest, o->config_len - (size_t)(rest - o->config));
}

int attn_train_config_text(char **text, size_t *len, const struct attn_train_opts *o, const struct attn_config *c,
                           struct attn_err *err)
{
    struct attn_out *out = NULL;
    int rc = attn_out_open_memory(&out, err);
    if (rc)
        return rc;
    if (c->family->native)
        attn_config_write(out, c);
    else
        put_text(out, o, c);
    rc = attn_out_take(out, text, len, err);
    attn_out_close(out);
    return rc;
}

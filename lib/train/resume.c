/* Continuing a training: what is requested must match what is there. */
#include "train/trainer.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/map.h"
#include "base/out.h"

/* ---- comparing ----------------------------------------------------------------------------- */

struct rest { const char *s; size_t len; };

/* Removes a line from the front, and from it leading blanks and a comma at the end. */
static struct rest take_line(struct rest *r)
{
    const char *end = memchr(r->s, '\n', r->len);
    struct rest line = {r->s, end ? (size_t)(end - r->s) : r->len};
    r->s += line.len + (end != NULL);
    r->len -= line.len + (end != NULL);
    for (; line.len > 0 && *line.s == ' '; line.len--)
        line.s++;
    line.len -= line.len > 0 && line.s[line.len - 1] == ',';
    return line;
}

static bool begins(struct rest line, const char *with)
{
    return line.len >= strlen(with) && !memcmp(line.s, with, strlen(with));
}

/* Digests of the texts mean nothing to a user who gave files, so these settings have messages of their own. */
static int differ(const char *dir, struct rest has, struct rest asked, struct attn_err *err)
{
    if (begins(has, "\"text\":"))
        return attn_fail(err, ATTN_EFORMAT, "%s: the training there reads another text; give the same -f to go on, or choose "
                         "another directory", dir);
    if (begins(has, "\"also\":"))
        return attn_fail(err, ATTN_EFORMAT, "%s: the training there reads %s; give the same to go on, or choose another "
                         "directory", dir, begins(has, "\"also\": null") ? "no --also" : "another --also");
    return attn_fail(err, ATTN_EFORMAT, "%s: the training there has %.*s, but %.*s was asked for; leave it out to go on, or "
                     "choose another directory", dir, (int)has.len, has.s, (int)asked.len, asked.s);
}

/* Both are JSON with one key a line, the same keys in the same order. */
static int compare(const char *dir, struct rest has, struct rest asked, struct attn_err *err)
{
    while (has.len > 0 && asked.len > 0) {
        struct rest a = take_line(&has), b = take_line(&asked);
        if (a.len != b.len || memcmp(a.s, b.s, a.len) != 0)
            return differ(dir, a, b, err);
    }
    return ATTN_OK;
}

typedef void write_fn(struct attn_out *out, const void *what);

static void write_how(struct attn_out *out, const void *how) { attn_training_write(out, how); }
static void write_config(struct attn_out *out, const void *config) { attn_config_write(out, config); }

static int compare_written(const char *dir, write_fn *write, const void *has, const void *asked, struct attn_err *err)
{
    const void *what[2] = {has, asked};
    char *text[2] = {NULL, NULL};
    size_t len[2] = {0, 0};
    int rc = ATTN_OK;
    for (int i = 0; i < 2 && !rc; i++) {
        struct attn_out *out = NULL;
        if (!(rc = attn_out_open_memory(&out, err))) {
            write(out, what[i]);
            rc = attn_out_take(out, &text[i], &len[i], err);
        }
        attn_out_close(out);
    }
    if (!rc)
        rc = compare(dir, (struct rest){text[0], len[0]}, (struct rest){text[1], len[1]}, err);
    free(text[0]);
    free(text[1]);
    return rc;
}

/* ---- the parts of a training --------------------------------------------------------------- */

static int read_settings(struct attn_training *how, const char *dir, struct attn_err *err)
{
    struct attn_map map = {0};
    char *path = NULL;
    int rc = attn_train_open_file(&map, &path, dir, ATTN_TRAIN_SETTINGS, err);
    *how = attn_training_defaults;
    if (!rc)
        rc = attn_training_read(how, (const char *)map.data, map.len, path, err);
    attn_map_close(&map);
    free(path);
    return rc;
}

static int check_settings(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_training asked;
    int rc = read_settings(&t->how, t->dir, err);
    if (rc)
        return rc;
    asked = t->how;
    asked.text = asked.also = asked.draw = NULL;
    if (t->how.draw && !(asked.draw = strdup(t->how.draw)))
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory to go on", t->dir);
    rc = attn_train_settle(&asked, o, err);
    if (!rc)
        rc = compare_written(t->dir, write_how, &t->how, &asked, err);
    attn_training_free(&asked);
    return rc;
}

static int check_config(const struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err)
{
    struct attn_config has = {0}, asked = {0};
    struct attn_map map = {0};
    char *path = NULL;
    if (!o->config)
        return ATTN_OK;
    int rc = attn_train_open_file(&map, &path, t->dir, "config.json", err);
    if (!rc)
        rc = attn_config_read(&has, (const char *)map.data, map.len, path, err);
    if (!rc)
        rc = attn_config_read(&asked, o->config, o->config_len, o->config_name, err);
    if (asked.end == 0)                 /* it follows from the vocabulary, which is compared by itself */
        asked.end = has.end;
    if (!rc)
        rc = compare_written(t->dir, write_config, &has, &asked, err);
    attn_config_free(&has);
    attn_config_free(&asked);
    attn_map_close(&map);
    free(path);
    return rc;
}

int attn_train_go_on(struct attn_train *t, const struct attn_train_opts *o, struct attn_err *err)
{
    int rc = check_settings(t, o, err);
    if (!rc)
        rc = check_config(t, o, err);
    return rc || !o->tokenizer ? rc : attn_train_compare_tokenizer(t->dir, o->tokenizer, err);
}

/* The files in a training's directory. */
#include "train/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/folder.h"
#include "making/narrow.h"
#include "picture/chart.h"
#include "train/checkpoint.h"

enum { FILE_LIMIT = 256 << 20 };

/* ---- files copied from elsewhere ----------------------------------------------------------- */

int attn_train_open_file(struct attn_map *map, char **path, const char *dir, const char *file, struct attn_err *err)
{
    *map = (struct attn_map){0};
    if (asprintf(path, "%s/%s", dir, file) < 0) {
        *path = NULL;
        attn_fail(err, ATTN_ENOMEM, "%s: no memory for a path", dir);
        return ATTN_ENOMEM;
    }
    return attn_map_open_found(map, *path, FILE_LIMIT, ATTN_LINKS_FOLLOWED, err);   /* training writes through links, too */
}

static bool same_directory(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Handles one of the tokenizer files that `from` has. */
typedef int tokenizer_fn(const char *dir, const char *file, const struct attn_map *map, struct attn_err *err);

static int each_file(const char *dir, const char *from, tokenizer_fn *with, struct attn_err *err)
{
    static const char *const files[] = {"vocab.json", "merges.txt", NULL};
    int rc = ATTN_OK;
    for (const char *const *file = files; *file && !rc && !same_directory(dir, from); file++) {
        struct attn_map map = {0};
        char *path = NULL;
        if (file != files && !attn_folder_has(from, *file))
            continue;                   /* a tokenizer by words has no merges.txt */
        rc = attn_train_open_file(&map, &path, from, *file, err);
        if (!rc)
            rc = with(dir, *file, &map, err);
        attn_map_close(&map);
        free(path);
    }
    return rc;
}

static int copy(const char *dir, const char *file, const struct attn_map *map, struct attn_err *err)
{
    struct attn_out *out = NULL;
    int rc = attn_folder_open(&out, dir, file, err);
    if (rc)
        return rc;
    attn_out_write(out, map->data, map->len);
    rc = attn_out_commit(out, err);
    attn_out_close(out);
    return rc;
}

int attn_train_copy_tokenizer(const char *dir, const char *from, struct attn_err *err)
{
    return each_file(dir, from, copy, err);
}

static int compare(const char *dir, const char *file, const struct attn_map *map, struct attn_err *err)
{
    struct attn_map has;
    char *path = NULL;
    int rc = attn_train_open_file(&has, &path, dir, file, err);
    if (!rc && (has.len != map->len || memcmp(has.data, map->data, map->len) != 0))
        rc = attn_fail(err, ATTN_EFORMAT, "%s: the training there has another vocabulary; leave --vocab out to go on, or choose "
                       "another directory", path);
    attn_map_close(&has);
    free(path);
    return rc;
}

int attn_train_compare_tokenizer(const char *dir, const char *from, struct attn_err *err)
{
    return each_file(dir, from, compare, err);
}

/* ---- files that training makes ------------------------------------------------------------- */

static int narrow_all(struct attn_st_tensor *list, const struct attn_params *p, float *values, const struct attn_narrow *type,
                      struct attn_err *err)
{
    int rc = ATTN_OK;
    memcpy(values, p->value, p->count * sizeof *values);
    attn_params_tensors(list, p, values);
    for (size_t i = 0; i < p->n && !rc; i++) {
        rc = attn_narrow(type, values + p->param[i].at, p->param[i].count, p->param[i].name, err);
        list[i].dtype = type->name;
        list[i].bytes = list[i].count * type->size;
    }
    return rc;
}

int attn_train_write_model(const struct attn_train *t, struct attn_err *err)
{
    const struct attn_params *p = t->params;
    struct attn_st_tensor *list = calloc(p->n, sizeof *list);
    float *values = malloc(p->count * sizeof *values);
    struct attn_out *out = NULL;
    if (!list || !values) {
        free(list);
        free(values);
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory to write the model", t->dir);
    }
    int rc = narrow_all(list, p, values, attn_narrow_find(attn_store_name(t->how.dtype)), err);
    if (!rc)
        rc = attn_folder_open(&out, t->dir, "model.safetensors", err);
    if (!rc)
        rc = attn_st_write(out, list, p->n, err);
    if (!rc)
        rc = attn_out_commit(out, err);
    attn_out_close(out);
    free(values);
    free(list);
    return rc;
}

static int write_curve(const struct attn_train *t, struct attn_err *err)
{
    struct attn_out *out = NULL;
    int rc = attn_folder_open(&out, t->dir, "loss.csv", err);
    if (rc)
        return rc;
    attn_curve_write(out, &t->curve);
    rc = attn_out_commit(out, err);
    attn_out_close(out);
    return rc;
}

struct lines { double *x, *y, *held_x, *held_y; size_t held; };

/* Puts the measured points into columns. */
static void fill_lines(struct lines *l, const struct attn_curve *c)
{
    for (size_t i = 0; i < c->n; i++) {
        l->x[i] = c->point[i].step;
        l->y[i] = c->point[i].loss;
        if (!isnan(c->point[i].held_out)) {
            l->held_x[l->held] = c->point[i].step;
            l->held_y[l->held++] = c->point[i].held_out;
        }
    }
}

static int draw_curve(const struct attn_train *t, struct attn_err *err)
{
    size_t n = t->curve.n;
    double *memory = calloc(4 * n + 1, sizeof *memory);
    struct attn_out *out = NULL;
    if (!memory)
        return attn_fail(err, ATTN_ENOMEM, "%s: no memory to draw the loss", t->dir);
    struct lines l = {memory, memory + n, memory + 2 * n, memory + 3 * n, 0};
    fill_lines(&l, &t->curve);
    struct attn_chart_curve curve[] = {{"of each step's contexts", l.x, l.y, n, false},
                                       {"of the held-out text", l.held_x, l.held_y, l.held, true}};
    struct attn_chart chart = {"loss in nats a token", "steps", curve, l.held > 0 ? 2 : 1};
    int rc = attn_folder_open(&out, t->dir, "loss.png", err);
    if (!rc)
        rc = attn_chart_write(out, &chart, err);
    if (!rc)
        rc = attn_out_commit(out, err);
    attn_out_close(out);
    free(memory);
    return rc;
}

/* Checks the weights first: a good checkpoint must not be replaced by one that training cannot continue from. */
static int check_weights(const struct attn_train *t, struct attn_err *err)
{
    struct attn_err why = {0};
    if (attn_params_check(t->params, &why))
        return attn_fail(err, why.code, "step %zu: after it %s; try a lower --lr, a longer --warmup or a smaller --clip", t->curve.n,
                         why.msg);
    return ATTN_OK;
}

/* Saves the watched activations first, because nothing else has them, then the checkpoint, from which all the rest
 * can be made. */
int attn_train_save(struct attn_train *t, struct attn_err *err)
{
    int rc = attn_team_check(t->team, "this training", err);
    if (!rc)
        rc = check_weights(t, err);
    if (!rc)
        rc = attn_watch_save(t->watch, err);
    if (!rc)
        rc = attn_checkpoint_write(t->dir, &t->optimizer, &t->curve, err);
    if (!rc && !t->how.best)
        rc = attn_train_write_model(t, err);
    if (!rc)
        rc = write_curve(t, err);
    return rc ? rc : draw_curve(t, err);
}

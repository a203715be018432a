/* checkpoint.c - how far a training has come: the curve, one point for each step, to look at in loss.csv and loss.png;
 * and checkpoint.safetensors, all that the training needs to continue.
 *
 * loss.csv has the members of attn_point as columns, in their order; what was not measured is NaN, and empty in the
 * file.  The checkpoint holds the parameters under their own names, the optimizer's two moments with the prefixes
 * "first/" and "second/", all F32, and "curve", F64 [steps, 7], whose number of rows is the number of steps done.  It
 * is written completely or not at all; after reading it back, training continues as if it had never stopped. */
#include "train/trainer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/folder.h"
#include "base/format.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/num.h"
#include "picture/png.h"

/* ---- the curve ----------------------------------------------------------------------------- */

bool attn_curve_add(struct attn_curve *c, const struct attn_point *p)
{
    struct attn_point *point = attn_grow(c->point, &c->room, c->n + 1, sizeof *point);
    if (!point)
        return false;
    c->point = point;
    point[c->n++] = *p;
    return true;
}

void attn_curve_write(struct attn_out *out, const struct attn_curve *c)
{
    attn_out_str(out, "step,tokens,lr,loss,gradient,held_out,bits_per_byte\n");
    for (size_t i = 0; i < c->n; i++) {
        double x[ATTN_POINT_NUMBERS];
        char text[ATTN_NUM_MAX];
        memcpy(x, &c->point[i], sizeof x);
        for (int k = 0; k < ATTN_POINT_NUMBERS; k++) {
            if (k > 0)
                attn_out_char(out, ',');
            if (!isnan(x[k]))
                attn_out_write(out, text, attn_num_f64(text, x[k]));
        }
        attn_out_char(out, '\n');
    }
}

void attn_curve_free(struct attn_curve *c)
{
    free(c->point);
    *c = (struct attn_curve){0};
}

double attn_curve_best(const struct attn_curve *c)
{
    double best = INFINITY;
    for (size_t i = 0; i < c->n; i++)
        if (c->point[i].held_out < best)
            best = c->point[i].held_out;
    return best;
}

static int write_curve(const char *dir, const struct attn_curve *c, struct attn_err *err)
{
    struct attn_out *out = NULL;
    int rc = attn_folder_open(&out, dir, "loss.csv", err);
    if (rc)
        return rc;
    attn_curve_write(out, c);
    return attn_out_end(out, ATTN_OK, err);
}

struct lines { double *x, *y, *held_x, *held_y; size_t n_held; };

/* Puts the measured points into columns. */
static void fill_lines(struct lines *l, const struct attn_curve *c)
{
    for (size_t i = 0; i < c->n; i++) {
        l->x[i] = c->point[i].step;
        l->y[i] = c->point[i].loss;
        if (!isnan(c->point[i].held_out)) {
            l->held_x[l->n_held] = c->point[i].step;
            l->held_y[l->n_held++] = c->point[i].held_out;
        }
    }
}

static int draw_curve(const char *dir, const struct attn_curve *c, struct attn_err *err)
{
    size_t n = c->n;
    double *memory = calloc(4 * n + 1, sizeof *memory);
    struct attn_out *out = NULL;
    if (!memory)
        return attn_no_memory(err, dir, "to draw the loss");
    struct lines l = {memory, memory + n, memory + 2 * n, memory + 3 * n, 0};
    fill_lines(&l, c);
    struct attn_chart_curve curve[] = {{"of each step's contexts", l.x, l.y, n, false},
                                       {"of the held-out text", l.held_x, l.held_y, l.n_held, true}};
    struct attn_chart chart = {"loss in nats a token", "steps", curve, l.n_held > 0 ? 2 : 1};
    int rc = attn_folder_open(&out, dir, "loss.png", err);
    if (!rc)
        rc = attn_chart_write(out, &chart, err);
    rc = attn_out_end(out, rc, err);
    free(memory);
    return rc;
}

int attn_curve_save(const char *dir, const struct attn_curve *c, struct attn_err *err)
{
    int rc = write_curve(dir, c, err);
    return rc ? rc : draw_curve(dir, c, err);
}

/* ---- the checkpoint ------------------------------------------------------------------------ */

enum { BLOCKS = 3 };                    /* values and the two moments */
static const char curve_name[] = "curve";

static char *path_of(const char *dir)
{
    char *path = NULL;
    return attn_asprintf(&path, "%s/" ATTN_CHECKPOINT_FILE, dir) < 0 ? NULL : path;
}

static int no_memory(const char *dir, struct attn_err *err)
{
    return attn_fail(err, ATTN_ENOMEM, "%s/" ATTN_CHECKPOINT_FILE ": no memory for it", dir);
}

struct content { struct attn_st_tensor *tensor; size_t n; char *names; };

static void content_free(struct content *c)
{
    free(c->tensor);
    free(c->names);
}

/* Lists every tensor of the three blocks, with room for one more. */
static bool content_of(struct content *c, const struct attn_optimizer *o)
{
    static const char *const prefix[BLOCKS] = {"", "first/", "second/"};
    const float *const block[BLOCKS] = {o->p->value, o->m, o->v};
    size_t bytes = 0;
    for (size_t i = 0; i < o->p->n; i++)
        bytes += BLOCKS * (strlen(o->p->param[i].name) + sizeof "second/");
    *c = (struct content){.tensor = calloc(BLOCKS * o->p->n + 1, sizeof *c->tensor), .names = malloc(bytes + 1)};
    if (!c->tensor || !c->names)
        return false;
    char *name = c->names;
    for (int b = 0; b < BLOCKS; b++, c->n += o->p->n) {
        attn_params_tensors(c->tensor + c->n, o->p, block[b]);
        for (size_t i = 0; i < o->p->n; i++) {
            c->tensor[c->n + i].name = name;
            name += sprintf(name, "%s%s", prefix[b], o->p->param[i].name) + 1;
        }
    }
    return true;
}

static struct attn_st_tensor curve_tensor(const struct attn_curve *curve)
{
    return (struct attn_st_tensor){
        .name = curve_name, .dtype = "F64", .ndim = 2, .shape = {curve->n, ATTN_POINT_NUMBERS},
        .count = curve->n * ATTN_POINT_NUMBERS, .bytes = curve->n * sizeof *curve->point,
        .data = (unsigned char *)curve->point};
}

int attn_checkpoint_write(const char *dir, const struct attn_optimizer *o, const struct attn_curve *curve,
                          struct attn_err *err)
{
    struct content c;
    struct attn_out *out = NULL;
    int rc = content_of(&c, o) ? ATTN_OK : no_memory(dir, err);
    if (!rc)
        rc = attn_folder_open(&out, dir, ATTN_CHECKPOINT_FILE, err);
    if (!rc) {
        c.tensor[c.n] = curve_tensor(curve);
        rc = attn_st_write(out, c.tensor, c.n + 1, err);
    }
    if (!rc)
        rc = attn_out_flush(out, true, err);    /* must reach the disk before it replaces the only other copy */
    rc = attn_out_end(out, rc, err);
    content_free(&c);
    return rc;
}

static int take(const struct attn_st *st, const struct attn_st_tensor *want, const char *path, struct attn_err *err)
{
    const struct attn_st_tensor *t = attn_st_find(st, want->name);
    if (!t)
        return attn_fail(err, ATTN_EFORMAT, "%s: there is no tensor '%s'", path, want->name);
    if (strcmp(t->dtype, want->dtype) != 0 || t->count != want->count)
        return attn_fail(err, ATTN_EFORMAT, "%s: tensor '%s' has %zu numbers of type %s, expected %zu of type %s", path,
                         want->name, t->count, t->dtype, want->count, want->dtype);
    memcpy((void *)want->data, t->data, t->bytes);
    return ATTN_OK;
}

static const double TOKENS_MAX = 9007199254740992.0;    /* up to 2^53 a double holds all whole numbers */

static int take_curve(const struct attn_st *st, struct attn_curve *curve, const char *path, struct attn_err *err)
{
    const struct attn_st_tensor *t = attn_st_find(st, curve_name);
    if (!t || t->ndim != 2 || t->shape[1] != ATTN_POINT_NUMBERS || strcmp(t->dtype, "F64") != 0)
        return attn_fail(err, ATTN_EFORMAT, "%s: expected a tensor '%s' of type F64, [steps,%d]", path, curve_name,
                         ATTN_POINT_NUMBERS);
    struct attn_point p;
    for (curve->n = 0; curve->n < t->shape[0];) {
        memcpy(&p, t->data + curve->n * sizeof p, sizeof p);
        double before = curve->n ? curve->point[curve->n - 1].tokens : 0;
        if (p.step != (double)curve->n + 1 || !(p.tokens >= before && p.tokens <= TOKENS_MAX))
            return attn_fail(err, ATTN_EFORMAT, "%s: '%s' has step %g of %g tokens in row %zu, expected step %zu: the "
                                                "file was changed", path, curve_name, p.step, p.tokens, curve->n,
                             curve->n + 1);
        if (!attn_curve_add(curve, &p))
            return attn_no_memory(err, path, "for the curve");
    }
    return ATTN_OK;
}

static int take_all(const struct attn_map *map, const char *path, const struct content *c, struct attn_curve *curve,
                    struct attn_err *err)
{
    struct attn_st *st = NULL;
    int rc = attn_st_open(&st, map->data, map->len, path, err);
    for (size_t i = 0; i < c->n && !rc; i++)
        rc = take(st, &c->tensor[i], path, err);
    if (!rc)
        rc = take_curve(st, curve, path, err);
    attn_st_close(st);
    return rc;
}

int attn_checkpoint_read(const char *dir, struct attn_optimizer *o, struct attn_curve *curve, struct attn_err *err)
{
    struct content c;
    struct attn_map map = {0};
    char *path = path_of(dir);
    bool ready = content_of(&c, o) && path;     /* a link is followed, because it is written through a link, too */
    int rc = ready ? attn_map_open_found(&map, path, SIZE_MAX, ATTN_LINKS_FOLLOWED, err) : no_memory(dir, err);
    if (!rc)
        rc = take_all(&map, path, &c, curve, err);
    attn_map_close(&map);
    content_free(&c);
    free(path);
    return rc;
}

/* plot.c - draws a dump: collects what is wanted in an album, and makes a picture of it.
 *
 * A dump is of one run, or it is a history: arrays whose first axis is time, watched while a model was trained.
 *
 * Over 500 lines, since choosing, naming and merging all work on one plot. */
#include "attn_tools.h"
#include "base/err.h"
#include "base/out.h"
#include "base/size.h"
#include "io/dump.h"
#include "picture/album.h"
#include "picture/figure.h"
#include "picture/lettering.h"
#include "picture/look.h"
#include "sinks/merge_words.h"
#include "sinks/plot_mask.h"
#include "sinks/sink_picture.h"
#include "text/whole_words.h"
#include "trace/hooks.h"
#include "trace/spec.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plot {
    const struct attn_dump *dump;
    const struct attn_plot_opts *o;
    bool *show, *layer, *head;          /* which items, layers and heads of the dump are wanted */
    size_t layers, heads;
    size_t **numbers;                   /* for each item, the numbers of its heads, or of the steps of training */
    struct attn_tokens queries, keys;
    struct attn_words query_words, key_words;   /* first NULL: tokens are drawn as they are */
    struct attn_album album;
    size_t first[ATTN_ACTS];            /* the first sheet of each activation's kind, if there is one */
};

/* ---- what is wanted -------------------------------------------------------------------- */

static bool fits(const char *glob, size_t len, const char *name)
{
    int layer, act = attn_act_find(name, &layer);
    return act < 0 ? attn_glob(glob, len, name) : attn_act_match(glob, len, act, layer);
}

static size_t show_matches(struct plot *p, const char *glob, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < p->dump->n; i++)
        if (fits(glob, len, p->dump->item[i].name)) {
            p->show[i] = true;
            n++;
        }
    return n;
}

/* The same for a name of another library, which the dump has by ours. */
static int hook_matches(struct plot *p, size_t *n, const char *name, size_t len, struct attn_err *err)
{
    struct attn_hook_points has = {0};
    char ours[ATTN_HOOK_ROOM];
    int layer, act;
    for (size_t i = 0; i < p->dump->n; i++)
        if ((act = attn_act_find(p->dump->item[i].name, &layer)) >= 0)
            has.has[act] = true;
    int rc = attn_hook_translate(ours, name, len, &has, "--show", err);
    *n = !rc && *ours ? show_matches(p, ours, strlen(ours)) : 0;
    return rc;
}

static int fail_absent(const struct plot *p, const char *name, size_t len, struct attn_err *err)
{
    char list[200] = "";
    size_t n = 0;
    for (; n < p->dump->n && strlen(list) < sizeof list - 60; n++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.48s", n ? ", " : "", p->dump->item[n].name);
    return attn_fail(err, ATTN_EUSAGE, "--show: %s has no '%.*s'; it has %s%s", p->o->title, (int)(len < 80 ? len : 80),
                     name, list, n < p->dump->n ? "..." : "");
}

static int choose_items(struct plot *p, struct attn_err *err)
{
    const char *show = p->o->show;
    if (!show && show_matches(p, "pattern", 7))
        return ATTN_OK;
    for (const char *at = show ? show : "*"; at; at = *at ? at + 1 : NULL) {
        size_t len = strcspn(at, ","), n = show_matches(p, at, len);
        if (!n && hook_matches(p, &n, at, len, err))
            return err->code;
        if (!n)
            return fail_absent(p, at, len, err);
        at += len;
    }
    return ATTN_OK;
}

static size_t head_number(const struct attn_dumped *what, size_t i)
{
    return what->heads ? what->heads[i] : i;
}

/* An array's shape as [n, rows, cols], and whether heads are its first axis; false: too many axes, or no numbers. */
static bool as_matrices(const struct attn_array *a, size_t shape[3], bool *heads)
{
    int first = 0;
    while (a->ndim - first > 3 && a->shape[first] == 1)
        first++;
    int ndim = a->ndim - first;
    *heads = ndim == 3;
    for (int i = 0; i < 3; i++)
        shape[i] = ndim - 3 + i >= 0 && ndim <= 3 ? a->shape[first + ndim - 3 + i] : 1;
    return ndim <= 3 && a->n > 0;
}

/* The size of an axis, counted from the end, of an array [times, heads, rows, cols] or [times, rows, cols]. */
static size_t axis(const struct attn_dumped *what, int from_end)
{
    return what->of.shape[what->of.ndim - from_end];
}

static size_t history_heads(const struct attn_dumped *what)
{
    return what->of.ndim > 3 ? axis(what, 3) : 0;
}

static int choose_indices(struct plot *p, struct attn_err *err)
{
    enum { MOST = 1 << 20 };            /* most layers and heads; a dump with more is refused */
    for (size_t i = 0; i < p->dump->n; i++) {
        const struct attn_dumped *what = &p->dump->item[i];
        size_t shape[3];
        bool heads;
        int layer;
        if (attn_act_find(what->name, &layer) >= 0 && layer >= (int)p->layers)
            p->layers = (size_t)layer + 1;
        size_t n = p->dump->steps ? history_heads(what) : as_matrices(&what->of, shape, &heads) && heads ? shape[0] : 0;
        for (size_t k = 0; k < n; k++) {
            size_t head = head_number(what, k) < MOST ? head_number(what, k) : MOST;
            p->heads = head < p->heads ? p->heads : head + 1;
        }
    }
    if (p->layers > MOST || p->heads > MOST)
        return attn_fail(err, ATTN_EFORMAT, "%s: layer %zu and head %zu are too many to draw", p->o->title, p->layers,
                         p->heads);
    p->layer = calloc(p->layers + 1, sizeof *p->layer);
    p->head = calloc(p->heads + 1, sizeof *p->head);
    if (!p->layer || !p->head)
        return attn_no_memory(err, NULL, "to choose layers and heads");
    struct attn_spec layers = {"--layer", "layer", p->o->layers, p->layers, "dump", p->o->title};
    struct attn_spec heads = {"--head", "head", p->o->heads, p->heads, "dump", p->o->title};
    return attn_spec_both(p->layer, p->head, &layers, &heads, err);
}

/* ---- the album ------------------------------------------------------------------------- */

static int take_tokens(struct attn_tokens *out, const struct attn_dump_list *list, struct attn_err *err)
{
    out->n = list->n;
    out->tok = calloc(list->n + 1, sizeof *out->tok);
    if (!out->tok)
        return attn_no_memory(err, NULL, "for %zu labels", list->n);
    for (size_t i = 0; i < list->n; i++) {
        const struct attn_dump_token *t = &list->item[i];
        out->tok[i] = (struct attn_token){.id = t->id, .known = t->text, .text = t->text, .text_len = t->len,
                                          .raw = t->text,
                                          .raw_len = t->len};
    }
    return ATTN_OK;
}

static int misfit(const struct plot *p, size_t expected, struct attn_err *err)
{
    size_t n = attn_labels_count(p->o->labels);
    return attn_fail(err, ATTN_EFORMAT,
                     "%s: there %s %zu label%s, expected %zu, one for each token or row", p->o->title, n == 1 ? "is"
                     : "are", n, n == 1 ? "" : "s", expected);
}

/* Gives tokens, or the rows of arrays whose tokens are not known, the names that the caller has for them. */
static int name_tokens(const struct plot *p, struct attn_tokens *t, struct attn_err *err)
{
    size_t n = attn_labels_count(p->o->labels);
    if (t->n && t->n != n)
        return misfit(p, t->n, err);
    struct attn_token *tok = realloc(t->tok, (n + 1) * sizeof *tok);
    if (!tok)
        return attn_no_memory(err, NULL, "for %zu labels", n);
    for (size_t i = 0; i < n; i++)
        tok[i] = (struct attn_token){.id = t->n ? tok[i].id : (int32_t)i, .text = "", .raw = ""};
    *t = (struct attn_tokens){n, tok};
    return attn_tokens_label(t, p->o->labels, err);
}

/* Labels that name no row of anything drawn are a slip. */
static int check_labels(const struct plot *p, struct attn_err *err)
{
    size_t n = p->o->labels ? attn_labels_count(p->o->labels) : 0;
    if (p->query_words.first)
        return ATTN_OK;                 /* they fit the tokens that are merged */
    for (size_t i = 0; i < p->album.n; i++)
        if (p->album.sheet[i].rows == n || p->album.sheet[i].cols == n)
            return ATTN_OK;
    return p->o->labels && p->album.n ? misfit(p, p->album.sheet[0].rows, err) : ATTN_OK;
}

static int take_labels(struct plot *p, struct attn_err *err)
{
    const struct attn_dump *d = p->dump;
    int rc = take_tokens(&p->queries, d->tokens.n ? &d->tokens : &d->rows, err);
    if (!rc)
        rc = take_tokens(&p->keys, d->keys.n ? &d->keys : d->tokens.n ? &d->tokens : &d->cols, err);
    if (!rc && p->o->labels)
        rc = name_tokens(p, &p->queries, err);
    if (!rc && p->o->labels && !d->keys.n && (!p->keys.n || p->keys.n == p->queries.n))
        rc = name_tokens(p, &p->keys, err);
    p->album.queries = p->queries.n ? &p->queries : NULL;
    p->album.keys = p->keys.n ? &p->keys : NULL;
    return rc;
}

static const struct attn_sink_methods *methods_of(const struct plot *p)
{
    return attn_format_methods(attn_format_find(p->o->format));
}

/* ---- words ---- */

/* From here on rows and columns are called by words, unless a page merges them itself. */
static int find_words(struct plot *p, struct attn_err *err)
{
    if (!p->queries.n || !p->queries.tok[0].known)
        return attn_fail(err, ATTN_EUSAGE, "%s: --words needs the texts of tokens, and there are none: name them with "
                                           "--labels", p->o->title);
    if (p->dump->steps)
        return attn_fail(err, ATTN_EUSAGE,
                         "%s: --words merges the patterns of one run, not a history of training", p->o->title);
    if (methods_of(p)->merges)
        return ATTN_OK;
    int rc = attn_words_make(&p->query_words, &p->queries, NULL, 0, err);
    if (!rc)
        rc = attn_words_make(&p->key_words, p->keys.n ? &p->keys : &p->queries, NULL, 0, err);
    if (!rc)
        p->album.queries = &p->query_words.tokens;
    if (!rc && p->keys.n)
        p->album.keys = &p->key_words.tokens;
    return rc;
}

/* What is not of this text's tokens, or means nothing when it is added up, cannot be merged. */
static int fit_words(struct plot *p, struct attn_sheet *s, const char *name, struct attn_err *err)
{
    int layer, act = attn_act_find(name, &layer);
    bool square = act < 0 || attn_act_square(act);
    size_t rows = p->query_words.first[p->query_words.n], cols = p->key_words.first[p->key_words.n];
    if (act >= 0 && !attn_merger_takes(act))
        return attn_fail(err, ATTN_EUSAGE,
                         "%s: --words merges pattern, rollout and context: '%s' means nothing when it is added up over "
                         "the tokens of a word: leave it, or --words, out",
                         p->o->title, name);
    if (s->rows != rows || (square && s->cols != cols))
        return attn_fail(err, ATTN_EFORMAT, "%s: '%s' is [%zu, %zu], and there are %zu and %zu tokens: their words do "
                                            "not fit", p->o->title,
                         name, s->rows, s->cols, rows, cols);
    s->rows = p->query_words.n;
    s->cols = square ? p->key_words.n : s->cols;
    return ATTN_OK;
}

/* Lists which heads of an item are wanted, by number in the model and by place in the item; returns how many. */
static size_t list_heads(const struct plot *p, const struct attn_dumped *what, size_t n, size_t *list, size_t *at)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (p->head[head_number(what, i)]) {
            at[kept] = i;
            list[kept++] = head_number(what, i);
        }
    return kept;
}

/* The first sheet of an activation's kind; NULL: the next sheet may become the first. */
static const struct attn_sheet *first_of(struct plot *p, int act)
{
    const struct attn_sheet *s = p->first[act] < p->album.n ? &p->album.sheet[p->first[act]] : NULL;
    if (s && !strcmp(s->kind, attn_act_tail(act)))
        return s;
    p->first[act] = p->album.n;
    return NULL;
}

/* Whether there are fewer heads of keys or values than of queries. */
static bool is_shared(const struct plot *p, const char *name, int act, int layer)
{
    char queries[ATTN_NAME_MAX];
    attn_act_name(queries, ATTN_ACT_Q, layer);
    const struct attn_dumped *q = attn_act_kv_heads(act) ? attn_dump_item(p->dump, queries) : NULL;
    const struct attn_dumped *own = attn_dump_item(p->dump, name);
    return q && own && q->of.ndim == 3 && own->of.ndim == 3 && q->of.shape[0] != own->of.shape[0];
}

/* Sheets of one kind have the same shape: one of another shape is a kind of its own, named by its whole name. */
static void name_sheet(struct plot *p, struct attn_sheet *s, const char *name, bool labelled)
{
    int act = attn_act_find(name, &s->layer);
    s->kind = s->title = s->said = name;
    s->axes = "";
    s->keys = act < 0 ? labelled : attn_act_square(act);
    s->of_keys = act >= 0 && attn_act_of_keys(act) && p->dump->keys.n;
    s->shared = act >= 0 && is_shared(p, name, act, s->layer);
    s->sight = attn_sight_of(act);
    const struct attn_sheet *other = act < 0 ? NULL : first_of(p, act);
    if (act < 0 || (other && (other->rows != s->rows || other->cols != s->cols)))
        return;
    s->kind = attn_act_tail(act);
    s->title = attn_act_title(act);
    s->said = NULL;
    s->axes = attn_act_axes(act);
}

/* Adds heads to a sheet.  Numbers are borrowed from the dump, or copied where heads in between are left out. */
static int merge_heads(struct plot *p, struct attn_sheet *s, const struct attn_dumped *what, const size_t *at,
                       struct attn_err *err)
{
    const struct attn_words *keys = attn_act_find(what->name, &(int){0}) >= 0 && !s->keys ? NULL : &p->key_words;
    size_t tokens = p->query_words.first[p->query_words.n], size = tokens * (keys ? keys->first[keys->n] : s->cols);
    float *own = NULL;
    int rc = attn_album_add(&p->album, s, &own, err);
    for (size_t i = 0; !rc && i < s->n; i++)
        rc = attn_merge_matrix(own + i * s->rows * s->cols, what->of.data + at[i] * size, &p->query_words, keys,
                               s->cols, err);
    return rc;
}

static int add_heads(struct plot *p, struct attn_sheet *s, const struct attn_dumped *what, size_t n, const size_t *at,
                     struct attn_err *err)
{
    float *own = NULL;
    size_t size = s->rows * s->cols;
    if (p->query_words.first)
        return merge_heads(p, s, what, at, err);
    bool nan = what->loose && s->mask;
    if (s->n == n && !nan)
        s->data = what->of.data;
    int rc = attn_album_add(&p->album, s, &own, err);
    for (size_t i = 0; !rc && own && i < s->n; i++)
        memcpy(own + i * size, what->of.data + (s->heads ? at[i] : 0) * size, size * sizeof *own);
    if (!rc && nan)
        attn_plot_unmask_nan(own, s);
    return rc;
}

static int find_mask(struct plot *p, struct attn_sheet *s, const struct attn_dumped *what, const size_t *at,
                     struct attn_err *err)
{
    bool words = p->query_words.first;
    return attn_plot_mask(&p->album, s, p->dump, what, at, words ? &p->query_words : NULL, words ? &p->key_words : NULL,
                          err);
}

static int add_item(struct plot *p, size_t item, struct attn_err *err)
{
    const struct attn_dumped *what = &p->dump->item[item];
    size_t shape[3];
    bool heads;
    if (!as_matrices(&what->of, shape, &heads))
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: '%s' is %s: expected a matrix, or one per head", p->o->title, what->name,
                         what->of.n ? "an array of more than three axes" : "empty");
    struct attn_sheet s = {.n = 1, .rows = shape[1], .cols = shape[2]};
    size_t *at = calloc(shape[0] + 1, sizeof *at), *list = calloc(shape[0] + 1, sizeof *list);
    p->numbers[item] = list;
    if (!at || !list) {
        free(at);
        return attn_no_memory(err, NULL, "for the heads of '%s'", what->name);
    }
    if (heads) {
        s.n = list_heads(p, what, shape[0], list, at);
        s.heads = list;
    }
    bool labelled = p->keys.n == s.cols;
    int rc = p->query_words.first ? fit_words(p, &s, what->name, err) : ATTN_OK;
    if (!rc)
        name_sheet(p, &s, what->name, labelled);
    bool wanted = !rc && s.n && (s.layer < 0 || p->layer[s.layer]);
    if (wanted)
        rc = find_mask(p, &s, what, at, err);
    if (wanted && !rc)
        rc = add_heads(p, &s, what, heads ? shape[0] : 1, at, err);
    free(at);
    return rc;
}

/* ---- a history ------------------------------------------------------------------------- */

/* times shown, unless attn_plot_opts.frames says otherwise; of a page, which shows one at a time */
enum { FRAMES = 8, FRAMES_OF_PAGE = 100 };

static bool is_page(const struct plot *p)
{
    return p->dump->steps && methods_of(p)->draw == attn_html_write;
}

static size_t times(const struct plot *p)
{
    return smaller(p->dump->n_steps, p->o->frames ? p->o->frames : is_page(p) ? FRAMES_OF_PAGE : FRAMES);
}

/* The k-th of the times shown, which are evenly spread and include the first and the last one. */
static size_t time_at(const struct plot *p, size_t k)
{
    size_t n = times(p), last = p->dump->n_steps - 1;
    return n > 1 ? (k * last + (n - 1) / 2) / (n - 1) : last;
}

/* Lists the steps that are shown; the list belongs to the plot. */
static const size_t *list_steps(struct plot *p, size_t item)
{
    size_t n = times(p), *list = p->numbers[item] = calloc(n, sizeof *list);
    for (size_t k = 0; list && k < n; k++)
        list[k] = (size_t)p->dump->steps[time_at(p, k)];
    return list;
}

static int add_sheet(struct plot *p, const struct attn_sheet *sheet, const struct attn_dumped *what, size_t head,
                     struct attn_err *err)
{
    size_t size = sheet->rows * sheet->cols, heads = history_heads(what);
    float *own = NULL;
    int rc = attn_album_add(&p->album, sheet, &own, err);
    for (size_t k = 0; k < sheet->n && !rc; k++) {
        size_t at = time_at(p, k) * (heads ? heads : 1) + head;
        memcpy(own + k * size, what->of.data + at * size, size * sizeof *own);
    }
    return rc;
}

static int add_history(struct plot *p, size_t item, struct attn_err *err)
{
    const struct attn_dumped *what = &p->dump->item[item];
    size_t heads = history_heads(what);
    if (what->of.ndim > 4 || what->of.n == 0)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: '%s' is %s: expected a matrix, or one per head, at each time", p->o->title,
                         what->name, what->of.n ? "an array of more axes" : "empty");
    struct attn_sheet s = {.n = times(p), .rows = axis(what, 2), .cols = axis(what, 1), .steps = list_steps(p, item)};
    if (!s.steps)
        return attn_no_memory(err, NULL, "for the times of '%s'", what->name);
    int rc = ATTN_OK;
    for (size_t h = 0; h < (heads ? heads : 1) && !rc; h++) {
        s.head = heads ? head_number(what, h) : ATTN_NO_HEAD;
        name_sheet(p, &s, what->name, p->keys.n == s.cols);
        if (!s.mask)
            rc = find_mask(p, &s, what, NULL, err);
        if (!rc && (!heads || p->head[s.head]) && (s.layer < 0 || p->layer[s.layer]))
            rc = add_sheet(p, &s, what, h, err);
    }
    return rc;
}

/* ---- all items, in order --------------------------------------------------------------- */

struct position { int act, layer; size_t item; };

/* Where an array belongs in the order in which activations are computed: what follows the blocks is behind their last
 * layer, and so are arrays whose names are not ours, which come last. */
static struct position position_of(const char *name, size_t item)
{
    struct position p = {.item = item};
    p.act = attn_act_find(name, &p.layer);
    if (p.act < 0 || p.act >= ATTN_ACT_NORM_FINAL)
        p.layer = INT_MAX;
    return p;
}

static int by_flow(const void *a, const void *b)
{
    const struct position *x = a, *y = b;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    if (x->act != y->act)
        return (unsigned)x->act < (unsigned)y->act ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static int add_items(struct plot *p, struct attn_err *err)
{
    struct position *order = calloc(p->dump->n + 1, sizeof *order);
    int rc = ATTN_OK;
    if (!order)
        return attn_no_memory(err, NULL, "to sort %zu arrays", p->dump->n);
    for (size_t i = 0; i < p->dump->n; i++)
        order[i] = position_of(p->dump->item[i].name, i);
    qsort(order, p->dump->n, sizeof *order, by_flow);
    for (size_t i = 0; !rc && i < p->dump->n; i++)
        if (p->show[order[i].item])
            rc = (p->dump->steps ? add_history : add_item)(p, order[i].item, err);
    free(order);
    return rc;
}

static int fill(struct plot *p, struct attn_err *err)
{
    p->show = calloc(p->dump->n + 1, sizeof *p->show);
    p->numbers = calloc(p->dump->n + 1, sizeof *p->numbers);
    if (!p->show || !p->numbers)
        return attn_no_memory(err, NULL, "to choose among %zu arrays", p->dump->n);
    p->album.model = p->o->title;
    int rc = choose_items(p, err);
    if (!rc)
        rc = choose_indices(p, err);
    if (!rc)
        rc = take_labels(p, err);
    if (!rc && p->o->words)
        rc = find_words(p, err);
    if (!rc)
        rc = add_items(p, err);
    if (!rc)
        rc = check_labels(p, err);
    if (!rc && !p->album.n)
        rc = attn_fail(err, ATTN_EUSAGE, "%s: --show, --layer and --head together leave nothing to draw", p->o->title);
    return rc;
}

/* Of times left out, characters that are boxes and pictures that show next to nothing, the first counts more. */
static void note(char *text, const struct plot *p, const struct attn_look *look)
{
    size_t n = p->dump->steps ? p->dump->n_steps : 0;
    *text = '\0';
    if (n > 0 && !p->o->frames && times(p) < n)
        snprintf(text, ATTN_PLOT_NOTE,
                 "%zu of %zu steps are shown, evenly spread; --frames %zu shows all", times(p), n, n);
    else if (look->lacks->n)
        attn_lacks_text(text, ATTN_PLOT_NOTE, look->lacks, ".svg or .html");
    else if (!methods_of(p)->next)
        attn_album_low_contrast(text, &p->album, look);
}

static int draw(const struct plot *p, struct attn_err *err)
{
    struct attn_look look;
    struct attn_lacks lacks = {.n = 0};
    struct attn_out *out = NULL;
    int rc = attn_look_make(&look, &p->o->picture, err);
    look.lacks = &lacks;
    look.width = p->o->width;
    look.words = p->o->words;
    if (!rc)
        rc = attn_out_open(&out, p->o->path, err);
    if (!rc)
        rc = (is_page(p) ? attn_history_write : methods_of(p)->draw)(out, &p->album, &look, err);
    if (!rc)
        rc = attn_out_commit(out, err);
    if (!rc && p->o->note)
        note(p->o->note, p, &look);
    attn_out_close(out);
    return rc;
}

static void clear(struct plot *p)
{
    for (size_t i = 0; p->numbers && i < p->dump->n; i++)
        free(p->numbers[i]);
    attn_album_free(&p->album);
    attn_words_free(&p->query_words);
    attn_words_free(&p->key_words);
    free(p->queries.tok);
    free(p->keys.tok);
    free(p->numbers);
    free(p->show);
    free(p->layer);
    free(p->head);
}

_Static_assert((int)ATTN_LOW_CONTRAST_TEXT <= (int)ATTN_PLOT_NOTE, "a note fits");

int attn_plot(const struct attn_dump *d, const struct attn_plot_opts *o, struct attn_err *err)
{
    struct plot p = {.dump = d, .o = o};
    const struct attn_format *format = attn_format_find(o->format);
    char list[ATTN_FORMAT_LIST];
    if (!format || !(format->flags & ATTN_FORMAT_PICTURE))
        return attn_fail(err, ATTN_EUSAGE, "unknown picture format '%s': expected one of %s", o->format,
                         attn_format_list(list, ATTN_FORMAT_PICTURE));
    int rc = fill(&p, err);
    if (!rc)
        rc = attn_album_link(&p.album, err);
    if (!rc)
        rc = draw(&p, err);
    clear(&p);
    return rc;
}

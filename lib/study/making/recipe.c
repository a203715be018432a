/* recipe.c - a small language that says which tensor gets which numbers, and in what order.
 *
 * Random numbers come from one stream, so that order matters: a recipe replays the calls of a torch program.  Steps
 * are separated by white space or ';' and are executed from left to right:
 *
 *     seed:N                  torch.manual_seed(N)
 *     skip:N                  N words of the generator are drawn and dropped
 *     NAME:DIST               one tensor, or one of every layer, layer 0 first
 *     heads(NAME:DIST,...)    of q, k, v: head by head, each as a matrix of its own
 *
 * NAME is embed, pos_embed, q, k, v, o, norm1, norm2, mlp.in, mlp.gate, mlp.out, norm_final or unembed; the same with
 * .bias; or a tensor's full name, like blocks.0.attn.q.weight.  DIST is
 *
 *     rand                    uniform numbers from 0 to 1
 *     randn                   normal numbers
 *     uniform(A,B)            uniform numbers from A to B
 *     normal(MEAN,STD)
 *     linear                  as torch.nn.Linear draws them, with the bias if the model needs one
 *     zeros, ones, identity
 *     file(PATH)              CSV text, one row per line
 *
 * A random DIST may end in /ROWS: a tensor of ROWS rows is drawn and the first rows are kept (`embed:randn/50000` is
 * torch.nn.Embedding(50000, d) of a larger vocabulary).  A tensor drawn twice keeps the later numbers.  A weight that
 * no step draws is an error; a required bias that no step draws is zero. */
#include "making/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "base/num.h"

/* ---- reading a recipe ---------------------------------------------------------------------- */

struct slice { const char *s; size_t len; };

/* The step that is being executed, for messages. */
struct step { struct slice text; size_t column; };

static int bad(const struct step *st, struct attn_err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int bad(const struct step *st, struct attn_err *err, const char *fmt, ...)
{
    char why[320];
    va_list ap;
    va_start(ap, fmt);
    attn_vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    return attn_fail(err, ATTN_EUSAGE, "draw: column %zu, '%.*s': %s", st->column,
                     (int)(st->text.len < 80 ? st->text.len : 80), st->text.s, why);
}

static bool equal(struct slice a, const char *b)
{
    return a.len == strlen(b) && memcmp(a.s, b, a.len) == 0;
}

/* Position of the first of `stops` outside of parentheses; len if there is none. */
static size_t find(struct slice t, const char *stops)
{
    int depth = 0;
    for (size_t i = 0; i < t.len; i++) {
        if (depth == 0 && strchr(stops, t.s[i]))
            return i;
        depth += (t.s[i] == '(') - (t.s[i] == ')');
    }
    return t.len;
}

/* Removes the text before the first of `stops`, together with that character, from the front. */
static struct slice take(struct slice *rest, const char *stops)
{
    size_t at = find(*rest, stops), used = at < rest->len ? at + 1 : at;
    struct slice head = {rest->s, at};
    rest->s += used;
    rest->len -= used;
    return head;
}

static int read_count(const struct step *st, struct slice t, const char *what, uint64_t *out, struct attn_err *err)
{
    if (!attn_num_parse_u64(t.s, t.len, out))
        return bad(st, err, "expected %s, found '%.*s'", what, (int)t.len, t.s);
    return ATTN_OK;
}

static const struct dist_name {
    const char *name, *args;            /* args: what is expected in parentheses; NULL: nothing */
    struct attn_dist dist;
} dist_names[] = {
    {"rand", NULL, {.kind = ATTN_DIST_UNIFORM, .a = 0, .b = 1}},
    {"randn", NULL, {.kind = ATTN_DIST_NORMAL, .a = 0, .b = 1}},
    {"uniform", "two numbers, (FROM,TO)", {.kind = ATTN_DIST_UNIFORM}},
    {"normal", "two numbers, (MEAN,STD)", {.kind = ATTN_DIST_NORMAL}},
    {"linear", NULL, {.kind = ATTN_DIST_LINEAR}},
    {"identity", NULL, {.kind = ATTN_DIST_IDENTITY}},
    {"zeros", NULL, {.kind = ATTN_DIST_CONSTANT, .a = 0}},
    {"ones", NULL, {.kind = ATTN_DIST_CONSTANT, .a = 1}},
    {"file", "(PATH)", {.kind = ATTN_DIST_FILE}},
};

static const struct dist_name *find_dist(struct slice name)
{
    for (size_t i = 0; i < sizeof dist_names / sizeof *dist_names; i++)
        if (equal(name, dist_names[i].name))
            return &dist_names[i];
    return NULL;
}

/* Reads the text between the parentheses. */
static bool read_args(struct slice args, struct attn_dist *out)
{
    if (out->kind == ATTN_DIST_FILE) {
        out->path = args.s;
        out->path_len = args.len;
        return args.len > 0;
    }
    struct slice first = take(&args, ",");
    return attn_num_parse_f64(first.s, first.len, &out->a) && attn_num_parse_f64(args.s, args.len, &out->b) &&
           isfinite(out->a) && isfinite(out->b);
}

/* Reads WORD or WORD(ARGS), either optionally followed by /ROWS. */
static int read_dist(const struct step *st, struct slice t, struct attn_dist *out, struct attn_err *err)
{
    struct slice call = take(&t, "/"), name = {call.s, find(call, "(")};
    struct slice args = {call.s + name.len, call.len - name.len};
    bool closed = args.len >= 2 && args.s[args.len - 1] == ')', has_rows = t.s > call.s + call.len;
    const struct dist_name *d = find_dist(name);
    uint64_t rows = 0;
    if (!d)
        return bad(st, err, "expected rand, randn, uniform(A,B), normal(MEAN,STD), linear, identity, zeros, ones or "
                   "file(PATH), found '%.*s'", (int)name.len, name.s);
    *out = d->dist;
    if (d->args ? !closed || !read_args((struct slice){args.s + 1, args.len - 2}, out) : args.len > 0)
        return bad(st, err, "expected %s after '%s', found '%.*s'", d->args ? d->args : "nothing", d->name,
                   (int)args.len, args.s);
    if (!has_rows)
        return ATTN_OK;
    if (d->dist.kind != ATTN_DIST_UNIFORM && d->dist.kind != ATTN_DIST_NORMAL)
        return bad(st, err, "'%s' cannot have /ROWS: only rand, randn, uniform and normal can", d->name);
    int rc = read_count(st, t, "a number of rows after '/'", &rows, err);
    out->rows = (size_t)rows;
    return rc ? rc : rows ? ATTN_OK : bad(st, err, "expected at least 1 row, found 0");
}

/* Whether a name such as "q", "q.bias" or "blocks.0.attn.q.weight" means the tensor. */
static bool is_called(const struct attn_slot *s, struct slice name)
{
    char full[ATTN_SLOT_NAME_MAX];
    snprintf(full, sizeof full, "%s%s", attn_part_name(s->part), s->is_bias ? ".bias" : "");
    return equal(name, full) || equal(name, s->name);
}

static int unknown_tensor(const struct attn_draw *d, const struct step *st, struct slice name, struct attn_err *err)
{
    char list[200];
    size_t len = 0;
    bool listed[ATTN_PARTS] = {false};
    for (size_t i = 0; i < d->n; i++) {
        enum attn_part p = d->t[i].slot.part;
        if (!listed[p] && !d->t[i].slot.is_bias)
            len += (size_t)sprintf(list + len, "%s%s", len ? ", " : "", attn_part_name(p));
        listed[p] = true;
    }
    return bad(st, err, "no tensor '%.*s' in this model, which has %s", (int)(name.len < 64 ? name.len : 64), name.s,
               list);
}

/* Passes an error on; a usage error does not yet say where, so it gets the step's column. */
static int draw_named(struct attn_draw *d, const struct step *st, size_t i, size_t h, size_t heads,
                      const struct attn_dist *dist, struct attn_err *err)
{
    struct attn_err why = {0};
    int rc = attn_draw_tensor(d, i, h, heads, dist, &why);
    return rc == ATTN_EUSAGE ? bad(st, err, "%s", why.msg) : rc ? attn_fail(err, why.code, "%s", why.msg) : ATTN_OK;
}

/* ---- executing a recipe -------------------------------------------------------------------- */

/* NAME:DIST */
static int do_tensor(struct attn_draw *d, const struct step *st, struct slice t, struct attn_err *err)
{
    struct slice name = take(&t, ":");
    struct attn_dist dist;
    bool found = false;
    int rc = read_dist(st, t, &dist, err);
    for (size_t i = 0; !rc && i < d->n; i++) {
        if (!is_called(&d->t[i].slot, name))
            continue;
        found = true;
        rc = draw_named(d, st, i, 0, 1, &dist, err);
    }
    return rc || found ? rc : unknown_tensor(d, st, name, err);
}

enum { MAX_ITEMS = 3 };                 /* q, k and v */
struct item { enum attn_part part; struct attn_dist dist; };

static int read_items(const struct step *st, struct slice list, struct item items[MAX_ITEMS], size_t *n,
                      struct attn_err *err)
{
    *n = 0;
    do {
        struct slice t = take(&list, ","), name = take(&t, ":");
        enum attn_part p = ATTN_PART_Q;
        while (p <= ATTN_PART_V && !equal(name, attn_part_name(p)))
            p++;
        if (p > ATTN_PART_V || *n == MAX_ITEMS)
            return bad(st, err, "expected up to three of q, k and v, found '%.*s'", (int)name.len, name.s);
        items[*n].part = p;
        int rc = read_dist(st, t, &items[(*n)++].dist, err);
        if (rc)
            return rc;
    } while (list.len > 0);
    return ATTN_OK;
}

/* Draws head by head in the layer whose query matrix is tensor q. */
static int draw_heads(struct attn_draw *d, const struct step *st, size_t q, const struct item *items, size_t n,
                      struct attn_err *err)
{
    for (size_t h = 0; h < d->config->H; h++)
        for (size_t k = 0; k < n; k++) {
            size_t i = q;
            while (d->t[i].slot.part != items[k].part)
                i++;
            int rc = draw_named(d, st, i, h, d->config->H, &items[k].dist, err);
            if (rc)
                return rc;
        }
    return ATTN_OK;
}

/* heads(NAME:DIST,...) */
static int do_heads(struct attn_draw *d, const struct step *st, struct slice list, struct attn_err *err)
{
    struct item items[MAX_ITEMS];
    size_t n;
    if (d->config->H != d->config->Hkv)
        return bad(st, err, "needs as many key/value heads as heads, found %zu and %zu", d->config->Hkv, d->config->H);
    int rc = read_items(st, list, items, &n, err);
    for (size_t i = 0; !rc && i < d->n; i++)
        if (d->t[i].slot.part == ATTN_PART_Q && !d->t[i].slot.is_bias)
            rc = draw_heads(d, st, i, items, n, err);
    return rc;
}

/* skip:N */
static int do_skip(struct attn_draw *d, const struct step *st, struct slice count, struct attn_err *err)
{
    const uint64_t most = UINT64_C(1) << 36;        /* some minutes: more than any tensor takes */
    uint64_t n = 0;
    int rc = read_count(st, count, "a whole number", &n, err);
    if (!rc && n > most)
        return bad(st, err, "expected at most %" PRIu64, most);
    while (!rc && n-- > 0)
        attn_rng_u32(&d->rng);
    return rc;
}

static int do_step(struct attn_draw *d, const struct step *st, struct attn_err *err)
{
    static const char heads[] = "heads(";
    struct slice rest = st->text;
    if (rest.len > sizeof heads - 1 && memcmp(rest.s, heads, sizeof heads - 1) == 0 && rest.s[rest.len - 1] == ')')
        return do_heads(d, st, (struct slice){rest.s + sizeof heads - 1, rest.len - sizeof heads}, err);
    struct slice word = take(&rest, ":");
    uint64_t n = 0;
    int rc;
    if (word.len == st->text.len)
        return bad(st, err, "expected NAME:DIST, seed:N, skip:N or heads(...)");
    if (equal(word, "seed")) {
        rc = read_count(st, rest, "a whole number", &n, err);
        attn_rng_seed(&d->rng, n);
        return rc;
    }
    if (equal(word, "skip"))
        return do_skip(d, st, rest, err);
    return do_tensor(d, st, st->text, err);
}

int attn_recipe_follow(struct attn_draw *d, const char *recipe, struct attn_err *err)
{
    struct slice rest = {recipe, strlen(recipe)};
    int rc = ATTN_OK;
    while (!rc && rest.len > 0) {
        struct step st = {.column = (size_t)(rest.s - recipe) + 1};
        st.text = take(&rest, " \t\r\n;");
        if (st.text.len > 0)
            rc = do_step(d, &st, err);
    }
    return rc ? rc : attn_draw_finish(d, err);
}

#include "attention.h"

#include "say.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct { const char *form, *scale; struct real dropout; struct attn_kind kind; } o;
struct number dropout_seed;

static int check_together(struct attn_err *err)
{
    if (o.kind.form == ATTN_LINEAR && o.kind.scaling)
        return fail(err, ATTN_EUSAGE, "--scale and --attention linear do not go together: linear attention has no scale");
    return ATTN_OK;
}

static int check_form(const struct option *row, struct attn_err *err)
{
    struct attn_err why = {0};
    (void)row;
    if (attn_kind_parse(&o.kind, o.form, &why))
        return fail(err, ATTN_EUSAGE, "--%s", why.msg);
    return check_together(err);
}

/* A larger factor would take the scores of ordinary models out of float32's range. */
static const double LARGEST = 1e30;

static int check_scale(const struct option *row, struct attn_err *err)
{
    char *end;
    double x = strtod(o.scale, &end);
    (void)row;
    if (!strcmp(o.scale, "none") || !strcmp(o.scale, "sqrt")) {
        o.kind.scaling = *o.scale == 'n' ? ATTN_SCALE_NONE : ATTN_SCALE_SQRT;
        return check_together(err);
    }
    if (!*o.scale || *end || isspace((unsigned char)*o.scale) || isnan(x))
        return fail(err, ATTN_EUSAGE, "--scale: '%s' is not none, sqrt or a number", excerpt(o.scale).text);
    if (!(fabs(x) <= LARGEST))
        return fail(err, ATTN_EUSAGE, "--scale: %s is not in -%g..%g", excerpt(o.scale).text, LARGEST, LARGEST);
    o.kind.scaling = ATTN_SCALE_VALUE;
    o.kind.scale = x;
    return check_together(err);
}

static int check_dropout(const struct option *row, struct attn_err *err)
{
    (void)row;
    if (!(o.dropout.x >= 0 && o.dropout.x < 1))
        return fail(err, ATTN_EUSAGE, "--dropout: %s is not from 0 to below 1", excerpt(o.dropout.given).text);
    o.kind.dropout = o.dropout.x;
    return ATTN_OK;
}

struct attn_kind attention_kind(void)
{
    struct attn_kind kind = o.kind;
    kind.dropout_seed = dropout_seed.n;
    return kind;
}

const struct option attention_options[] = {
    {0, "attention", OPT_TEXT, &o.form, "KIND", "attention in every layer: model (the default, the model's own), full (no mask), "
     "causal, causal-renorm, window:W, strided:W,S, random:W,R,SEED, linear or block:B; see below", .check = check_form,
     .flags = OPT_COUNTS},
    {0, "scale", OPT_TEXT, &o.scale, "SCALE", "factor of the dot products in every layer, instead of the model's own: none (1), "
     "sqrt (1 over the square root of a head's width) or a number", .check = check_scale, .flags = OPT_COUNTS},
    {0, "dropout", OPT_REAL, &o.dropout, "P", "set each attention weight to 0 with probability P and divide the others by 1 - P, as "
     "in training (default: 0)", .check = check_dropout, .flags = OPT_COUNTS},
    {.name = NULL},
};

const struct option dropout_seed_options[] = {
    {0, "seed", OPT_NUMBER, &dropout_seed, "N", "seed of the random numbers of --dropout (default: 0)", .max = UINT64_MAX,
     .flags = OPT_COUNTS},
    {.name = NULL},
};

const char attention_title[] = "Attention (what --attention takes; q and k count tokens from 0)";

const struct pair attention_kinds[] = {
    {"model", "as the model has it"},
    {"full", "every query sees every key"},
    {"causal", "q sees k up to q; hidden scores are -inf before the softmax"},
    {"causal-renorm", "the same keys, computed the other way: a softmax over all keys, then the later ones become 0 and the row "
     "is divided by its sum.  -inf is better: where a later key has the largest score, the weights that stay lose digits, or all "
     "of them (such rows become 0, not NaN); standard error says how much that is on the sentence"},
    {"window:W", "q sees the last W keys, including itself: 0 <= q-k < W"},
    {"strided:W,S", "k <= q, and q-k < W or (q-k) % S == 0"},
    {"random:W,R,SEED", "the window, and min(R, n) of the n = q-W+1 keys before it, the same in every head: the first of a "
     "shuffled list 0, 1, ... n-1, where for i = 0, 1, ... item i is swapped with item i + next % (n-i), and next is the next "
     "number of splitmix64 seeded with SEED + q"},
    {"linear", "weights phi(q).phi(k) divided by their sum, phi(x) = elu(x) + 1: no softmax, no scale, no dots and scores; "
     "causal when the model is.  Time grows with the length of the text, not its square, unless the pattern is shown"},
    {"block:B", "the result of causal (or full, where the model has no mask), computed B keys at a time: with a running maximum "
     "and sum instead of a row of scores"},
    {"--dropout P", "drops the weight of q for k where S(S(S(S(SEED + layer) + head) + q) + k), its 53 high bits read as a "
     "number from 0 to 1, is below P; S(x) is the first number of splitmix64 seeded with x.  So neither threads nor batches "
     "change it"},
    {NULL, NULL},
};

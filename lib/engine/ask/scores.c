/* scores.c - the table of head scores: what each number is, for one row of a pattern.
 *
 * All is in double precision.  An entropy is exact to 3 2^-52 of each of its terms, and their sum is rounded. */
#include "ask/scores.h"

#include <math.h>
#include <string.h>

#include "compute/vec.h"

/* ---- what a row offers; false: nothing ---- */

static bool previous(double *out, struct attn_head_row *r)
{
    *out = r->q ? (double)r->weight[r->q - 1] : 0;
    return r->q > 0;
}

static bool self(double *out, struct attn_head_row *r)
{
    *out = (double)r->weight[r->q];
    return true;
}

static bool first(double *out, struct attn_head_row *r)
{
    *out = (double)r->weight[0];
    return true;
}

/* The earlier places of the query's token are a chain, the last one first. */
static bool duplicate(double *out, struct attn_head_row *r)
{
    *out = 0;
    for (size_t k = r->same[r->q]; k; k = r->same[k - 1])
        *out += (double)r->weight[k - 1];
    return r->same[r->q] > 0;
}

/* The token after one at k = q - 1 is the query's own and does not count. */
static bool induction(double *out, struct attn_head_row *r)
{
    bool any = false;
    *out = 0;
    for (size_t k = r->same[r->q]; k; k = r->same[k - 1])
        if (k < r->q) {
            *out += (double)r->weight[k];
            any = true;
        }
    return any;
}

/* 0 ln 0 is 0, and weights that an edit has made negative have no part in the entropy. */
static const struct attn_head_row *measured(struct attn_head_row *r)
{
    if (!r->measured)
        attn_vec_attention_stats(&r->entropy, &r->distance, r->weight + r->lo, (double)r->q - (double)r->lo,
                                 r->hi - r->lo);
    r->measured = true;
    return r;
}

static bool entropy(double *out, struct attn_head_row *r)
{
    *out = measured(r)->entropy;
    return true;
}

static bool spread(double *out, struct attn_head_row *r)
{
    *out = r->seen < 2 ? 0 : measured(r)->entropy / r->most;
    return r->seen >= 2;
}

static bool distance(double *out, struct attn_head_row *r)
{
    *out = measured(r)->distance;
    return true;
}

/* The query's own token does not count: self has it. */
static bool punctuation(double *out, struct attn_head_row *r)
{
    bool any = false;
    *out = 0;
    for (size_t k = 0; r->marks && k < r->q; k++)
        if (r->marks[k]) {
            *out += (double)r->weight[k];
            any = true;
        }
    return any;
}

/* ---- the table ---- */

static const struct attn_head_score table[] = {
    {"previous", "prev", "the weight of the token before the query: A[q,q-1]", ATTN_SCORE_SHARE, previous},
    {"self", "self", "the weight of the query's own token: A[q,q]", ATTN_SCORE_SHARE, self},
    {"first", "first", "the weight of the first token: A[q,0]", ATTN_SCORE_SHARE, first},
    {"duplicate", "dupl", "the weights of earlier tokens that are the same as the query's, summed; over rows that have "
     "such a token",
     ATTN_SCORE_SHARE, duplicate},
    {"induction", "induct", "the weights of the tokens that came after these, summed, without the query's own; over "
                            "rows that have such a token",
     ATTN_SCORE_SHARE, induction},
    {"entropy", "entropy", "-sum A ln A, in nats", 0, entropy},
    {"spread", "spread", "entropy / ln(number of keys seen), 0 to 1; over rows that see two or more", 0, spread},
    {"distance", "dist", "sum of A[q,k] abs(q-k): how many tokens away the head looks", 0, distance},
    {"copying", "copy", "of weights alone, from -1 to 1: how much a token that is looked at raises its own logit.  The "
                        "sum of the eigenvalues of W_O diag(g) W_U W_E diag(g1) W_V divided by the sum of their "
                        "absolute values (g, g1: gains of norm_final and norm1; W_O, W_V: the head's; W_U: the output "
                        "layer; W_E: the embedding; gains of a norm of the embedding or of what attention gives count, "
                        "too); no biases", ATTN_SCORE_NO_TEXT, NULL},
    {"punctuation", "punct", "the weights of earlier tokens that are punctuation, summed: sum of A[q,k] over such "
                             "k < q; over rows that have one", ATTN_SCORE_SHARE | ATTN_SCORE_IF_ANY, punctuation},
};
enum { ROWS = sizeof table / sizeof *table };
_Static_assert(sizeof table / sizeof *table <= ATTN_HEAD_SCORES, "there is room for all scores");

const struct attn_head_score *attn_head_score_next(const struct attn_head_score *s)
{
    s = s ? s + 1 : table;
    return s < table + ROWS ? s : NULL;
}

const struct attn_head_score *attn_head_score_find(const char *name)
{
    const struct attn_head_score *s = NULL;
    while ((s = attn_head_score_next(s)) && strcmp(s->name, name) != 0)
        ;
    return s;
}

const char *attn_head_score_list(char list[ATTN_HEAD_SCORE_LIST])
{
    char *at = list, *end = list + ATTN_HEAD_SCORE_LIST - 1;
    for (size_t i = 0; i < ROWS; i++) {
        const char *between = !i ? "" : i + 1 < ROWS ? ", " : " or ";
        if (strlen(between) + strlen(table[i].name) > (size_t)(end - at))
            break;
        at = stpcpy(stpcpy(at, between), table[i].name);
    }
    *at = '\0';
    return list;
}

size_t attn_head_score_count(void)
{
    return ROWS;
}

size_t attn_head_score_index(const struct attn_head_score *s)
{
    return (size_t)(s - table);
}

/* ---- what a head is named after ---- */

static bool can_be_role(const struct attn_head_scored *h, size_t i)
{
    return table[i].flags & ATTN_SCORE_SHARE && h->rows[i] >= ATTN_ROLE_ROWS &&
           h->score[i] >= ATTN_ROLE_TIMES * h->chance[i] && h->score[i] >= h->chance[i] + ATTN_ROLE_ABOVE;
}

void attn_head_scored_name(struct attn_head_scored *h)
{
    h->role = NULL;
    h->share = (double)NAN;
    for (size_t i = 0; i < ROWS; i++)
        if (can_be_role(h, i) && (!h->role || h->score[i] > h->share)) {
            h->role = &table[i];
            h->share = h->score[i];
        }
}

int attn_head_scored_order(const void *a, const void *b)
{
    const struct attn_head_scored *x = a, *y = b;
    if (!x->role != !y->role)
        return x->role ? -1 : 1;
    if (x->role && x->share != y->share)
        return x->share < y->share ? 1 : -1;
    if (x->at.layer != y->at.layer)
        return x->at.layer < y->at.layer ? -1 : 1;
    return x->at.head < y->at.head ? -1 : x->at.head > y->at.head;
}

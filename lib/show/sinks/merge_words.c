#include "sinks/merge_words.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

/* The rows of a word that came so far, added up: [heads, columns]. */
struct sums { double *x; size_t heads, cols; };

struct attn_merger {
    const struct attn_words *rows, *keys;
    size_t *word;                       /* [tokens of rows]: which word each is of */
    struct sums sum[ATTN_ACTS];         /* bands of dots, scores and pattern alternate */
    float *band; size_t room;
};

bool attn_merger_takes(int act)
{
    return act == ATTN_ACT_PATTERN || act == ATTN_ACT_ROLLOUT || act == ATTN_ACT_CONTEXT;
}

int attn_merger_new(struct attn_merger **out, const struct attn_words *rows, const struct attn_words *keys,
                    struct attn_err *err)
{
    struct attn_merger *m = *out = calloc(1, sizeof *m);
    if (!m)
        return attn_no_memory(err, NULL, "to merge tokens into words");
    m->rows = rows;
    m->keys = keys;
    m->word = calloc(rows->first[rows->n] + 1, sizeof *m->word);
    if (!m->word) {
        attn_merger_free(m);
        *out = NULL;
        return attn_no_memory(err, NULL, "for the words of %zu tokens", rows->first[rows->n]);
    }
    for (size_t w = 0; w < rows->n; w++)
        for (size_t i = rows->first[w]; i < rows->first[w + 1]; i++)
            m->word[i] = w;
    return ATTN_OK;
}

void attn_merger_free(struct attn_merger *m)
{
    if (!m)
        return;
    for (int act = 0; act < ATTN_ACTS; act++)
        free(m->sum[act].x);
    free(m->word);
    free(m->band);
    free(m);
}

/* Adds a row of tokens to that of a word; keys NULL: columns are numbered. */
static void add_row(double *sum, const float *x, const struct attn_words *keys, size_t cols)
{
    for (size_t w = 0; keys && w < keys->n; w++)
        for (size_t j = keys->first[w]; j < keys->first[w + 1]; j++)
            sum[w] += (double)x[j];
    for (size_t j = 0; !keys && j < cols; j++)
        sum[j] += (double)x[j];
}

static void take_mean(float *out, double *sum, size_t tokens, size_t cols)
{
    for (size_t j = 0; j < cols; j++) {
        out[j] = (float)(sum[j] / (double)tokens);
        sum[j] = 0;
    }
}

static size_t tokens_of(const struct attn_words *w, size_t i) { return w->first[i + 1] - w->first[i]; }

/* What a band leaves of a word that it does not complete stays in the sums for the next band of this head. */
static void merge_head(struct attn_merger *m, float *out, double *sum, const float *x, const struct attn_probe *p,
                       const struct attn_words *keys, size_t cols)
{
    for (size_t i = 0; i < p->rows; i++) {
        size_t w = m->word[p->row0 + i];
        add_row(sum, x + i * p->ld, keys, cols);
        if (p->row0 + i + 1 < m->rows->first[w + 1])
            continue;
        take_mean(out, sum, tokens_of(m->rows, w), cols);
        out += cols;
    }
}

static int make_sums(struct sums *s, size_t heads, size_t cols, struct attn_err *err)
{
    size_t n;
    if (s->x && s->heads == heads && s->cols == cols)
        return ATTN_OK;
    free(s->x);
    *s = (struct sums){.heads = heads, .cols = cols};
    s->x = __builtin_mul_overflow(heads, cols, &n) ? NULL : calloc(n + 1, sizeof *s->x);
    return s->x ? ATTN_OK : attn_no_memory(err, NULL, "to merge rows of %zu words", cols);
}

int attn_merger_add(struct attn_merger *m, struct attn_probe *out, bool *any, const struct attn_probe *p,
                    struct attn_err *err)
{
    bool square = attn_act_square(p->act);
    size_t cols = square ? m->keys->n : p->cols, heads = p->ndim > 2 ? p->shape[0] : 1;
    size_t from = m->word[p->row0], last = m->word[p->row0 + p->rows - 1];
    size_t done = last + (p->row0 + p->rows == m->rows->first[last + 1]) - from, size;
    *out = *p;
    *any = done > 0;
    int rc = make_sums(&m->sum[p->act], heads, cols, err);
    if (rc)
        return rc;
    float *band = __builtin_mul_overflow(p->heads * done, cols, &size) ? NULL :
                  attn_grow(m->band, &m->room, size + 1, sizeof *band);
    if (!band)
        return attn_no_memory(err, NULL, "to merge %zu rows into words", p->rows);
    m->band = band;
    for (size_t h = 0; h < p->heads; h++)
        merge_head(m, band + h * done * cols, m->sum[p->act].x + (p->head0 + h) * cols, p->data + h * p->ld_head, p,
                   square ? m->keys : NULL, cols);
    out->shape[p->ndim - 2] = m->rows->n;
    out->shape[p->ndim - 1] = cols;
    out->row0 = from;
    out->rows = done;
    out->cols = out->ld = cols;
    out->ld_head = done * cols;
    out->data = band;
    return ATTN_OK;
}

int attn_merge_matrix(float *out, const float *x, const struct attn_words *rows, const struct attn_words *keys,
                      size_t cols, struct attn_err *err)
{
    size_t width = keys ? keys->first[keys->n] : cols, merged = keys ? keys->n : cols;
    double *sum = calloc(merged + 1, sizeof *sum);
    if (!sum)
        return attn_no_memory(err, NULL, "to merge rows of %zu words", merged);
    for (size_t w = 0; w < rows->n; w++) {
        for (size_t i = rows->first[w]; i < rows->first[w + 1]; i++)
            add_row(sum, x + i * width, keys, cols);
        take_mean(out + w * merged, sum, tokens_of(rows, w), merged);
    }
    free(sum);
    return ATTN_OK;
}

/* A whole model directory: its tokenizer encodes a text, the model is described, runs a few tokens, continues
 * and scores them.  Files that are accepted must give ids that the run accepts, a finite digest, and numbers
 * or a message. */
#define _GNU_SOURCE 1

#include <string.h>

#include "archive.h"
#include "attn.h"
#include "fuzz.h"

enum { MOST = 12 };                     /* tokens */

/* Only rich vocabularies can spell the second. */
static const char *const texts[] = {"ab a", "Life is short, a b<|endoftext|> e\xcc\x81 12", "Life is short"};

static size_t encode(int32_t ids[MOST], const char *dir)
{
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    size_t n = 0;
    if (attn_tokenizer_open(&t, dir, &err) != ATTN_OK) {
        must(!t && err.msg[0]);
        return 0;
    }
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct attn_encode_opts how = {.special = k == 1, .bos = k ? ATTN_BOS_AUTO : ATTN_BOS_NO};
        struct attn_tokens *tokens = NULL;
        char *back = NULL;
        size_t len;
        if (attn_encode_with(&tokens, t, texts[k], strlen(texts[k]), &how, &err) != ATTN_OK) {
            must(!tokens && err.msg[0]);
            continue;
        }
        n = tokens->n < MOST ? tokens->n : MOST;
        for (size_t i = 0; i < n; i++)
            ids[i] = tokens->tok[i].id;
        must(attn_decode(&back, &len, t, ids, n, &err) == ATTN_OK || err.msg[0]);
        free(back);
        attn_tokens_free(tokens);
    }
    attn_tokenizer_close(t);
    return n;
}

static void describe(const struct attn_model *m)
{
    struct attn_info info;
    struct attn_tensor_info tensor;
    struct attn_err err = {0};
    char digest[80];
    attn_model_info(m, &info);
    must(info.V > 0 && info.L > 0 && info.H > 0 && info.Hkv > 0 && info.d > 0 && info.n_ctx > 0);
    for (size_t i = 0; i < info.tensors; i++) {
        attn_model_tensor(m, i, &tensor);
        must(tensor.name && tensor.ndim > 0);
    }
    for (int full = 0; full < 2; full++)        /* what is called like a tokenizer's file may be a directory */
        must(attn_model_digest(m, full, digest, &err) == ATTN_OK ? strlen(digest) > 64 : err.msg[0]);
    must(attn_model_check(m, &err) == ATTN_OK || err.msg[0]);
}

static unsigned all(void *self, int act, int layer)
{
    (void)self;
    (void)act;
    (void)layer;
    return ATTN_WATCH;
}

static int sum(void *self, const struct attn_probe *p, struct attn_err *err)
{
    volatile float *total = self;       /* so that each number is read */
    (void)err;
    for (size_t h = 0; h < p->heads; h++)
        for (size_t t = 0; t < p->rows; t++)
            for (size_t j = 0; j < p->cols; j++)
                *total += p->data[h * p->ld_head + t * p->ld + j];
    return 0;
}

static void forward(const struct attn_model *m, const int32_t *ids, size_t n, size_t cached)
{
    volatile float total = 0;
    struct attn_observer o = {.wants = all, .watch = sum, .self = (void *)&total};
    struct attn_plan plan = {.rows = n, .seqs = 1, .keys = cached ? n : 0, .threads = 1};
    struct attn_run *run = NULL;
    struct attn_kv *kv = NULL;
    struct attn_err err = {0};
    if ((cached && attn_kv_new(&kv, m, n, &err)) || attn_run_new(&run, m, &plan, cached ? NULL : &o, !cached, &err)) {
        must(err.msg[0]);
    } else {
        struct attn_seq seq = {.T = cached ? cached : n, .kv = kv};
        int rc = attn_run_forward(run, ids, &seq, 1, &err);
        seq.T = n - seq.T;
        if (!rc && seq.T)
            rc = attn_run_forward(run, ids + cached, &seq, 1, &err);
        must(rc == ATTN_OK || err.msg[0]);
    }
    attn_run_free(run);
    attn_kv_free(kv);
}

static void test(const uint8_t *data, size_t size)
{
    struct archive a;
    struct attn_model *m = NULL;
    struct attn_err err = {0};
    struct attn_info info;
    double score[MOST];
    int32_t ids[MOST] = {0, 1, 2, 0};
    archive_read(&a, data, size);
    const char *dir = archive_unpack(&a);
    size_t n = encode(ids, dir);
    if (attn_model_open(&m, dir, &err) != ATTN_OK) {
        must(!m && err.msg[0]);
        return;
    }
    describe(m);
    attn_model_info(m, &info);
    n = n ? n : 4;
    n = n < info.n_ctx ? n : info.n_ctx;
    forward(m, ids, n, 0);
    if (attn_model_continues(m, NULL, &err) == ATTN_OK && n > 1)
        forward(m, ids, n, n - 1);
    if (info.n_ctx > 1)
        must(attn_score(score, m, ids, n, &(struct attn_score_opts){.stride = 1, .threads = 1}, &err) == ATTN_OK ||
             err.msg[0]);
    attn_model_close(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    test(data, size);
    archive_remove();
    return 0;
}

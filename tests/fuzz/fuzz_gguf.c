/* A GGUF file: what its reader says lies within it; then as a model, whose tokenizer reads a text, and which runs
 * a few tokens. */
#define _GNU_SOURCE 1

#include <math.h>
#include <string.h>

#include "archive.h"
#include "attn_tools.h"
#include "fuzz.h"
#include "io/gguf.h"

enum { MOST = 6 };

/* Every tensor and every value lies in the file, and strings do not leave their array. */
static bool read_file(const uint8_t *data, size_t size)
{
    struct attn_gguf *g = NULL;
    struct attn_err err = {0};
    if (attn_gguf_open(&g, data, size, "fuzz.gguf", &err) != ATTN_OK) {
        must(g == NULL && !strncmp(err.msg, "fuzz.gguf: ", 11));
        return false;
    }
    for (size_t i = 0; i < attn_st_count(g->st); i++) {
        const struct attn_st_tensor *t = attn_st_at(g->st, i);
        must(attn_st_find(g->st, t->name) == t);
        must(t->data >= data && t->bytes <= size && t->data + t->bytes <= data + size);
        must(t->count > 0 && t->ndim > 0);
    }
    for (size_t i = 0; i < g->keys.n; i++) {
        const struct attn_gguf_value *v = &g->value[i];
        const unsigned char *at = v->at;
        must(attn_gguf_find(g, v->key) == v && v->at >= data && v->end <= data + size);
        for (size_t k = 0; k < v->n && v->kind == ATTN_GGUF_STRING; k++)
            attn_gguf_next_text(&at);
        must(v->kind != ATTN_GGUF_STRING || at == v->end);
    }
    attn_gguf_close(g);
    return true;
}

static size_t encode(int32_t ids[MOST], const char *path)
{
    static const char text[] = "ab <s>a  b\xc3\xa9";
    struct attn_tokenizer *t = NULL;
    struct attn_err err = {0};
    int32_t *list = NULL;
    size_t n = 0;
    if (attn_tokenizer_open(&t, path, &err) != ATTN_OK) {
        must(!t && err.msg[0]);
        return 0;
    }
    if (attn_encode_ids(&list, &n, t, text, sizeof text - 1, NULL, &err))
        must(err.msg[0]);
    n = n < MOST ? n : MOST;
    for (size_t i = 0; i < n; i++)
        ids[i] = list[i];
    free(list);
    attn_tokenizer_close(t);
    return n;
}

static void look(const struct attn_model *m)
{
    struct attn_metadata d;
    struct attn_err err = {0};
    char digest[80];
    must(!attn_model_digest(m, false, digest, &err));
    for (size_t i = 0; !attn_model_metadata(&d, m, i, &err) && d.value; i++)
        free(d.value);
}

static void run(const struct attn_model *m, const int32_t *ids, size_t n)
{
    struct attn_plan plan = {.rows = n, .seqs = 1, .threads = 1};
    struct attn_seq seq = {.T = n};
    struct attn_run *r = NULL;
    struct attn_err err = {0};
    if (attn_run_new(&r, m, &plan, NULL, 0, &err) || attn_run_forward(r, ids, &seq, 1, &err))
        must(err.msg[0]);
    attn_run_free(r);
}

static void as_model(const uint8_t *data, size_t size)
{
    struct archive a = {.n = 1, .file = {{"m.gguf", data, size}}};
    const char *dir = archive_unpack(&a);
    struct attn_model *m = NULL;
    struct attn_err err = {0};
    struct attn_info info;
    int32_t ids[MOST] = {0, 1, 0};
    size_t n = encode(ids, dir);
    if (attn_model_open(&m, dir, &err) != ATTN_OK) {
        must(!m && err.msg[0]);
        return;
    }
    look(m);
    attn_model_info(m, &info);
    n = n ? n : 3;
    run(m, ids, n < info.n_ctx ? n : info.n_ctx);
    attn_model_close(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (read_file(data, size)) {
        as_model(data, size);
        archive_remove();
    }
    return 0;
}

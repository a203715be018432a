/* Files that courses write, of all formats at once, which their first bytes tell; what is none is read as a
 * vocabulary, JSON or a pickle, of a model that has none.  What opens must be a whole model: it is described, encodes
 * a text and runs. */
#define _GNU_SOURCE 1

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "archive.h"
#include "attn_tools.h"
#include "fuzz.h"

enum { MOST = 4 };                      /* tokens */

/* A model of llama2.c of width 2 with two tokens: seven sizes, then weights that are 0. */
static const int32_t sizes[] = {2, 1, 1, 1, 1, 2, 1};
static uint8_t small[sizeof sizes + (2 * 2 + 2 + 4 * 4 + 2 + 3 * 2 + 2 + 2) * sizeof(float)];

static void encode(const char *path)
{
    static const char text[] = "ab a\xc3\xa9";
    struct attn_tokenizer *t = NULL;
    struct attn_tokens *tokens = NULL;
    struct attn_err err = {0};
    if (attn_tokenizer_open(&t, path, &err) != ATTN_OK) {
        must(!t && err.msg[0]);
        return;
    }
    must(attn_encode(&tokens, t, text, sizeof text - 1, &err) == ATTN_OK || err.msg[0]);
    attn_tokens_free(tokens);
    attn_tokenizer_close(t);
}

static void forward(const struct attn_model *m)
{
    struct attn_err err = {0};
    struct attn_info info;
    int32_t ids[MOST] = {0};
    double score[MOST];
    char digest[80];
    attn_model_info(m, &info);
    must(info.V > 0 && info.L > 0 && info.H > 0 && info.d > 0 && info.n_ctx > 0 && info.d % info.H == 0);
    must(attn_model_digest(m, false, digest, &err) == ATTN_OK ? strlen(digest) > 64 : err.msg[0]);
    if (info.n_ctx > 1)
        must(attn_score(score, m, ids, info.n_ctx < MOST ? info.n_ctx : MOST,
                        &(struct attn_score_opts){.stride = 1, .threads = 1}, &err) == ATTN_OK || err.msg[0]);
}

/* Returns whether it was a model, or was refused as one. */
static bool open_file(const char *path, const struct attn_lacking *given)
{
    struct attn_model *m = NULL;
    struct attn_err err = {0};
    int rc = attn_model_open_with(&m, path, given, &err);
    must(rc == ATTN_OK ? m != NULL : !m && err.msg[0]);
    if (!rc)
        forward(m);
    attn_model_close(m);
    return !strstr(err.msg, "is a file, expected the directory");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memcpy(small, sizes, sizeof sizes);
    struct archive a = {.n = 2, .file = {{"file", data, size}, {"small", small, sizeof small}}};
    char path[2][256];
    const char *dir = archive_unpack(&a);
    snprintf(path[0], sizeof path[0], "%s/file", dir);
    snprintf(path[1], sizeof path[1], "%s/small", dir);
    if (open_file(path[0], NULL)) {
        open_file(path[0], &(struct attn_lacking){.as = "heads=2,act=relu"});
        encode(path[0]);
    } else {
        must(open_file(path[1], &(struct attn_lacking){.vocab = path[0]}));
    }
    archive_remove();
    return 0;
}

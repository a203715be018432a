/* kv.c - the key/value cache of one sentence, so that it can be continued token by token. */
#include "attn.h"

#include "base/err.h"
#include "base/size.h"
#include "compute/linear.h"
#include "compute/pass.h"
#include "model/model.h"

#include <stdlib.h>

int attn_kv_new(struct attn_kv **out, const struct attn_model *m, size_t capacity, struct attn_err *err)
{
    const struct attn_dims *n = &m->w.n;
    *out = NULL;
    struct attn_kv *kv = calloc(1, sizeof *kv);
    if (!kv)
        return attn_fail(err, ATTN_ENOMEM, "out of memory: no room for a cache");
    kv->capacity = smaller(capacity, n->n_ctx);
    kv->n = n;
    int rc = ATTN_OK;
    for (int walk = 0; walk < 2 && !rc; walk++) {       /* first counts memory, then divides it */
        kv->keys = attn_arena_f32(&kv->memory, n->L, n->Hkv, attn_keys_size(kv->capacity, n->dh, n->dv));
        kv->state = attn_arena_f32(&kv->memory, n->L, n->Hkv, attn_linear_size(n->dh, n->dv));
        if (walk == 0)
            rc = attn_arena_make(&kv->memory, err);
    }
    if (rc) {
        attn_kv_free(kv);
        return rc;
    }
    *out = kv;
    return ATTN_OK;
}

void attn_kv_free(struct attn_kv *kv)
{
    if (!kv)
        return;
    attn_arena_free(&kv->memory);
    free(kv);
}

size_t attn_kv_length(const struct attn_kv *kv)
{
    return kv->length;
}

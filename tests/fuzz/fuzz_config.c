#include "fuzz.h"
#include "model/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct attn_config c = {0};
    struct attn_err err = {0};
    int rc = attn_config_read(&c, (const char *)data, size, "fuzz.json", &err);
    must(rc == ATTN_OK || err.msg[0]);
    if (rc == ATTN_OK) {
        must(c.V > 0 && c.n_ctx > 0 && c.L > 0 && c.H > 0 && c.d > 0 && c.dh > 0 && c.dv > 0);
        must(c.Hkv > 0 && c.H % c.Hkv == 0);
        must(c.H * c.dh <= INT32_MAX && c.H * c.dv <= INT32_MAX);
        must(c.mlp == ATTN_MLP_NONE || (c.m > 0 && c.m <= INT32_MAX));
        must(c.position != ATTN_POS_ROPE || (c.rotary % 2 == 0 && c.rotary <= c.dh));
        must(c.rope.kind == ATTN_ROPE_DEFAULT || c.rope.kind == ATTN_ROPE_LONGROPE || c.rope.factor >= 1);
        must(c.rope.kind != ATTN_ROPE_LONGROPE || (c.rope.few.n == c.rotary / 2 && c.rope.many.n == c.rotary / 2));
        must(!c.local || c.window > 0);
        must(c.norm_eps >= 0 && c.rope_theta > 0);
    }
    attn_config_free(&c);
    rc = attn_config_read_tokenizer(&c, (const char *)data, size, "fuzz.json", &err);
    must(rc == ATTN_OK || err.msg[0]);
    attn_config_free(&c);
    return 0;
}

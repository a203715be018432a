#include "small.h"

#include "made.h"
#include "check.h"


/* In bf16 the heads of the last one round their contexts, as their values have a width of whole steps. */
#define SIZES "\"model_type\": \"attn-decoder\", \"vocab_size\": 50, \"n_ctx\": 200, \"n_layer\": 3, \"n_head\": 6, " \
              "\"n_kv_head\": 3, \"d_model\": 40, \"d_head\": 10, \"d_value\": 7, \"d_mlp\": 90, \"norm\": " \
              "\"rmsnorm\", \"mlp\": \"swiglu\", " \
              "\"residual\": true, \"output_projection\": true, \"unembed\": true, \"tied\": false"
const char *const small_configs[SMALL_MODELS] = {
    "{" SIZES ", \"position\": \"rope\"}",
    "{" SIZES ", \"position\": \"learned\", \"bias\": true, \"scale\": \"none\"}",
    "{\"model_type\": \"attn-decoder\", \"vocab_size\": 50, \"n_ctx\": 200, \"n_layer\": 2, \"n_head\": 6, "
    "\"n_kv_head\": 3, \"d_model\": 48, \"d_head\": 16, \"d_value\": 32, \"d_mlp\": 70, \"norm\": \"layernorm\", "
    "\"mlp\": \"gelu\", \"bias\": true, \"residual\": true, \"output_projection\": true, \"unembed\": true, \"tied\": "
    "true, \"position\": \"learned\"}",
};

struct small small;

void small_open(int i)
{
    small.bf16 = i / SMALL_MODELS % 2;
    small.model = made_open(made_model(small_configs[i % SMALL_MODELS], 11, "F32"));
    for (int t = 0; t < 200; t++)
        small.ids[t] = (t * 31 + t / 7) % 50;
}

void small_close(void)
{
    attn_model_close(small.model);
    small.model = NULL;
}

struct attn_run *small_run(size_t rows, size_t seqs, size_t keys, int threads,
                           const struct attn_observer *obs, size_t n)
{
    struct attn_err err = {0};
    struct attn_run *r = NULL;
    const struct attn_plan p = {.rows = rows, .seqs = seqs, .keys = keys, .threads = threads, .bf16 = small.bf16};
    ck_assert_msg(!attn_run_new(&r, small.model, &p, obs, n, &err), "%s", err.msg);
    return r;
}

void small_forward(struct attn_run *r, const int32_t *ids, const struct attn_seq *seq, size_t n)
{
    struct attn_err err = {0};
    ck_assert_msg(!attn_run_forward(r, ids, seq, n, &err), "%s", err.msg);
}

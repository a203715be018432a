#include "checkpoints.h"

#include "scratch.h"
#include "shared.h"

#include <unistd.h>

/* Each shows what leaving out would change the logits, or for ALiBi the scores, by far more than any bound. */
const struct checkpoint checkpoints[CHECKPOINTS] = {
    {"gpt2-a", "learned positions"}, {"gpt2-a-prefixed", "names with a prefix"}, {"gpt2-b", "another tokenizer"},
    {"gpt2-d", "scaled by layer"}, {"llama-f", "grouped keys, rotation"}, {"neo-h", "windows, unscaled"},
    {"neox-i", "parallel branches, part of a head turned"}, {"qwen2-j", "biases of q, k and v"},
    {"gemma2-a", "a norm after attention that has another's name; 1 + weight; scale from a key; both soft caps; windows"},
    {"gemma3-a", "two thetas, scaled in full layers only; a soft cap that is not applied; norms of queries and keys"},
    {"phi3-longrope-a", "fused matrices; 6 of 8 numbers turned, beyond the original context"},
    {"phi-a", "one norm for both branches; half of a head; a bias of the output layer"},
    {"olmo2-a", "norms after branches; one mean square for all heads"}, {"gptj-a", "neighbouring pairs"},
    {"opt-post-a", "positions from row 2; norms after additions, projections, no final norm"},
    {"smollm3-a", "0 means no rotation"}, {"granite-a", "four multipliers, one of them a divisor"},
    {"bloom-a", "q, k, v head by head; ALiBi by the key's own position"}, {"falcon-new-a", "groups; two norms"},
    {"falcon-alibi-a", "slopes in bfloat16 before the scale"}, {"starcoder2-a", "c_fc stored [out, in]"},
    {"llama-yarn-a", "cosines and sines that grow"},
    {"mistral-a", "a window in every layer"}, {"qwen3-a", "head size that is not width / heads; norms of queries and keys"},
    {"qwen2-window-a", "a window from layer 1 on"}, {"gemma-a", "norms with 1 + weight; a gate of tanh GELU"},
    {"phi3-a", "fused matrices"}, {"opt-a", "norms before branches"}, {"falcon-a", "one key/value head"},
    {"stablelm-a", "a quarter of a head, LayerNorm with a gate"}, {"llama-linear-a", "linear"}, {"llama-llama3-a", "llama3"},
    {"llama-dynamic-a", "dynamic"}};

static const char *own(const char *leaf)
{
    const char *path = printed("tests/golden/checkpoints/%s", leaf);
    return access(path, R_OK) ? NULL : path;
}

const char *checkpoint_path(const char *name)
{
    const char *path = own(name) ? NULL : shared_path(printed("golden/checkpoints2/%s", name));
    return path ? printed("%s", path) : own(name);
}

const char *checkpoint_recorded(const char *name, const char *file)
{
    const char *leaf = printed("%s/expected/%s", name, file), *path = own(leaf) ? NULL : shared_find(printed("golden/checkpoints2/%s", leaf));
    return path ? printed("%s", path) : own(leaf);
}

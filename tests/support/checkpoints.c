#include "checkpoints.h"

#include "scratch.h"
#include "shared.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Each shows what leaving out would change the logits, or for ALiBi the scores, by far more than any bound. */
const struct checkpoint checkpoints[CHECKPOINTS] = {
    {"gpt2-a", "learned positions"}, {"gpt2-a-prefixed", "names with a prefix"}, {"gpt2-b", "another tokenizer"},
    {"gpt2-d", "scaled by layer"}, {"llama-f", "grouped keys, rotation"}, {"neo-h", "windows, unscaled"},
    {"neox-i", "parallel branches, part of a head turned"}, {"qwen2-j", "biases of q, k and v"},
    {"gemma2-a",
     "a norm after attention that has another's name; 1 + weight; scale from a key; both soft caps; windows"},
    {"gemma3-a", "two thetas, scaled in full layers only; a soft cap that is not applied; norms of queries and keys"},
    {"phi3-longrope-a", "fused matrices; 6 of 8 numbers turned, beyond the original context"},
    {"phi-a", "one norm for both branches; half of a head; a bias of the output layer"},
    {"olmo2-a", "norms after branches; one mean square for all heads"}, {"gptj-a", "neighbouring pairs"},
    {"opt-post-a", "positions from row 2; norms after additions, projections, no final norm"},
    {"smollm3-a", "0 means no rotation"}, {"granite-a", "four multipliers, one of them a divisor"},
    {"bloom-a", "q, k, v head by head; ALiBi by the key's own position"}, {"falcon-new-a", "groups; two norms"},
    {"falcon-alibi-a", "slopes in bfloat16 before the scale"}, {"starcoder2-a", "c_fc stored [out, in]"},
    {"llama-yarn-a", "cosines and sines that grow"},
    {"nanochat-a",
     "norms without weights, after a rotation by minus the angle; the square of ReLU; a norm of the embedding"},
    {"olmo-a", "LayerNorm without weights; queries, keys and values are clamped"},
    {"olmo3-a", "rotation is scaled in layers without a window only"},
    {"cohere-a", "a row of a table for each head's norm; logits times a factor"},
    {"cohere2-a", "layers without a window are not rotated"}, {"codegen-a", "values before keys, in four groups"},
    {"mpt-a", "ALiBi without biases"}, {"xglm-a", "sines and cosines from position 2 on, after the multiplier"},
    {"hunyuan-a", "norms of queries and keys after rotation, a stretched theta"},
    {"gpt1-a", "norms after additions, matrices by inputs"},
    {"gemma3-wrapped-a", "names with another prefix, keys in a section"},
    {"bigcode-a", "one key/value head, matrices by outputs"},
    {"mistral-a", "a window in every layer"},
    {"qwen3-a", "head size that is not width / heads; norms of queries and keys"},
    {"qwen2-window-a", "a window from layer 1 on"}, {"gemma-a", "norms with 1 + weight; a gate of tanh GELU"},
    {"phi3-a", "fused matrices"}, {"opt-a", "norms before branches"}, {"falcon-a", "one key/value head"},
    {"stablelm-a", "a quarter of a head, LayerNorm with a gate"}, {"llama-linear-a", "linear"},
    {"llama-llama3-a", "llama3"},
    {"llama-dynamic-a", "dynamic"},
    {"ernie-a", "neighbouring pairs, heads that are not width / heads"},
    {"exaone4-a", "windows, whose layers alone are rotated"},
    {"helium-a", "neighbouring pairs"},
    {"gguf/gpt2-f32-v2", "version 2; an output layer of its own"}, {"gguf/qwen2-bf16", "biases in F32"},
    {"gguf/neox-f16", "q, k, v side by side"}, {"gguf/llama-spm-q8_0", "rows of q and k in pairs"},
    {"gguf/llama3-q4_k_m", "factors of rotation"}, {"gguf/qwen3-q5_0", "the head's size from a key"},
    {"gguf/gemma2-q4_0", "norms that hold 1 + weight"}, {"gguf/phi3-q5_1", "gate and up in one"},
    {"gguf/bloom-iq4_nl", "the output layer in another type"}, {"gguf/falcon-q4_1", "one key/value head"},
    {"gguf/starcoder2-f16", "biases in F32"}, {"gguf/llama-all-types", "every type of blocks"}};

static bool is_gguf(const char *leaf) { return !strncmp(leaf, "gguf/", 5); }

static const char *own(const char *leaf)
{
    const char *path = printed("tests/golden/%s%s", is_gguf(leaf) ? "" : "checkpoints/", leaf);
    return access(path, R_OK) ? NULL : path;
}

/* In the reference data that are kept beside the repository. */
static const char *beside(const char *(*find)(const char *leaf), const char *leaf)
{
    const char *path = is_gguf(leaf) ? find(printed("golden/%s", leaf)) :
        shared_find(printed("golden/checkpoints3/%s", leaf));
    return path || is_gguf(leaf) ? path : find(printed("golden/checkpoints2/%s", leaf));
}

const char *checkpoint_name(int i) { return checkpoints[i].name; }

const char *checkpoint_path(const char *name)
{
    const char *path = own(name) ? NULL : beside(shared_path, name);
    return path ? printed("%s", path) : own(name);
}

const char *checkpoint_recorded(const char *name, const char *file)
{
    const char *leaf = printed("%s/expected/%s", name, file), *path = own(leaf) ? NULL : beside(shared_find, leaf);
    return path ? printed("%s", path) : own(leaf);
}

/* builtin.c - the built-in models: files of models/ that are embedded in the program. */
#include "base/embed.h"
#include "model/source.h"

ATTN_EMBED(attn_tiny_config, "models/tiny/config.json");
ATTN_EMBED(attn_tiny_vocab, "models/tiny/vocab.json");
ATTN_EMBED(attn_tiny_merges, "models/tiny/merges.txt");
ATTN_EMBED(attn_tiny_weights, "models/tiny/model.safetensors");
ATTN_EMBED(attn_life_config, "models/life/config.json");
ATTN_EMBED(attn_life_vocab, "models/life/vocab.json");
ATTN_EMBED(attn_life_weights, "models/life/model.safetensors");

const struct attn_builtin attn_builtins[] = {
    {"tiny",
     {{"config.json", attn_tiny_config, attn_tiny_config_end}, {"vocab.json", attn_tiny_vocab, attn_tiny_vocab_end},
      {"merges.txt", attn_tiny_merges, attn_tiny_merges_end}, {"model.safetensors", attn_tiny_weights, attn_tiny_weights_end}}},
    {"life",
     {{"config.json", attn_life_config, attn_life_config_end}, {"vocab.json", attn_life_vocab, attn_life_vocab_end},
      {"model.safetensors", attn_life_weights, attn_life_weights_end}}},
    {0}
};

const char *const *attn_model_builtin(void)
{
    static const char *const names[] = { "tiny", "life", NULL };
    return names;
}

/* The models inside the program, as in models/. */
#include "base/embed.h"
#include "source.h"

ATTN_EMBED(attn_life_config, "models/life/config.json");
ATTN_EMBED(attn_life_vocab, "models/life/vocab.json");
ATTN_EMBED(attn_life_weights, "models/life/model.safetensors");

const struct attn_builtin attn_builtins[] = {
    { "life", attn_life_config, attn_life_config_end, attn_life_vocab, attn_life_vocab_end,
      attn_life_weights, attn_life_weights_end },
    { NULL, NULL, NULL, NULL, NULL, NULL, NULL }
};

const char *const *attn_model_builtin(void)
{
    static const char *const names[] = { "life", NULL };
    return names;
}

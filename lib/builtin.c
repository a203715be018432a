/* The models inside the program, byte for byte as in models/: used where they lie, never copied. */
#include "source.h"

#define FILE_AS(symbol, path) \
    __asm__(".pushsection .rodata\n" \
            ".balign 64\n" \
            ".hidden " #symbol "\n" \
            ".hidden " #symbol "_end\n" \
            ".global " #symbol "\n" #symbol ":\n" \
            ".incbin \"" path "\"\n" \
            ".global " #symbol "_end\n" #symbol "_end:\n" \
            ".byte 0\n" \
            ".popsection\n"); \
    extern const unsigned char symbol[], symbol##_end[]

FILE_AS(attn_life_config, "models/life/config.json");
FILE_AS(attn_life_vocab, "models/life/vocab.json");
FILE_AS(attn_life_weights, "models/life/model.safetensors");

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

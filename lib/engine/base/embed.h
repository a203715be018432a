/* embed.h - puts a file into the program, byte for byte; it is used in place, never copied. */
#ifndef ATTN_BASE_EMBED_H
#define ATTN_BASE_EMBED_H

#if defined(__wasm__)                   /* the engine of a page has no files of its own: they are empty */
#define ATTN_EMBED(symbol, path) \
    static const unsigned char symbol[64] = {0}; \
    extern const unsigned char symbol##_end[64] __attribute__((alias(#symbol)))
#else
/* Declares symbol[] and symbol_end[].  The path starts at the root of the repository. */
#define ATTN_EMBED(symbol, path) \
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
#endif

#endif

/* embed.h - a file inside the program, byte for byte: used where it lies, never copied. */
#ifndef ATTN_BASE_EMBED_H
#define ATTN_BASE_EMBED_H

/* Declares symbol[] and symbol_end[]; the path is that from the root of the repository. */
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

/* vec.c - chooses the instruction set; and the functions of vec.h for any processor. */
#define TABLE attn_vec_generic
#include "compute/vec_body.h"

#include "attn.h"

const struct attn_vec_ops *attn_vec_ops(void)
{
#define SET(id, name) &attn_vec_##name,
    static const struct attn_vec_ops *const by_width[] = {ATTN_SIMD_SETS(SET)};
#undef SET
    return by_width[attn_cpu_simd()];
}

struct attn_prefetch attn_prefetch_rows(const void *at, size_t rows, size_t bytes, size_t step)
{
    const size_t line = 64, before = (uintptr_t)at % line;
    if (bytes == step && rows > ATTN_ABREAST) {         /* no gaps between them: treat them as ATTN_ABREAST long rows */
        bytes = step = up(rows * bytes / ATTN_ABREAST, line);
        rows = ATTN_ABREAST;
    }
    return (struct attn_prefetch){.at = (uintptr_t)at - before, .rows = rows, .bytes = before + bytes, .step = step};
}

const char *attn_cpu_target(void)
{
    switch (attn_cpu_bf16()) {
    case ATTN_BF16_TILES: return "avx512-amx";
    case ATTN_BF16_DOTS: return "avx512-bf16";
    default: return attn_vec_target();
    }
}

/* simd.h - which instructions compute: of those that our code is compiled for, the widest that the processor has.
 *
 * A set of instructions has a row in the list of its architecture, and files of its own, whose names end in its name.
 * ATTN_SIMD=NAME in the environment asks for a narrower one. */
#ifndef ATTN_BASE_SIMD_H
#define ATTN_BASE_SIMD_H

#include "attn.h"

/* DO(ID, name), from the narrowest on.  What `generic` computes has the same bits everywhere: its multiply-adds round
 * twice.  So have all others, which round once. */
#if defined(__x86_64__)
/* AVX2 with FMA and F16C; AVX-512 F, BW, DQ, VL */
#define ATTN_SIMD_SETS(DO) DO(GENERIC, generic) DO(AVX2, avx2) DO(AVX512, avx512)
#define ATTN_SIMD_EXPECTED "avx512, avx2 or generic"
#elif defined(__aarch64__)
#define ATTN_SIMD_SETS(DO) DO(GENERIC, generic) DO(NEON, neon)
#define ATTN_SIMD_EXPECTED "neon or generic"
#elif defined(__wasm__)                 /* its vectors have no fused multiply-add: `wasm` has the bits of one */
#define ATTN_SIMD_SETS(DO) DO(GENERIC, generic) DO(WASM, wasm)
#define ATTN_SIMD_EXPECTED "wasm or generic"
#else
#error "vectors of this architecture have no section in compute/lanes.h yet"
#endif

#define ATTN_SIMD_ID(id, name) ATTN_SIMD_##id,
enum attn_simd { ATTN_SIMD_SETS(ATTN_SIMD_ID) };
#undef ATTN_SIMD_ID

enum attn_simd attn_cpu_simd(void);
enum attn_simd attn_cpu_widest(void);           /* whatever the environment says */
/* Whether numbers have the bits of `generic` from now on, or those of the others, as is asked. */
bool attn_cpu_choose(bool generic);
/* Fails if ATTN_SIMD is set to anything else, or LIBXSMM_TARGET to a value that libxsmm does not know. */
int attn_cpu_check(struct attn_err *err);

/* How numbers rounded to bf16 are multiplied fastest.  The choice changes bits of the results, so it follows from the
 * processor and is never measured: AMX where the kernel lets us use it (sixteen times as fast as float32); vdpbf16ps
 * on AMD's processors (twice as fast; on Intel's it has half the speed of float32); else float32.  AMX and vdpbf16ps
 * are used only where AVX-512 may be. */
enum attn_bf16 { ATTN_BF16_FLOATS, ATTN_BF16_DOTS, ATTN_BF16_TILES };
enum attn_bf16 attn_cpu_bf16(void);
bool attn_cpu_can(enum attn_bf16 method);

#endif

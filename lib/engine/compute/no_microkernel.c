/* no_microkernel.c - microkernel.h where libxsmm makes no code for the processor: plain loops (tile.h) multiply. */
#include "compute/microkernel.h"

attn_microkernel *attn_microkernel_of(const struct attn_shape *s)
{
    (void)s;
    return NULL;
}

void attn_microkernel_leave(void) { }

const char *attn_microkernel_target(const char **why)
{
    *why = "libxsmm makes kernels for x86-64 alone";
    return NULL;
}

const char *attn_microkernel_library(void) { return "no libxsmm"; }

struct attn_microkernel_count attn_microkernel_counted(void) { return (struct attn_microkernel_count){0}; }

bool attn_microkernel_choose(bool kernels) { return !kernels; }

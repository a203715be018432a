#include "base/version.h"
#include "attn.h"

/* The Makefile says these. */
#ifndef ATTN_COMMIT
#define ATTN_COMMIT "unknown"
#define ATTN_FLAVOUR "no flavour"
#define ATTN_FLAGS ""
#endif

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char *attn_version(void) { return ATTN_VERSION "+" ATTN_COMMIT; }
const char *attn_built(void) { return COMPILER ", " ATTN_FLAVOUR ", " ATTN_FLAGS; }

/* fuzz.h - shared by all fuzz targets: the entry point, and a check that NDEBUG does not remove. */
#ifndef ATTN_TESTS_FUZZ_H
#define ATTN_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void must(int holds)
{
    if (!holds)
        abort();
}

#endif

#include "picture/page_engine.h"

#include "base/embed.h"

#ifndef ATTN_BUILT
#define ATTN_BUILT "build/release"      /* where what is made before this file is */
#endif
ATTN_EMBED(attn_engine_packed, ATTN_BUILT "/engine.z");

const unsigned char *attn_engine_module(size_t *n)
{
    *n = (size_t)(attn_engine_packed_end - attn_engine_packed);
    return *n ? attn_engine_packed : NULL;
}

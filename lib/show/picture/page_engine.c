#include "picture/page_engine.h"

#include "base/embed.h"

#ifndef ATTN_BUILT
#define ATTN_BUILT "build/release"      /* where what is made before this file is */
#endif
ATTN_EMBED(attn_engine_packed, ATTN_BUILT "/engine.z");

const unsigned char *attn_engine_module(size_t *n)
{
    static const struct { const unsigned char *data, *end; } packed = {attn_engine_packed, attn_engine_packed_end};
    *n = (size_t)(packed.end - packed.data);
    return *n ? packed.data : NULL;
}

/* page_file.c - files of a page, for WebAssembly alone. */
#include "live/live.h"

#include "attn.h"
#include "base/page_os.h"

int live_file(const char *name, void *bytes, size_t n)
{
    return attn_page_file(name, bytes, n) ? ATTN_OK : ATTN_ENOMEM;
}

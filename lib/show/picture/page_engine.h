/* page_engine.h - what computes in a page: the library as WebAssembly, which `make engine` adds to the program. */
#ifndef ATTN_PICTURE_PAGE_ENGINE_H
#define ATTN_PICTURE_PAGE_ENGINE_H

#include <stddef.h>

/* The module, packed in zlib's format; NULL: this build has none. */
const unsigned char *attn_engine_module(size_t *n);

#endif

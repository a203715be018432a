/* engine.h - what computes in a page: the library as WebAssembly, which `make engine` adds to the program. */
#ifndef ATTN_PICTURE_ENGINE_H
#define ATTN_PICTURE_ENGINE_H

#include <stddef.h>

#include "base/err.h"

/* The module, packed in zlib's format; NULL: this build has none. */
const unsigned char *attn_engine_module(size_t *n);
/* SHA-256 of the module as it is when it is unpacked, in hexadecimal; of nothing, if there is none. */
int attn_engine_digest(char hex[65], struct attn_err *err);

#endif

/* engine_module.h - the engine of a page that computes: this library as WebAssembly, deflated as zlib does it.
 *
 * `make engine` makes it and links it in; without, attn_engine_is_there is false, and pages only show. */
#ifndef ATTN_PICTURE_ENGINE_MODULE_H
#define ATTN_PICTURE_ENGINE_MODULE_H

#include <stdbool.h>

#include "base/err.h"

extern const unsigned char attn_engine_module[] __attribute__((weak)), attn_engine_module_end[] __attribute__((weak));

bool attn_engine_is_there(void);
/* SHA-256 of the module itself, in hexadecimal. */
int attn_engine_digest(char hex[65], struct attn_err *err);

#endif

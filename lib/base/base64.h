/* base64.h - encodes bytes as base64 text (RFC 4648, with padding). */
#ifndef ATTN_BASE_BASE64_H
#define ATTN_BASE_BASE64_H

#include "base/out.h"

void attn_base64_write(struct attn_out *o, const void *data, size_t len);

#endif

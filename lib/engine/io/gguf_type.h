/* gguf_type.h - the types of GGUF's tensors: how many numbers a block has, and how many bytes. */
#ifndef ATTN_IO_GGUF_TYPE_H
#define ATTN_IO_GGUF_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attn_gguf_type {
    uint32_t id;
    const char *name;
    size_t values, bytes;               /* of a block; bytes 0: the type is known but not read here */
};

const struct attn_gguf_type *attn_gguf_type_find(uint32_t id);      /* NULL: there is no such type */

#endif

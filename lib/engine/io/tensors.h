/* tensors.h - the tensors of one file by name, whatever the format: safetensors.c and torch.c fill it.
 *
 * The bytes belong to the caller, who keeps the file mapped.  Only what a file cannot show as it is, since it is not
 * aligned or not row after row, is copied. */
#ifndef ATTN_IO_TENSORS_H
#define ATTN_IO_TENSORS_H

#include "base/strings.h"

enum { ATTN_ST_DIMS = 8 };

struct attn_st_tensor {
    const char *name;                   /* NUL-terminated; as in the file */
    const char *dtype;                  /* "F32", "F16", "BF16", "I64", ... */
    int ndim; size_t shape[ATTN_ST_DIMS];
    size_t count, bytes;                /* elements; bytes in the file */
    const unsigned char *data;          /* may be misaligned */
};

struct attn_st {
    struct attn_strings names;
    struct attn_st_tensor *tensor; size_t room;                     /* [names.n] */
    uint32_t *index;                    /* [names.n] index of each name's tensor; NULL: as the names are numbered */
    const unsigned char *header; size_t header_len;                 /* what describes the tensors */
    void **copy; size_t copies, copy_room;                          /* owned */
};

void attn_st_close(struct attn_st *st);                             /* NULL is fine */
size_t attn_st_count(const struct attn_st *st);
/* Contiguous in memory: tensor t has index t - attn_st_at(st, 0). */
const struct attn_st_tensor *attn_st_at(const struct attn_st *st, size_t i);
const struct attn_st_tensor *attn_st_find(const struct attn_st *st, const char *name);  /* NULL: not there */

/* For readers of formats.  Room of so many bytes that lives as long as st, aligned for any element; NULL: no memory. */
void *attn_st_keep(struct attn_st *st, size_t bytes);
/* Adds a tensor whose name is new; its name is copied, its bytes are the caller's.  Names may move until all are there:
 * attn_st_name then fills them in.  False: no memory, or the name is there already. */
bool attn_st_add(struct attn_st *st, const char *name, const struct attn_st_tensor *t);
void attn_st_name(struct attn_st *st);

extern const struct attn_st_dtype { const char *name; size_t bytes; } attn_st_dtypes[];     /* ends with a NULL name */
size_t attn_st_element(const char *dtype);                          /* bytes of one element; 0: no such dtype */
/* "[2, 3]" into buf. */
enum { ATTN_ST_SHAPE = ATTN_ST_DIMS * 22 + 3 };                     /* "[", 20 digits and ", " each, "]" */
const char *attn_st_shape(char buf[ATTN_ST_SHAPE], const size_t *shape, int ndim);
/* Counts the elements.  False if their number, or the bytes of the dimensions other than 0, overflows. */
bool attn_st_elements(const size_t *shape, int ndim, size_t element, size_t *count);

#endif

/* ggufs.h - writes GGUF files, whole or wrong, independently of the library's reader.
 *
 * A file is pairs and tensors in the order of the calls; ggufs_write puts them together.  What a test wants to be wrong
 * it sets in the struct, or patches in the bytes. */
#ifndef TESTS_GGUFS_H
#define TESTS_GGUFS_H

#include <stddef.h>
#include <stdint.h>

struct ggufs_bytes { unsigned char *x; size_t n, room; };
struct ggufs {
    uint32_t version;
    uint64_t pairs, tensors;            /* what the header claims */
    size_t alignment;
    struct ggufs_bytes pair, tensor, data;
};

struct ggufs ggufs_new(void);
void ggufs_free(struct ggufs *g);

void ggufs_u32(struct ggufs *g, const char *key, uint32_t x);
void ggufs_f32(struct ggufs *g, const char *key, float x);
void ggufs_flag(struct ggufs *g, const char *key, int x);
void ggufs_text(struct ggufs *g, const char *key, const char *text);
void ggufs_texts(struct ggufs *g, const char *key, const char *const *text, size_t n);
void ggufs_i32s(struct ggufs *g, const char *key, const int32_t *x, size_t n);
void ggufs_f32s(struct ggufs *g, const char *key, const float *x, size_t n);
/* A pair whose value is these bytes, whatever its type. */
void ggufs_raw(struct ggufs *g, const char *key, uint32_t type, const void *value, size_t len);
/* dim[0] is the length of a row; data NULL: zeros. */
void ggufs_tensor(struct ggufs *g, const char *name, int ndim, const uint64_t *dim, uint32_t type, const void *data,
                  size_t len);

/* A Llama of one block, all of whose numbers are F32: width 8, two heads, `tokens` tokens, no tokenizer. */
struct ggufs ggufs_llama(size_t tokens);
/* A byte-level tokenizer of the 256 characters of bytes and one merge, cut as `pre` says. */
void ggufs_tokenizer(struct ggufs *g, const char *pre);

/* The file, malloc'd; then into the test's directory. */
unsigned char *ggufs_put_together(const struct ggufs *g, size_t *len);
const char *ggufs_write(const struct ggufs *g, const char *leaf);

#endif

/* out.h - buffered output that cannot fail silently and files that are whole or not there.
 *
 * A file is written beside its target under another name and renamed when committed; only a
 * regular or absent target (after realpath) is replaced so, devices and pipes are written in
 * place.  What is needed as a text is kept in memory instead.  The first error sticks, later writes
 * do nothing, and commit or take reports it. */
#ifndef ATTN_BASE_OUT_H
#define ATTN_BASE_OUT_H

#include "attn.h"

struct attn_out;

int attn_out_open(struct attn_out **out, const char *path, struct attn_err *err);   /* NULL or "-": standard output */
/* A file that grows beside its target, as PATH.part, from its first `keep` bytes on; it stays when it is closed. */
int attn_out_open_growing(struct attn_out **out, const char *path, uint64_t keep, struct attn_err *err);
int attn_out_open_memory(struct attn_out **out, struct attn_err *err);              /* for attn_out_take */
void attn_out_close(struct attn_out *o);                /* without commit: the target is as it was; NULL is fine */
/* Flush, close, rename.  Standard output is flushed and left open.  A closed pipe (EPIPE) is
 * not an error: see attn_out_broken. */
int attn_out_commit(struct attn_out *o, struct attn_err *err);
/* Instead of commit: what was written to memory, malloc'd, with a NUL after it. */
int attn_out_take(struct attn_out *o, char **text, size_t *len, struct attn_err *err);
/* What was written so far is with the system; with `disk` also, if it is a file, on the disk. */
int attn_out_flush(struct attn_out *o, bool disk, struct attn_err *err);
/* Writes over what was flushed at byte `at` of a file. */
void attn_out_patch(struct attn_out *o, const void *data, size_t len, uint64_t at);
bool attn_out_broken(const struct attn_out *o);         /* nobody reads any more */
bool attn_out_failed(const struct attn_out *o);         /* an error or a closed pipe: writing on is useless */

/* A SHA-256 of what is written; call hash before the first write, digest between the last and commit.  A
 * file is read back for it, so that threads can share this work, which takes longer than writing; two
 * files at once take each of them little longer than one. */
void attn_out_hash(struct attn_out *o);
void attn_out_digest(struct attn_out *o, char hex[65]);
void attn_out_digest_two(struct attn_out *a, char hex_a[65], struct attn_out *b, char hex_b[65]);
uint64_t attn_out_bytes(const struct attn_out *o);      /* written so far, with those it grows from */

void attn_out_write(struct attn_out *o, const void *data, size_t len);
void attn_out_str(struct attn_out *o, const char *s);
void attn_out_char(struct attn_out *o, char c);
void attn_out_printf(struct attn_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void attn_out_f32(struct attn_out *o, float x);         /* attn_num_f32 */
void attn_out_u64(struct attn_out *o, uint64_t x);
/* A JSON string with its quotes.  Bytes that are no UTF-8 become U+FFFD. */
void attn_out_json(struct attn_out *o, const char *s, size_t len);

#endif

/* out.h - buffered output that cannot fail silently; files appear complete or not at all.
 *
 * A file is written beside its target under another name and renamed when committed.  This applies only to a regular
 * or absent target (after realpath); devices and pipes are written in place.  Output can also be collected in memory.
 * The first error sticks, later writes do nothing, and commit or take reports it. */
#ifndef ATTN_BASE_OUT_H
#define ATTN_BASE_OUT_H

#include "attn.h"
#include "base/map.h"

struct attn_out;

int attn_out_open(struct attn_out **out, const char *path, struct attn_err *err);   /* NULL or "-": standard output */
/* see attn_target_open_ours */
int attn_out_open_ours(struct attn_out **out, const char *path, struct attn_err *err);
/* see attn_target_open_scratch */
int attn_out_open_scratch(struct attn_out **out, const char *path, struct attn_err *err);
/* A file that grows beside its target as PATH.part, continued after its first `keep` bytes.  Closing leaves it. */
int attn_out_open_growing(struct attn_out **out, const char *path, uint64_t keep, struct attn_err *err);
int attn_out_open_memory(struct attn_out **out, struct attn_err *err);              /* for attn_out_take */
void attn_out_close(struct attn_out *o);                /* without commit the target stays unchanged; NULL is fine */
/* Flushes, closes, renames.  Standard output is flushed but left open.  A closed pipe (EPIPE) is no error; see
 * attn_out_broken for that. */
int attn_out_commit(struct attn_out *o, struct attn_err *err);
/* Commits if rc, the writer's code, is 0; closes; returns rc, or what went wrong here.  May be called with NULL if rc
 * is an error. */
int attn_out_end(struct attn_out *o, int rc, struct attn_err *err);
/* The same of what goes into `to`, whose end is not here, or where that is NULL, into a file. */
int attn_out_open_into(struct attn_out **out, struct attn_out *to, const char *path, struct attn_err *err);
int attn_out_end_into(struct attn_out *o, const struct attn_out *to, int rc, struct attn_err *err);
/* Commits files that belong together, in this order, once all of them are written: until then none replaces its target.
 * NULL entries are skipped. */
int attn_out_commit_all(struct attn_out *const *o, size_t n, struct attn_err *err);
/* Takes the place of commit for memory: hands over the text, malloc'd, with a NUL after it. */
int attn_out_take(struct attn_out *o, char **text, size_t *len, struct attn_err *err);
/* Passes what was written so far to the system; with `disk`, waits until a file's data is on the disk. */
int attn_out_flush(struct attn_out *o, bool disk, struct attn_err *err);
/* Maps what a scratch file has so far. */
int attn_out_map(struct attn_out *o, struct attn_map *map, struct attn_err *err);
/* Overwrites flushed data at byte `at` of a file. */
void attn_out_patch(struct attn_out *o, const void *data, size_t len, uint64_t at);
bool attn_out_broken(const struct attn_out *o);         /* the reader has closed the pipe */
bool attn_out_failed(const struct attn_out *o);         /* after an error or a closed pipe further writes are useless */

/* SHA-256 of what is written: call hash before the first write and digest between the last one and commit.  Hashing
 * takes longer than writing, so a file is read back for it, which lets threads share this work; two files at once
 * take little longer than one. */
void attn_out_hash(struct attn_out *o);
void attn_out_digest(struct attn_out *o, char hex[65]);
void attn_out_digest_two(struct attn_out *a, char hex_a[65], struct attn_out *b, char hex_b[65]);
/* The SHA-256 of what `before` has hashed and of what is written from now on, which can be asked for at any time. */
struct attn_sha256;
void attn_out_hash_on(struct attn_out *o, const struct attn_sha256 *before);
void attn_out_digest_so_far(const struct attn_out *o, char hex[65]);
uint64_t attn_out_bytes(const struct attn_out *o);      /* written so far, including the bytes kept */

void attn_out_write(struct attn_out *o, const void *data, size_t len);
/* Control sequences for a terminal: in all else that is written to one, they are made visible. */
void attn_out_steer(struct attn_out *o, const char *codes);
void attn_out_str(struct attn_out *o, const char *s);
void attn_out_char(struct attn_out *o, char c);
void attn_out_printf(struct attn_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Numbers of JSON, as attn_num_f32 and attn_num_f64 write them; null if x is not finite, which JSON cannot express. */
void attn_out_f32(struct attn_out *o, float x);
void attn_out_f64(struct attn_out *o, double x);
void attn_out_u64(struct attn_out *o, uint64_t x);
/* As attn_num_right writes it. */
void attn_out_right(struct attn_out *o, size_t columns, double x, int digits);
/* Writes a JSON string with its quotes.  Bytes that are not UTF-8 become U+FFFD. */
void attn_out_json(struct attn_out *o, const char *s, size_t len);
/* Writes text for XML and HTML, also between quotes.  What neither may hold, control characters, noncharacters
 * and bytes that are not UTF-8, becomes U+FFFD. */
void attn_out_markup(struct attn_out *o, const char *s, size_t len);
void attn_out_base64(struct attn_out *o, const void *data, size_t len);     /* RFC 4648, with padding */

#endif

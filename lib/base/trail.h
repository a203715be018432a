/* trail.h - what a signal handler must know when the process has to end at once: which file is mapped where, to name
 * the one that shrank, and which temporary files are to be removed.
 *
 * A handler may interrupt any code, so it takes no lock: it walks a list whose entries are never freed, only used again. */
#ifndef ATTN_BASE_TRAIL_H
#define ATTN_BASE_TRAIL_H

#include "attn.h"

struct attn_trail;
/* Notes a file: `len` bytes of it are mapped at `data` or, if that is NULL, it is a temporary one.  NULL: no memory, and
 * nothing is noted. */
struct attn_trail *attn_trail_add(const char *path, const void *data, size_t len);
void attn_trail_drop(struct attn_trail *t);                         /* NULL is fine */
/* Whether this process noted the file: a child of fork must not remove what its parent writes.  NULL: yes. */
bool attn_trail_is_ours(const struct attn_trail *t);

#endif

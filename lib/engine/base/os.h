/* os.h - what Linux has and POSIX does not promise, and what takes its place.
 *
 * Each call below names what stands in for it: on other systems, in a program built with ATTN_PORTABLE, and where a
 * kernel refuses a call, because it is too old for it or a filter forbids it. */
#ifndef ATTN_BASE_OS_H
#define ATTN_BASE_OS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Opens a file in which the system describes itself, below /proc or /sys; -1: it does not. */
int attn_os_open(const char *path);
/* Bytes of memory that this machine has; 0 if unknown. */
size_t attn_os_memory(void);
/* Where this program is, as far as the system knows; else `called`, by which it was started.  False: it is too long. */
bool attn_os_program(char *to, size_t size, const char *called);

/* An empty file without a name, in memory, that may be mapped to run; -1 with errno.  Else a shared memory object whose
 * name is removed at once, and where there are none, a file in TMPDIR or /tmp treated the same. */
int attn_os_memory_file(const char *what);
/* A number that nobody can foresee; without a source of such, one that differs from call to call. */
uint64_t attn_os_random(void);
/* Waits until all files of the file system that fd is on are on the disk; false with errno.  Else those of all. */
bool attn_os_sync_all(int fd);
/* Asks for large pages where some memory lies, now or when it is touched; else pages stay as they are. */
void attn_os_large_pages(void *data, size_t len);
/* Requests the tiles of AMX for this process; false if it may not have them.  Asking again is harmless. */
bool attn_os_tiles(void);

/* Where the stack of the calling thread ends, its lowest address; 1 where that is unknown, or may grow. */
uintptr_t attn_os_stack_end(void);

/* A stream that passes on what is written to it, and that may stand for stdout and stderr; NULL: this C library has
 * no such stream. */
FILE *attn_os_stream(void *self, ssize_t (*write)(void *self, const char *data, size_t len));

/* ---- processors ----------------------------------------------------------------------------
 *
 * Linux starts and wakes a thread on the processor of whoever does that, unless it finds an idle one.  A virtual
 * machine often finds none: a processor that waits counts as taken away by its host.  Two threads then share one
 * processor for milliseconds, which is longer than many a pass takes, while others wait.  So the threads of a team
 * are kept off the processor of the thread that they help; elsewhere they are where the system wants them. */

enum { ATTN_PROCESSORS = 1024 };        /* that a set can hold */
struct attn_places { uint64_t may[ATTN_PROCESSORS / 64]; };     /* where a thread may run; empty: unknown */

/* The processor that the calling thread is on; -1: unknown. */
int attn_place_now(void);
/* Where the calling thread may run. */
void attn_places_find(struct attn_places *p);
/* How many processors these are; if unknown, how many there are. */
int attn_places_count(const struct attn_places *p);
/* Keeps a thread off processor `cpu`, if there is another for it. */
void attn_place_off(const struct attn_places *p, int cpu, pthread_t thread);

#endif

/* refuse.h - system calls that fail, as under an older kernel, in a container or in a service that may do little. */
#ifndef TESTS_REFUSE_H
#define TESTS_REFUSE_H

#include <stdbool.h>
#include <stddef.h>

/* From now on, in this process and all it starts, call `nr` fails with EPERM if its argument `arg` has one of `bits`;
 * false: filters are not allowed here. */
bool refuse(unsigned nr, size_t arg, unsigned bits);

/* Whether `check` is true in a child. */
bool in_a_child(bool (*check)(void));

#endif

/* cgroup.h - the limits of the control groups this process is in.
 *
 * Groups are directories of the unified hierarchy (v2), or of one hierarchy for each controller (v1).  A limit
 * applies to all processes of a group together.  A container often sees its own group as the root, while /proc gives
 * a path that does not exist inside. */
#ifndef ATTN_BASE_CGROUP_H
#define ATTN_BASE_CGROUP_H

#include <stdbool.h>

/* Reads the first line of DIR/FILE; false if there is none. */
bool attn_cgroup_line(const char *dir, const char *file, char *buf, int size);

/* The smallest value of `limit` over the directory of our group and those above it; INFINITY means no limit.
 * `controller` names a v1 hierarchy, NULL means the unified one.  /proc and /sys are looked for under `root`, which
 * is "" except in tests. */
double attn_cgroup_least(const char *root, const char *controller, double (*limit)(const char *dir));

#endif

/* cgroup.h - what the groups this process is in allow it.
 *
 * Groups are directories of the unified hierarchy (v2), or of one for each controller (v1); what a group may, those
 * in it may together.  A container often sees its own group as the topmost, under a path that is not there. */
#ifndef ATTN_BASE_CGROUP_H
#define ATTN_BASE_CGROUP_H

#include <stdbool.h>

/* The first line of DIR/FILE, which need not be there. */
bool attn_cgroup_line(const char *dir, const char *file, char *buf, int size);

/* The least that `limit` makes of the directory of our group and of those above it; INFINITY is no limit.
 * `controller` is that of a v1 hierarchy, NULL the unified one.  /proc and /sys are in `root`, which is "" but for tests. */
double attn_cgroup_least(const char *root, const char *controller, double (*limit)(const char *dir));

#endif

/* cgroup.h - what the groups this process is in allow it. */
#ifndef ATTN_BASE_CGROUP_H
#define ATTN_BASE_CGROUP_H

#include <stdbool.h>

/* The first line of a file, which need not be there. */
bool attn_cgroup_line(const char *path, char *buf, int size);

/* The unified hierarchy: the least that `limit` makes of the first line of `file` in our group and
 * in those above it; 0 is no limit. */
double attn_cgroup_least(const char *file, double (*limit)(const char *line));

#endif

#include "base/memory.h"

#include "base/cgroup.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 8, PATH = 2048 };

/* Reads a line of what /sys says about a processor's cache; false if there is no such cache. */
static bool cache_line(int cpu, int index, const char *what, char *buf, int size)
{
    char dir[96];
    snprintf(dir, sizeof dir, "/sys/devices/system/cpu/cpu%d/cache/index%d", cpu, index);
    return attn_cgroup_line(dir, what, buf, size);
}

/* The last cache before memory has the highest index. */
static int last_index(int cpu)
{
    char line[32];
    int index = -1;
    while (index + 1 < LEVELS && cache_line(cpu, index + 1, "size", line, sizeof line))
        index++;
    return index;
}

/* Bytes in a text such as "307200K". */
static size_t bytes_of(const char *line)
{
    char *end;
    size_t n = strtoull(line, &end, 10);
    return n << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
}

/* Counts each cache only at the first of the processors that share it. */
size_t attn_memory_cache(void)
{
    char shared[256], size[32];
    size_t total = 0;
    for (int cpu = 0, last; (last = last_index(cpu)) >= 0; cpu++)
        if (cache_line(cpu, last, "shared_cpu_list", shared, sizeof shared) && atoi(shared) == cpu &&
            cache_line(cpu, last, "size", size, sizeof size))
            total += bytes_of(size);
    return total;
}

/* ---- memory that may still be allocated ------------------------------------------------------ */

/* The number after `word` at the start of a line of DIR/FILE; INFINITY if there is none. */
static double number_after(const char *word, const char *dir, const char *file)
{
    char path[PATH], line[128], first[64];
    double x = INFINITY, found;
    snprintf(path, sizeof path, "%s/%s", dir, file);
    FILE *f = fopen(path, "re");
    while (f && isinf(x) && fgets(line, sizeof line, f))
        if (sscanf(line, "%63s %lf", first, &found) == 2 && !strcmp(first, word))
            x = found;
    if (f)
        fclose(f);
    return x;
}

/* The number in the first line of DIR/FILE; INFINITY if there is none or it is "max". */
static double number_in(const char *dir, const char *file)
{
    char line[64], *end;
    if (!attn_cgroup_line(dir, file, line, sizeof line))
        return INFINITY;
    double x = strtod(line, &end);
    return end > line ? x : INFINITY;
}

static double or_none(double x) { return isinf(x) ? 0 : x; }

/* Names of a group's files, and of the entries of memory.stat that count cached files. */
struct names { const char *most, *used, *cached[2]; };

/* Cached files do not count as used: the kernel drops them under pressure, as it assumes for "available" memory. */
static double left(const char *dir, const struct names *n)
{
    double most = number_in(dir, n->most), used = or_none(number_in(dir, n->used));
    for (int i = 0; i < 2 && !isinf(most); i++)
        used -= or_none(number_after(n->cached[i], dir, "memory.stat"));
    return fmax(0, most - fmax(0, used));
}

static double left_v2(const char *dir)
{
    static const struct names v2 = {"memory.max", "memory.current", {"active_file", "inactive_file"}};
    return left(dir, &v2);
}

static double left_v1(const char *dir)
{
    static const struct names v1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", {"total_active_file", "total_inactive_file"}};
    return left(dir, &v1);
}

size_t attn_memory_available_in(const char *root)
{
    double have = 1024 * number_after("MemAvailable:", root, "proc/meminfo"), may = attn_cgroup_least(root, NULL, left_v2);
    if (isinf(may))
        may = attn_cgroup_least(root, "memory", left_v1);
    may = fmin(may, have);
    return isinf(may) ? 0 : may < 1 ? 1 : (size_t)may;
}

size_t attn_memory_available(void)
{
    return attn_memory_available_in("");
}

#include "base/memory.h"

#include "base/cgroup.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEVELS = 8 };

/* A line of what the system tells of a processor's cache; false: there is no such cache. */
static bool cache_line(int cpu, int index, const char *what, char *buf, int size)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, what);
    return attn_cgroup_line(path, buf, size);
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

/* "307200K" */
static size_t bytes_of(const char *line)
{
    char *end;
    size_t n = strtoull(line, &end, 10);
    return n << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
}

/* Each cache counts with the first processor that shares it. */
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

static size_t system_available(void)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %llu", &kib) != 1)
        continue;
    if (f)
        fclose(f);
    return (size_t)kib << 10;
}

/* "max" reads as 0, no limit. */
static double limit(const char *line)
{
    return strtod(line, NULL);
}

size_t attn_memory_available(void)
{
    char line[64];
    size_t have = system_available();
    double most = attn_cgroup_least("memory.max", limit);
    if (most == 0 && attn_cgroup_line("/sys/fs/cgroup/memory/memory.limit_in_bytes", line, sizeof line))
        most = limit(line);
    return most > 0 && most < (double)have ? (size_t)most : have;
}

#include "base/cpu.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/os.h"

/* ---- control groups ---------------------------------------------------------------------
 *
 * Groups are directories of the unified hierarchy (v2), or of one hierarchy for each controller (v1).  A limit applies
 * to all processes of a group together.  A container often sees its own group as the root, while /proc gives a path
 * that does not exist inside. */

enum { PATH = 512 };

/* Reads the beginning of DIR/FILE, without stdio, as most runs wait for it; false if there is none. */
static bool beginning_of(const char *dir, const char *file, char *buf, size_t size)
{
    char path[3 * PATH];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    int fd = attn_os_open(path);
    ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);
    if (fd >= 0)
        close(fd);
    buf[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static bool first_line(const char *dir, const char *file, char *buf, size_t size)
{
    bool there = beginning_of(dir, file, buf, size);
    buf[strcspn(buf, "\n")] = '\0';
    return there;
}

/* Whether a list such as "cpu,cpuacct" contains a name. */
static bool lists(const char *list, size_t len, const char *name)
{
    for (const char *end = list + len; list < end; list += strcspn(list, ",:") + 1)
        if (strcspn(list, ",:") == strlen(name) && !strncmp(list, name, strlen(name)))
            return true;
    return false;
}

/* Our group's path in a line such as "0::/user.slice" or "4:cpu,cpuacct:/user.slice"; NULL: of another hierarchy. */
static const char *group_in(const char *line, const char *controller)
{
    const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
    if (!path)
        return NULL;
    size_t len = (size_t)(path - ++list);
    return (controller ? lists(list, len, controller) : len == 0) ? path + 1 : NULL;
}

enum { GROUPS = 8192 };                 /* bytes of /proc/self/cgroup: a line for each hierarchy */

/* Gets "" if there is no such line: then the limits of the root apply. */
static void own_group(char group[PATH], const char *groups, const char *controller)
{
    group[0] = '\0';
    for (const char *line = groups, *own; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if ((own = group_in(line, controller)) != NULL)
            snprintf(group, PATH, "%.*s", (int)strcspn(own, "\n"), own);
}

/* The smallest value of `limit` over the directory of our group and those above it; INFINITY means no limit.
 * `controller` names a v1 hierarchy, NULL means the unified one. */
static double least_limit(const char *root, const char *groups, const char *controller,
                          double (*limit)(const char *dir))
{
    char group[PATH], dir[2 * PATH];
    double least = INFINITY;
    own_group(group, groups, controller);
    if (!strcmp(group, "/"))
        group[0] = '\0';
    for (;;) {
        snprintf(dir, sizeof dir, "%s/sys/fs/cgroup%s%s%s", root, controller ? "/" : "", controller ? controller :
                 "", group);
        least = fmin(least, limit(dir));
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* ---- processors ------------------------------------------------------------------------ */

static int affinity(void)
{
    struct attn_places p;
    attn_places_find(&p);
    return attn_places_count(&p);
}

/* How many processors a quota in microseconds per period amounts to. */
static double quota_of(const char *line)
{
    long long most, period;
    return sscanf(line, "%lld %lld", &most, &period) == 2 && most > 0 &&
           period > 0 ? (double)most / (double)period : INFINITY;
}

static double share_v2(const char *dir)
{
    char line[64];
    return first_line(dir, "cpu.max", line, sizeof line) ? quota_of(line) : INFINITY;
}

static double share_v1(const char *dir)
{
    char most[32], period[32], both[64];
    if (!first_line(dir, "cpu.cfs_quota_us", most, sizeof most) ||
        !first_line(dir, "cpu.cfs_period_us", period, sizeof period))
        return INFINITY;
    snprintf(both, sizeof both, "%s %s", most, period);
    return quota_of(both);
}

double attn_cpu_quota(const char *root)
{
    char groups[GROUPS];
    beginning_of(root, "proc/self/cgroup", groups, sizeof groups);
    double v2 = least_limit(root, groups, NULL, share_v2);
    return isinf(v2) ? least_limit(root, groups, "cpu", share_v1) : v2;
}

int attn_cpu_count(void)
{
    int n = affinity();
    double quota = n > 1 ? attn_cpu_quota("") : INFINITY;
    if (quota < n)
        n = (int)ceil(quota);
    return n < 1 ? 1 : n;
}

int attn_threads_available(void) { return attn_cpu_count(); }

/* ---- caches and memory ----------------------------------------------------------------- */

enum { LEVELS = 8 };

/* Reads a line of what /sys says about a processor's cache; false if there is no such cache. */
static bool cache_line(int cpu, int index, const char *what, char *buf, size_t size)
{
    char dir[96];
    snprintf(dir, sizeof dir, "/sys/devices/system/cpu/cpu%d/cache/index%d", cpu, index);
    return first_line(dir, what, buf, size);
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

/* The number after `word` at the start of a line of DIR/FILE; INFINITY if there is none. */
static double number_after(const char *word, const char *dir, const char *file)
{
    char path[3 * PATH], line[128], first[64];
    double x = INFINITY, found;
    snprintf(path, sizeof path, "%s/%s", dir, file);
    int fd = attn_os_open(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
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
    if (!first_line(dir, file, line, sizeof line))
        return INFINITY;
    double x = strtod(line, &end);
    return end > line ? x : INFINITY;
}

static double or_none(double x) { return isinf(x) ? 0 : x; }

/* Names of a group's files, and of the entries of memory.stat that count cached files. */
struct limit_files { const char *most, *used, *cached[2]; };

/* Cached files do not count as used: the kernel drops them under pressure, as it assumes for "available" memory. */
static double left(const char *dir, const struct limit_files *n)
{
    double most = number_in(dir, n->most), used = or_none(number_in(dir, n->used));
    for (int i = 0; i < 2 && !isinf(most); i++)
        used -= or_none(number_after(n->cached[i], dir, "memory.stat"));
    return fmax(0, most - fmax(0, used));
}

static double left_v2(const char *dir)
{
    static const struct limit_files v2 = {"memory.max", "memory.current", {"active_file", "inactive_file"}};
    return left(dir, &v2);
}

static double left_v1(const char *dir)
{
    static const struct limit_files v1 = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                          {"total_active_file", "total_inactive_file"}};
    return left(dir, &v1);
}

/* What a limit on the address space (ulimit -v) leaves of it. */
static double left_to_map(const char *root)
{
#if defined(RLIMIT_AS)
    char dir[PATH];
    struct rlimit most;
    if (getrlimit(RLIMIT_AS, &most) || most.rlim_cur == RLIM_INFINITY)
        return INFINITY;
    snprintf(dir, sizeof dir, "%s/proc/self", root);
    return fmax(0, (double)most.rlim_cur - or_none(number_in(dir, "statm")) * (double)sysconf(_SC_PAGESIZE));
#else
    (void)root;
    return INFINITY;
#endif
}

size_t attn_memory_available_in(const char *root)
{
    char groups[GROUPS];
    beginning_of(root, "proc/self/cgroup", groups, sizeof groups);
    double have = 1024 * number_after("MemAvailable:", root,
                                      "proc/meminfo"), may = least_limit(root, groups, NULL, left_v2);
    if (isinf(may))
        may = least_limit(root, groups, "memory", left_v1);
    may = fmin(fmin(may, have), left_to_map(root));
    return isinf(may) ? 0 : may < 1 ? 1 : (size_t)may;
}

/* A system that says nothing of what is in use has at most all there is. */
size_t attn_memory_available(void)
{
    size_t left = attn_memory_available_in("");
    return left ? left : attn_os_memory();
}

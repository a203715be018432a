/* What cgroups leave to a process, read from trees of files: v2, v1, and containers that see their own group
 * as the root. */
#include "suites.h"

#include "sanitized.h"
#include "scratch.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpu.h"

/* Writes a file of the tree and creates its directories. */
static void put(const char *file, const char *text)
{
    char path[SCRATCH_PATH];
    snprintf(path, sizeof path, "%s/%s", scratch_dir, file);
    for (char *slash = path + strlen(scratch_dir) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0777);
    }
    scratch_put(path, text, strlen(text));
}

static void put_groups(const char *groups)
{
    put("proc/self/cgroup", groups);
    put("proc/meminfo", "MemTotal:  9000000 kB\nMemFree:   7 kB\nMemAvailable:  8000 kB\nCached:  1 kB\n");
}

#define SYSTEM (8000u << 10)

/* ---- memory ---------------------------------------------------------------------------- */

static void put_v2(const char *group, const char *most, const char *used, const char *cached)
{
    put(printed("sys/fs/cgroup%s/memory.max", group), most);
    put(printed("sys/fs/cgroup%s/memory.current", group), used);
    put(printed("sys/fs/cgroup%s/memory.stat", group), cached);
}

static void put_v1(const char *group, const char *most, const char *used, const char *cached)
{
    put(printed("sys/fs/cgroup/memory%s/memory.limit_in_bytes", group), most);
    put(printed("sys/fs/cgroup/memory%s/memory.usage_in_bytes", group), used);
    put(printed("sys/fs/cgroup/memory%s/memory.stat", group), cached);
}

#define expect_memory(bytes) ck_assert_uint_eq(attn_memory_available_in(scratch_dir), bytes)

START_TEST(memory_of_the_system)
{
    expect_memory(0);                   /* not known */
    put_groups("0::/\n");
    expect_memory(SYSTEM);
    put_groups("0::/a/b\n");
    expect_memory(SYSTEM);
    put_v2("/a/b", "max\n", "4096000\n", "anon 4096000\n");
    put_v2("/a", "1000000000\n", "4096000\n", "anon 4096000\n");
    expect_memory(SYSTEM);              /* the group's limit is higher than the memory there is */
}
END_TEST

START_TEST(memory_of_the_address_space)
{
    /* as many as the test needs, and many more */
    const rlim_t pages = 1u << 28, size = (rlim_t)sysconf(_SC_PAGESIZE);
    struct rlimit most;
    ck_assert(!getrlimit(RLIMIT_AS, &most));
    most.rlim_cur = pages * size;
    if (SANITIZED || most.rlim_max < most.rlim_cur)     /* a sanitizer takes more address space */
        return;
    ck_assert(!setrlimit(RLIMIT_AS, &most));
    put_groups("0::/\n");
    expect_memory(SYSTEM);
    put("proc/self/statm", printed("%llu 700 70\n", (unsigned long long)pages - 1000));
    expect_memory(1000 * size);
    put("proc/self/statm", printed("%llu 700 70\n", (unsigned long long)pages + 1));
    expect_memory(1);
}
END_TEST

START_TEST(memory_of_v2_groups)
{
    put_groups("0::/a/b\n");
    put_v2("/a/b", "4000000\n", "1000000\n", "anon 1000000\nfile 0\n");
    expect_memory(3000000);
    put_v2("/a", "7000000\n", "5000000\n", "anon 5000000\n");           /* other members of the group use the rest */
    expect_memory(2000000);
    put_v2("/a/b", "1500000\n", "1000000\n", "anon 1\n");
    expect_memory(500000);
    put_v2("/a/b", "1500000\n", "1000000\n", "anon 1\nfile 700000\ninactive_file 300000\nactive_file 200000\nx 1\n");
    expect_memory(1000000);
    put_v2("/a/b", "1500000\n", "1600000\n", "");
    expect_memory(1);                   /* none, but not 0, which would mean "not known" */
    /* the two files are read at different moments */
    put_v2("/a/b", "1500000\n", "1000\n", "inactive_file 5000\n");
    expect_memory(1500000);
}
END_TEST

START_TEST(memory_of_v1_groups)
{
    put_groups("12:pids:/x\n5:hugetlb,memory:/a/b\n4:cpu,cpuacct:/c\n1:name=systemd:/y\n0::/y\n");
    put_v1("", "9223372036854771712\n", "4000000000\n", "total_inactive_file 1\n");
    expect_memory(SYSTEM);
    put_v1("/a/b", "4000000\n", "1000000\n", "inactive_file 7\ntotal_inactive_file 200000\ntotal_active_file 300000\n");
    expect_memory(3500000);
    put_v1("/a", "7000000\n", "5000000\n", "cache 0\n");
    expect_memory(2000000);
    put_v1("/c", "1000\n", "0\n", "");  /* in v1 this would be the group of the other controller */
    expect_memory(2000000);
}
END_TEST

/* In a container the path of the group is that outside. */
START_TEST(memory_in_a_container)
{
    put_groups("5:memory:/docker/0123\n0::/\n");
    put_v1("", "4000000\n", "1000000\n", "");
    expect_memory(3000000);
    put_groups("0::/docker/0123\n");
    put_v2("", "2500000\n", "1000000\n", "");
    expect_memory(1500000);
}
END_TEST

/* ---- processors ------------------------------------------------------------------------ */

#define expect_quota(q) ck_assert_double_eq(attn_cpu_quota(scratch_dir), q)

START_TEST(processors_of_v2_groups)
{
    ck_assert(isinf(attn_cpu_quota(scratch_dir)));
    put_groups("0::/a/b\n");
    put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    ck_assert(isinf(attn_cpu_quota(scratch_dir)));
    put("sys/fs/cgroup/a/cpu.max", "250000 100000\n");
    expect_quota(2.5);
    put("sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
    expect_quota(0.5);
}
END_TEST

START_TEST(processors_of_v1_groups)
{
    put_groups("4:cpu,cpuacct:/a/b\n3:cpuset:/c\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    ck_assert(isinf(attn_cpu_quota(scratch_dir)));
    put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n");
    put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "200000\n");
    expect_quota(1.5);
    put("sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "100000\n");
    put("sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "200000\n");
    expect_quota(1.5);
}
END_TEST

/* A limit that there is here, or none. */
START_TEST(threads_are_the_processors_or_fewer)
{
    cpu_set_t set;
    ck_assert(!sched_getaffinity(0, sizeof set, &set));
    double n = fmin(CPU_COUNT(&set), ceil(attn_cpu_quota("")));
    ck_assert_int_eq(attn_cpu_count(), n < 1 ? 1 : (int)n);
}
END_TEST

/* A program without what Linux alone has reads none of these files. */
START_TEST(nothing_is_said)
{
    put_groups("0::/a\n");
    put("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    expect_memory(0);
    ck_assert(isinf(attn_cpu_quota(scratch_dir)));
    ck_assert_int_eq(attn_cpu_count(), (int)sysconf(_SC_NPROCESSORS_ONLN));
}
END_TEST

Suite *suite_cgroup(void)
{
    const TTest *const tests[] = {
        memory_of_the_system, memory_of_the_address_space, memory_of_v2_groups, memory_of_v1_groups,
        memory_in_a_container,
        processors_of_v2_groups, processors_of_v1_groups, threads_are_the_processors_or_fewer, nothing_is_said,
    };
    const size_t n = sizeof tests / sizeof *tests;
    Suite *s = suite_create("cgroup");
    TCase *c = tcase_create("cgroup");
    tcase_add_checked_fixture(c, scratch_make, scratch_remove);
    for (size_t i = PORTABLE ? n - 1 : 0; i < (PORTABLE ? n : n - 1); i++)
        tcase_add_test(c, tests[i]);
    suite_add_tcase(s, c);
    return s;
}

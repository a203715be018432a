#include "base/cgroup.h"

#include <stdio.h>
#include <string.h>

bool attn_cgroup_line(const char *path, char *buf, int size)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    bool ok = fgets(buf, size, f) != NULL;
    fclose(f);
    return ok;
}

/* Our path in the unified hierarchy ("0::/user.slice"), "" when there is none. */
static void own_group(char *path, size_t size)
{
    char line[512];
    path[0] = '\0';
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "0::", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(path, size, "%s", line + 3);
        }
    if (f)
        fclose(f);
}

double attn_cgroup_least(const char *file, double (*limit)(const char *line))
{
    char group[512], path[640], line[64];
    double least = 0;
    own_group(group, sizeof group);
    for (;;) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", strcmp(group, "/") ? group : "", file);
        double q = attn_cgroup_line(path, line, sizeof line) ? limit(line) : 0;
        if (q > 0 && (least == 0 || q < least))
            least = q;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

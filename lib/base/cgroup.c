#include "base/cgroup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 512 };

bool attn_cgroup_line(const char *dir, const char *file, char *buf, int size)
{
    char path[3 * PATH];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    bool ok = fgets(buf, size, f) != NULL;
    fclose(f);
    return ok;
}

/* Whether a list such as "cpu,cpuacct" contains a name. */
static bool lists(const char *list, size_t len, const char *name)
{
    for (const char *end = list + len; list < end; list += strcspn(list, ",:") + 1)
        if (strcspn(list, ",:") == strlen(name) && !strncmp(list, name, strlen(name)))
            return true;
    return false;
}

/* The path of our group in a line such as "0::/user.slice" or "4:cpu,cpuacct:/user.slice"; NULL if the line is about
 * another hierarchy. */
static const char *group_in(const char *line, const char *controller)
{
    const char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
    if (!path)
        return NULL;
    size_t len = (size_t)(path - ++list);
    return (controller ? lists(list, len, controller) : len == 0) ? path + 1 : NULL;
}

/* Gets "" if there is no such line: then the limits of the root apply. */
static void own_group(char group[PATH], const char *root, const char *controller)
{
    char line[PATH];
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    group[0] = '\0';
    FILE *f = fopen(line, "re");
    while (f && fgets(line, sizeof line, f)) {
        const char *own = group_in(line, controller);
        if (own)
            snprintf(group, PATH, "%.*s", (int)strcspn(own, "\n"), own);
    }
    if (f)
        fclose(f);
}

double attn_cgroup_least(const char *root, const char *controller, double (*limit)(const char *dir))
{
    char group[PATH], dir[2 * PATH];
    double least = INFINITY;
    own_group(group, root, controller);
    for (;;) {
        snprintf(dir, sizeof dir, "%s/sys/fs/cgroup%s%s%s", root, controller ? "/" : "", controller ? controller : "",
                 strcmp(group, "/") ? group : "");
        least = fmin(least, limit(dir));
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

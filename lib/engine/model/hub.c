#include "model/hub.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/format.h"
#include "base/map.h"
#include "base/strings.h"
#include "model/container.h"

static const char models[] = "models--";

static char *below(const char *variable, const char *rest)
{
    const char *base = getenv(variable);
    char *path = NULL;
    return base && *base && attn_asprintf(&path, "%s%s", base, rest) >= 0 ? path : NULL;
}

char *attn_hub_root(void)
{
    static const struct { const char *variable, *rest; } places[] = {
        {"HF_HUB_CACHE", ""}, {"HUGGINGFACE_HUB_CACHE", ""}, {"HF_HOME", "/hub"},
        {"XDG_CACHE_HOME", "/huggingface/hub"}, {"HOME", "/.cache/huggingface/hub"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = below(places[i].variable, places[i].rest);
        if (path)
            return path;
    }
    return NULL;
}

char *attn_hub_find(const char *name)
{
    const char *slash = strchr(name, '/');
    int org = slash ? (int)(slash - name) : 0;
    if (*name == '.' || (slash && (!org || !slash[1] || strchr(slash + 1, '/'))))
        return NULL;
    char *root = attn_hub_root(), *path = NULL;
    int n = root ? attn_asprintf(&path, "%s/%s%.*s%s%s", root, models, org, name, slash ? "--" :
                                 "", slash ? slash + 1 : name) : -1;
    free(root);
    if (n < 0)
        return NULL;
    if (attn_directory_is(path))
        return path;
    free(path);
    return NULL;
}

char *attn_hub_name(const char *directory)
{
    if (strncmp(directory, models, sizeof models - 1))
        return NULL;
    char *name = strdup(directory + sizeof models - 1), *dashes = name ? strstr(name, "--") : NULL;
    if (dashes) {
        *dashes = '/';
        memmove(dashes + 1, dashes + 2, strlen(dashes + 2) + 1);
    }
    return name;
}

static int is_shown(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* Lists them as " snapshots/A, snapshots/B", as many as fit. */
static void list_some(char *out, size_t size, struct dirent **entry, int n)
{
    size_t len = 0;
    *out = '\0';
    for (int i = 0; i < n && len < size; i++) {
        const char *name = entry[i]->d_name;
        int wrote = snprintf(out + len, size - len,
                             "%ssnapshots/%.*s", i ? ", " : "", attn_shown(name, strlen(name)), name);
        len += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* The name is only compared with those that are there: whatever else is written there leads nowhere. */
static int named_main(const char *directory, struct dirent **entry, int n)
{
    enum { NAME_LIMIT = 256 };
    struct attn_map map = {0};
    struct attn_err ignored;
    char *path = NULL;
    int i = n;
    if (attn_asprintf(&path, "%s/refs/main", directory) >= 0 &&
        !attn_map_open_found(&map, path, NAME_LIMIT, ATTN_LINKS_FOLLOWED, &ignored)) {
        size_t len = map.len && map.data[map.len - 1] == '\n' ? map.len - 1 : map.len;
        for (i = 0; i < n; i++)
            if (strlen(entry[i]->d_name) == len && !memcmp(entry[i]->d_name, map.data, len))
                break;
    }
    attn_map_close(&map);
    free(path);
    return i < n ? i : -1;
}

int attn_hub_main(const char *directory, struct dirent **entry, int n)
{
    return n == 1 ? 0 : n > 1 ? named_main(directory, entry, n) : -1;
}

int attn_hub_enter(char **path, bool *inside, struct attn_err *err)
{
    char *base = NULL, *chosen = NULL, some[256];
    struct dirent **entry = NULL;
    int rc = ATTN_OK;
    *inside = false;
    if (attn_asprintf(&base, "%s/snapshots", *path) < 0)
        return attn_no_memory(err, NULL, "for a path");
    int n = attn_directory_is(base) ? scandir(base, &entry, is_shown, alphasort) : -1;
    *inside = n >= 0;
    if (n == 0)
        rc = attn_fail(err, ATTN_EIO, "%s: is a directory of Hugging Face's cache without a snapshot: download the "
                                      "model again", *path);
    int i = attn_hub_main(*path, entry, n);
    if (i >= 0 && attn_asprintf(&chosen, "%s/%s", base, entry[i]->d_name) < 0)
        rc = attn_no_memory(err, NULL, "for a path");
    if (n > 1 && i < 0) {
        list_some(some, sizeof some, entry, n);
        rc = attn_fail(err, ATTN_EIO, "%s: is a directory of Hugging Face's cache with %d snapshots: give one of them, "
                                      "%s", *path, n,
                       some);
    }
    for (i = 0; i < n; i++)
        free(entry[i]);
    free(entry);
    free(base);
    if (!rc && chosen) {
        free(*path);
        *path = chosen;
    }
    return rc;
}

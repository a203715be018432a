/* container_directory.c - a model in a directory, which is what all other containers are seen as. */
#include "model/container.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/format.h"
#include "model/hints.h"
#include "model/shards.h"

bool attn_directory_is(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *attn_directory_path(const struct attn_source *s, const char *file)
{
    char *path = NULL;
    size_t len = strlen(s->dir);
    const char *slash = len > 0 && s->dir[len - 1] == '/' ? "" : "/";
    return attn_asprintf(&path, "%s%s%s", s->dir, slash, file) < 0 ? NULL : path;
}

bool attn_directory_has(const struct attn_source *s, const char *file)
{
    char *path = attn_directory_path(s, file);
    bool missing = path && access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
    free(path);
    return !missing;
}

/* Links are followed, as a download cache of models is made of them.  Any file may be a pointer, not downloaded yet. */
int attn_directory_read(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                        struct attn_err *err)
{
    char *path = attn_directory_path(s, file);
    int rc = path ? attn_map_open_found(out, path, limit, ATTN_LINKS_FOLLOWED, err) :
             attn_no_memory(err, NULL, "for a path");
    if (!rc && (rc = attn_hint_file(out, path, err)))
        attn_map_close(out);
    free(path);
    return rc;
}

const struct attn_container attn_container_directory = {
    .name = "directory", .what = "is a directory", .says = "whose config.json says", .config = "config.json",
    .path = attn_directory_path, .has = attn_directory_has, .read = attn_directory_read,
    .tensors = attn_shards_of_directory};

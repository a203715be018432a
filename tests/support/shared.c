#include "shared.h"

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *shared_find(const char *leaf)
{
    static char path[1024];
    const char *dir = getenv("ATTN_SHARED");
    snprintf(path, sizeof path, "%s/%s", dir ? dir : "../shared", leaf);
    return access(path, R_OK) == 0 ? path : NULL;
}

const char *shared_path(const char *leaf)
{
    const char *path = shared_find(leaf);
    if (path)
        return path;
    skipped("the data in ../shared", "ATTN_SHARED names another directory");
    return NULL;
}

#include "shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *shared_path(const char *leaf)
{
    static char path[1024];
    const char *dir = getenv("ATTN_SHARED");
    snprintf(path, sizeof path, "%s/%s", dir ? dir : "../shared", leaf);
    if (access(path, R_OK) == 0)
        return path;
    fprintf(stderr, "skipped: there is no %s (ATTN_SHARED says where such data is)\n", path);
    return NULL;
}

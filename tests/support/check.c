#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void skipped(const char *what, const char *get)
{
    const char *nothing = getenv("ATTN_SKIP_NOTHING");
    ck_assert_msg(!get || !nothing || strcmp(nothing, "1"),
                  "there is no %s, and ATTN_SKIP_NOTHING is 1: %s", what, get);
    if (get)
        fprintf(stderr, SKIPPED "%s (%s)\n", what, get);
    else
        fprintf(stderr, SKIPPED "%s\n", what);
}

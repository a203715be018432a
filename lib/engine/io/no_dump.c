/* no_dump.c - dump.h for WebAssembly, where no files of saved activations are: a page has those of its model alone. */
#include "io/dump.h"

#include <errno.h>

#include "base/err.h"

int attn_dump_open_some(struct attn_dump **out, const char *path, struct attn_err *err)
{
    *out = NULL;
    errno = ENOENT;
    return attn_fail_errno(err, path, "open");
}

const struct attn_dumped *attn_dump_item(const struct attn_dump *d, const char *name)
{
    return (void)d, (void)name, NULL;
}
void attn_dump_free(struct attn_dump *d) { (void)d; }

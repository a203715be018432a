#include "open.h"

#include "say.h"

static void warn(const struct command *c, const char *odd)
{
    if (odd)
        say_note("attn-cli %s: warning: %s", c->name, odd);
}

int open_model(struct attn_model **out, const struct command *c, struct attn_err *err)
{
    int code = attn_model_open(out, common.model, err);
    if (!code)
        warn(c, attn_model_warning(*out));
    return code;
}

int open_dump(struct attn_dump **out, const char *path, const struct command *c, struct attn_err *err)
{
    int code = attn_dump_open(out, path, err);
    if (!code)
        warn(c, attn_dump_warning(*out));
    return code;
}

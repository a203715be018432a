#include "open.h"

#include "say.h"

int open_model(struct attn_model **out, const struct command *c, struct attn_err *err)
{
    int code = attn_model_open(out, common.model, err);
    const char *odd = code ? NULL : attn_model_warning(*out);
    if (odd)
        say_note("attn-cli %s: warning: %s", c->name, odd);
    return code;
}

#include "base/err.h"
#include "picture/look.h"
#include "sinks/sink.h"

static int methods_of(const struct attn_sink_methods **out, const char *format, struct attn_err *err)
{
    const struct attn_format *f = attn_format_find(format);
    *out = f ? attn_format_methods(f) : NULL;
    return *out && (*out)->draw ? ATTN_OK : attn_fail(err, ATTN_EUSAGE, "nothing here draws '%s'", format);
}

#if !defined(__wasm__)
int attn_format_look(struct attn_look *out, const char *format, const struct attn_picture_opts *o, struct attn_err *err)
{
    const struct attn_sink_methods *methods;
    int rc = methods_of(&methods, format, err);
    *out = (struct attn_look){.cell = 0};
    return rc ? rc : methods->look(out, o, err);
}
#endif

int attn_format_draw(struct attn_out *o, const char *format, const struct attn_album *a, const struct attn_look *look,
                     struct attn_err *err)
{
    const struct attn_sink_methods *methods;
    int rc = methods_of(&methods, format, err);
    return rc ? rc : methods->draw(o, a, look, err);
}

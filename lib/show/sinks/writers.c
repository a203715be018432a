/* writers.c - the methods of each format, with all that they need: pictures, fonts, pages. */
#include "sinks/formats.h"
#include "sinks/sink.h"

const struct attn_sink_methods *attn_format_methods(const struct attn_format *f)
{
#define ROW(name, ending, help, show, flags, methods) methods,
    static const struct attn_sink_methods *const of[] = {ATTN_FORMATS(ROW)};
#undef ROW
    return of[f - attn_format_next(NULL)];
}

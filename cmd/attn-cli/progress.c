#include "progress.h"

#include "clock.h"
#include "overflow.h"
#include "table.h"

#include <stdio.h>
#include <unistd.h>

void progress_start(struct progress *p, const struct attn_model *m, bool wanted)
{
    struct attn_info info;
    attn_model_info(m, &info);
    *p = (struct progress){.on = wanted && !common.quiet && isatty(STDERR_FILENO), .layers = info.L, .start = clock_now()};
}

/* Each block ends with this activation, and it is computed anyway, so watching it costs nothing. */
static unsigned wants(void *self, int act, int layer)
{
    const struct progress *p = self;
    return p->on && layer >= 0 && act == ATTN_ACT_RESID_POST ? ATTN_WATCH : 0;
}

static int watch(void *self, const struct attn_probe *probe, struct attn_err *err)
{
    (void)err;
    struct progress *p = self;
    char run[32] = "";
    p->runs += probe->layer == 0 && probe->row0 == 0;
    if (p->runs > 1)
        snprintf(run, sizeof run, "run %zu, ", p->runs);
    if (clock_now() - p->start >= 1)
        p->shown = fprintf(stderr, "\r%slayer %d of %zu%s", run, probe->layer + 1, p->layers, *run ? " " : "") - 1;
    return ATTN_OK;
}

struct attn_observer progress_observer(struct progress *p)
{
    return (struct attn_observer){.wants = wants, .watch = watch, .self = p, .overflow = overflow_add};
}

void progress_end(struct progress *p)
{
    if (p->shown > 0)
        fprintf(stderr, "\r%*s\r", p->shown, "");
    p->shown = 0;
}

#include "train/train_progress.h"

#include "clock.h"
#include "say.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static void tell_plan(const struct attn_train_state *s)
{
    fprintf(stderr, "%zu parameters; %zu tokens to train on, %zu held out", s->parameters, s->text_tokens + s->also_tokens,
            s->held_out_tokens);
    if (s->step > 0)
        fprintf(stderr, "; continuing after step %zu of %zu", s->step, s->steps);
    fputc('\n', stderr);
}

void train_progress_start(struct train_progress *p, bool asked, const struct attn_train_state *s)
{
    bool terminal = isatty(STDERR_FILENO);
    *p = (struct train_progress){.on = (asked || terminal) && !common.quiet, .terminal = terminal, .start = clock_now(), .step = s->step,
                                 .tokens = s->tokens};
    if (p->on)
        tell_plan(s);
}

/* Prints the line without a line feed; returns its columns. */
static int print_line(const struct train_progress *p, const struct attn_train_state *s, double seconds)
{
    char time[32];
    double done = (double)(s->step - p->step), left = (double)(s->steps - s->step);
    int n = fprintf(stderr, "step %zu of %zu  loss %.4f", s->step, s->steps, s->loss);
    if (!isnan(s->held_out))
        n += fprintf(stderr, "  held out %.4f (%.4f bits a byte)", s->held_out, s->bits_per_byte);
    clock_put(time, sizeof time, left * seconds / done);
    return n + fprintf(stderr, "  %.0f tokens/s  %s left", (double)(s->tokens - p->tokens) / seconds, time);
}

/* Lines with a measured held-out loss, and the last line, stay; on a terminal all others are overwritten. */
void train_progress_show(struct train_progress *p, const struct attn_train_state *s)
{
    const double often = p->terminal ? 0.2 : 10;        /* seconds */
    double t = clock_now();
    bool stays = !isnan(s->held_out) || s->step == s->steps;
    if (!p->on || (!stays && t - p->last < often))
        return;
    p->last = t;
    if (p->shown > 0)
        fprintf(stderr, "\r%*s\r", p->shown, "");
    p->shown = print_line(p, s, t - p->start);
    if (stays || !p->terminal) {
        fputc('\n', stderr);
        p->shown = 0;
    }
}

void train_progress_end(struct train_progress *p)
{
    if (p->shown > 0)
        fputc('\n', stderr);
    p->shown = 0;
}

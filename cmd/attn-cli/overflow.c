#include "overflow.h"

#include "say.h"

static struct attn_lost first;          /* of the first pass that has any */
static bool more;                       /* another one has, too */

void overflow_add(void *self, const struct attn_lost *rows)
{
    (void)self;
    more = first.rows > 0;
    if (!more)
        first = *rows;
}

void overflow_say(void)
{
    if (first.rows)
        say_note("attention: dots overflow float32, to inf or NaN that no weight holds, in %zu row%s%s (the first: layer %d, head %zu, "
                 "query %zu): their weights are NaN, or 0 for -inf; run --show dots shows them", first.rows, first.rows == 1 ? "" : "s",
                 more ? " of one pass, and in other passes" : "", first.layer, first.head, first.row);
}

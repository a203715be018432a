/* overflow.h - collects what the runs of a command tell of dots that overflow float32; main.c says it at the end. */
#ifndef CLI_OVERFLOW_H
#define CLI_OVERFLOW_H

#include "attn.h"

void overflow_add(void *self, const struct attn_lost *rows);        /* for attn_observer.overflow; self is not used */
void overflow_say(void);                /* prints a note if there were any */

#endif

/* run_page.h - a run that is written as a page. */
#ifndef CLI_RUN_PAGE_H
#define CLI_RUN_PAGE_H

#include "table.h"

/* Runs what the options of run say and writes a page to the path: one that computes with `live`, unless its model is
 * too large for that or the options ask for what it has not, of which a note tells. */
int run_page(const struct command *c, const char *path, bool live, struct attn_err *err);

extern const struct option run_page_options[];  /* of a run that may be a page */
/* The activations, for help. */
const struct pair *run_activations(void);

#endif

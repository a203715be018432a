/* page_in.h - maps the pages of a weight in the file before a product reads them for the first time. */
#ifndef ATTN_COMPUTE_PAGE_IN_H
#define ATTN_COMPUTE_PAGE_IN_H

#include "base/team.h"
#include "compute/weights.h"

/* A page of a mapped file costs a fault when it is first touched.  In a loop that does nothing else faults take less
 * than half as long as in the midst of a product, whose prefetching skips pages that are not mapped.  Pages that are
 * there cost next to nothing. */
void attn_page_in(struct attn_team *t, const struct attn_mat *w);

#endif

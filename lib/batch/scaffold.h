/* scaffold.h - a directory that is filled beside its place, as .NAME.part, and renamed when it is complete.
 *
 * Its name and its files tell what an interrupted process left, which the next one removes; nothing else is ever
 * removed.  It is locked, so that only one process fills it. */
#ifndef ATTN_BATCH_SCAFFOLD_H
#define ATTN_BATCH_SCAFFOLD_H

#include "attn.h"

struct attn_scaffold {
    const char *final;                  /* its place; must outlive it */
    const char *extra;                  /* name of a file that is ours besides those of any batch, or NULL */
    char *path;                         /* fill this */
    int held;                           /* the lock */
};

/* Fails at once if the place is taken by anything but an empty directory. */
int attn_scaffold_open(struct attn_scaffold *s, const char *final, const char *extra, struct attn_err *err);
int attn_scaffold_commit(struct attn_scaffold *s, struct attn_err *err);
void attn_scaffold_close(struct attn_scaffold *s);      /* without commit: removes it */

#endif

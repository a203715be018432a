/* diff_report.h - what `diff` says: a verdict, and tables of what was compared, each said once for every format.
 *
 *     diff_report.c     the verdict, and the order of all the rest: as text, and as a document, of which a table is a
 *                       member
 *     diff_run.c        the tables of two runs: arrays, causes, what adds the difference, what comes next
 *     diff_models.c     the tables of what the files of two models say */
#ifndef DIFF_REPORT_H
#define DIFF_REPORT_H

#include "attn_ask.h"
#include "attn_tools.h"

#include "table/columns.h"

enum {
    DIFF_CAUSE, DIFF_NEAREST, DIFF_EDITS, DIFF_TENSORS, DIFF_ONLY_A, DIFF_ONLY_B, DIFF_PARTS, DIFF_NEXT, DIFF_MODELS,
    DIFF_MEMBERS,                       /* so many are members of the document, in its order */
    DIFF_READ = DIFF_MEMBERS,           /* for people: how tensors were compared */
    DIFF_NEXT_A, DIFF_NEXT_B,           /* likeliest tokens */
    DIFF_FIELDS, DIFF_TOKENS, DIFF_FILES, DIFF_WEIGHTS, DIFF_TYPES,
    DIFF_TABLES
};

struct differences {
    const struct attn_diff *diff;       /* NULL: nothing was run, and there is none of what belongs to a run */
    const struct attn_diff_opts *opts;
    const struct attn_dump *a, *b;
    const char *name_a, *name_b;
    bool all;                           /* list tensors that agree, too */
    bool same_ids;                      /* both sides ran the tokens of a, which are listed */
    const struct attn_edits *edits;     /* of a; NULL: none */
    const struct attn_contrasted *contrast;     /* of two models; NULL: these are dumps */
    const struct attn_tokenizer *tokenizer[2];  /* for what comes next; may be NULL */
    struct attn_err *err;
    /* Filled in by diff_report. */
    const struct attn_diff_row **row[3];        /* that were compared, and that A or B alone has */
    struct attn_diff_added *part;
    struct attn_diff_next next;
    struct attn_table table[DIFF_TABLES];       /* without columns where it is no member of this report */
};

/* Writes the report: as text (format NULL), as a document of JSON, or its main table in a format of tables. */
int diff_report(struct differences *r, const char *format);

/* ---- for those who describe a part of it ---- */

int diff_tables_of_run(struct differences *r);
void diff_tables_of_models(struct differences *r);
#define DIFF_TABLE(r, columns_, rows_, fill_) \
    (struct attn_table){.column = columns_, .columns = sizeof columns_ / sizeof *columns_, .rows = rows_, \
                        .row = fill_, .self = r, .spaced = true, .csv_safe = csv_safe(), .indent = 2}
enum { DIFF_MOST = 10 };                /* rows of a table that are listed without --all */
/* Prints a table for people, below a title unless that is NULL, if any row is listed; left: what those are that are
 * not, as in "3 more that differ", NULL: all are. */
void diff_print(const struct differences *r, int table, const char *title, const char *left);
void diff_print_what_differs(const struct attn_contrasted *c);      /* "1 field, 1 of 28 weights" */
void diff_print_models(const struct differences *r);

enum { DIFF_SHAPE = 8 * sizeof ", 18446744073709551615" };      /* room for all dimensions, however large */
const char *diff_shape(char buf[DIFF_SHAPE], const size_t *shape, int n);       /* "[3, 16]" */
/* Of a text that is longer than `most` bytes, how much is shown. */
int diff_cut(const char *s, size_t len, size_t most);
static inline const char *diff_plural(size_t n) { return n == 1 ? "" : "s"; }

#endif

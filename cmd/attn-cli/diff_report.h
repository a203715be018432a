/* diff_report.h - what `diff` prints. */
#ifndef DIFF_REPORT_H
#define DIFF_REPORT_H

#include "attn_ask.h"
#include "attn_tools.h"

struct differences {
    const struct attn_diff *diff;
    const struct attn_diff_opts *opts;
    const struct attn_dump *a, *b;
    const char *name_a, *name_b;
    bool all;                           /* list tensors that agree, too */
    bool same_ids;                      /* both sides ran the tokens of a, which are listed */
    const struct attn_edits *edits;     /* of a; NULL: none */
    const struct attn_contrasted *contrast;     /* of two models; NULL: these are dumps */
    struct attn_diff_added *part; size_t parts; /* what adds the difference, malloc'd; none of dumps */
    const struct attn_tokenizer *tokenizer[2];  /* for what comes next; may be NULL */
};

void diff_print(const struct differences *r);
int diff_print_json(const struct differences *r, struct attn_err *err);
/* The tensors that were compared, in a format of tables; NULL: as objects of the document. */
int diff_print_table(const struct differences *r, const char *format, struct attn_err *err);

/* diff_models.c: two models without a run; diff, a and b are NULL.  Then the parts of it that a report of a run has,
 * too: what differs, and for scripts the member "models" with a comma before it. */
enum { DIFF_MOST = 10 };                /* rows of each kind listed without --all */
void diff_print_models(const struct differences *r);
int diff_print_models_json(const struct differences *r, struct attn_err *err);
int diff_print_models_table(const struct differences *r, const char *format, struct attn_err *err);    /* of weights */
void diff_print_contrast(const struct attn_contrasted *c, bool all);
int diff_json_contrast(const struct attn_contrasted *c, struct attn_err *err);
void diff_print_name(char side, const char *name);
void diff_print_forms(const struct differences *r);     /* diff_forms.c */
/* The cause of all differences, if one side's weights are quantised; else NULL. */
enum { DIFF_QUANTISED = 160 };
const char *diff_quantised(char buf[DIFF_QUANTISED], const struct attn_contrasted *c);
void diff_print_parts(const struct differences *r);
void diff_json_parts(const struct differences *r);
/* diff_next.c: what comes next on both sides, and the member "next" with a comma before it; nothing without logits. */
void diff_print_next(const struct differences *r);
void diff_json_next(const struct differences *r);

#endif

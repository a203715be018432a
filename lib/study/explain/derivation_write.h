/* derivation_write.h - what the formats of a derivation share. */
#ifndef ATTN_EXPLAIN_DERIVATION_WRITE_H
#define ATTN_EXPLAIN_DERIVATION_WRITE_H

#include "explain/derivation.h"
#include "picture/look.h"

/* The number of a heading, "4" or "4.2", and of the next one of its kind. */
struct attn_headings { size_t step, part; };
const char *attn_heading_number(char buf[48], struct attn_headings *h, enum attn_passage_kind kind);

/* "NAME = terms = "; then a result, or the gap that it is to be written into. */
void attn_sum_terms(struct attn_out *o, const struct attn_language *l, const struct attn_passage *sum);
void attn_sum_result(struct attn_out *o, const struct attn_language *l, const struct attn_passage *sum);

/* A formula, or its TeX or MathML, with its words in the language. */
void attn_formula_print(struct attn_out *o, const struct attn_language *l, const char *s);

/* The colour of a weight, the darker the larger; false: the cell has none, as one that refers to a gap,
 * of which it would tell the answer. */
bool attn_cell_color(struct attn_rgb *out, const struct attn_cell *c);

/* The diagram drawn with lines between letters, each line after so many blanks; and as a picture in a page. */
int attn_diagram_text(struct attn_out *o, const struct attn_passage *p, size_t indent, struct attn_err *err);
void attn_diagram_svg(struct attn_out *o, const struct attn_language *l, const struct attn_passage *p);

typedef int attn_derivation_writer(struct attn_out *o, const struct attn_derivation *d,
                                   const struct attn_derivation_style *style, struct attn_err *err);
attn_derivation_writer attn_derivation_text, attn_derivation_html;

#endif

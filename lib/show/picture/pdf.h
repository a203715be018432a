/* pdf.h - the objects of a PDF file, which its table at the end finds by their places. */
#ifndef ATTN_PICTURE_PDF_H
#define ATTN_PICTURE_PDF_H

#include "base/out.h"

/* begins: room for as many objects as there will be; their numbers are counted from 1. */
struct attn_pdf_file { struct attn_out *to; uint64_t *begins; size_t n; };
void attn_pdf_begin(struct attn_pdf_file *f);                           /* "5 0 obj": the next object */
/* the table, and which objects are the catalog and the facts */
void attn_pdf_end(struct attn_pdf_file *f, size_t root, size_t info);

#endif

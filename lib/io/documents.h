/* documents.h - the texts that lie one after the other in a file.
 *
 * <|endoftext|> ends a text.  Where it is alone on its line, neither that line nor the end of the line
 * before it belongs to a text.  So no text has the mark in it.  Texts without a byte are passed over. */
#ifndef ATTN_IO_DOCUMENTS_H
#define ATTN_IO_DOCUMENTS_H

#include "attn.h"

#define ATTN_END_OF_TEXT "<|endoftext|>"

struct attn_documents { const char *rest, *end; };

struct attn_documents attn_documents_of(const char *text, size_t len);
/* false: there is no other. */
bool attn_documents_next(struct attn_documents *d, const char **text, size_t *len);

#endif

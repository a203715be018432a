/* documents.h - splits a file into the texts it holds one after the other.
 *
 * <|endoftext|> ends a text.  If it is alone on its line, neither that line nor the line end before it belongs to a
 * text.  No text contains the mark.  Empty texts are skipped. */
#ifndef ATTN_TEXT_DOCUMENTS_H
#define ATTN_TEXT_DOCUMENTS_H

#include "attn.h"

#define ATTN_END_OF_TEXT "<|endoftext|>"

struct attn_documents { const char *rest, *end; };

struct attn_documents attn_documents_of(const char *text, size_t len);
/* false: there are no more texts. */
bool attn_documents_next(struct attn_documents *d, const char **text, size_t *len);

#endif

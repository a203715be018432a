/* token_json.h - a token as an object of JSON, for a page that shows it:
 *
 *     {"id": 5, "text": " is" or null, "label": "...", "start": 4, "end": 7}
 *
 * JSON cannot tell bytes that are no UTF-8 apart: such a text has a label, too, which spells them, or reads them as a
 * part of their character. */
#ifndef ATTN_TEXT_TOKEN_JSON_H
#define ATTN_TEXT_TOKEN_JSON_H

#include "base/out.h"

void attn_token_json(struct attn_out *o, const struct attn_token *t);
/* Its members `,"text":...` and, where it needs one, `,"label":...`; s NULL: there is no text. */
void attn_token_text_json(struct attn_out *o, const char *s, size_t len);

#endif

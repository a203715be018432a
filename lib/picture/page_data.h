/* page_data.h - an album as the JSON its page reads (page/data.js).
 *
 *     {"version", "model", "text", "heads", "kvHeads", "queries": [token, ...], "keys", "keysText",
 *      "next": [token and "p", ...],
 *      "palettes": {"viridis": {"colours", "diverges"}, ...}, "look": {"palette", "scale", "hideFirst", "cell"},
 *      "leftOut": ["logits", ...], "sheets": [sheet, ...], "data": ["base64", ...]}
 *
 * A token is {"id", "text", "start", "end"}; "keys" is null where they are the queries.  A sheet is {"kind", "title",
 * "layer", "name", "heads", "rows", "cols", "keys", "ofKeys", "beyond",
 * "type"}, where "name" stands in place of the layer, its numbers are the string of the same place in data:
 *
 *     little-endian float32 ("type": "f32") while all of them fit 1 MiB; beyond that uint16 codes ("u16"), a number
 *     being "low" + "step" * code, and 65535, 65534 and 65533 being NaN, inf and -inf.  Where all a causal mask hides
 *     has one value, "beyond" is that, "0" or "-inf", and of row r only the first r + 1 numbers are there.
 *
 * What is larger than anybody looks at (logits of a large vocabulary) is left out and named.  `<` and the line ends
 * of JavaScript are escaped, so that no text ends the element the JSON stands in. */
#ifndef ATTN_PICTURE_PAGE_DATA_H
#define ATTN_PICTURE_PAGE_DATA_H

#include "base/out.h"
#include "picture/album.h"
#include "picture/look.h"

int attn_page_data_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look, struct attn_err *err);

#endif

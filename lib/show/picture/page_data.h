/* page_data.h - writes an album as the JSON that its page reads (page/data.js).
 *
 *     {"version", "model", "text", "heads", "kvHeads", "queries": [token, ...], "keys", "keysText",
 *      "next": [token and "p", ...], "noNext": why there are none, if that is odd,
 *      "edits": ["L1H2 = 0", ...], "without": [{"layer", "head", "kl", "next"}, ...],
 *      "lens": [{"layer", "at": [[token and "p", ...] after each query]}, ...], "noLens": likewise,
 *      "ranking": {"scores": [{"name", "brief", "help"}, ...],
 *                  "heads": [{"layer", "head", "role", "shares": [...]}, ...]},
 *      "palettes": {"viridis": {"colours", "diverges"}, ...}, "headColours": ["1f77b4", ...],
 *      "look": {"palette": "paper" if none was chosen, "scale": likewise "auto", "hideFirst", "cell", "manyKeys",
 *      "merge"},
 *      "explains": the command that shows all a weight comes from,
 *      "editExample": an edit to begin with, of a page that computes,
 *      "leftOut": ["logits", ...], "sheets": [sheet, ...], "masks": [[run, ...], ...], "data": ["base64", ...]}
 *
 * Edits, what comes next without each head, the lens and the ranking are there only if there are any.  The ranking
 * has what a run knows of its heads (ask/scores.h): the scores that are shares of the attention, null where no row
 * offers one, the main role of each head, null if it has none, of two heads and more of one text that looks at
 * itself, if no weight is negative.  A token is {"id", "text", "start", "end"}, its id -1 if that is unknown; "keys"
 * is null if they are the queries.  A sheet is {"kind", "short", "part", "beside", "shared", "sight", "title",
 * "layer", "name", "heads", "rows", "cols", "keys", "ofKeys", "beyond", "mask", "masks", "type"}, where "name"
 * replaces the layer.  No script knows an activation by its name: "part" says what a sheet is to a weight ("weight",
 * "query", "key", "product", "score"; null: nothing), "beside" that heads lie side by side in its rows, "shared" that
 * its heads are key/value heads, "sight" which number of two says that a key is seen. "mask" is which of the masks it
 * has, null if none is known, as lengths of runs over its rows, what queries see first; with "masks" each matrix has
 * its own.  Its numbers are the string at the same position in "data":
 *
 *     little-endian float32 ("type": "f32") if all sheets together fit 1 MiB, else codes of 16 bits, or of 14 if there
 *     are very many ("u16"), deflated (page_pack.h), where a number is "low" + "step" * code, and 65535, 65534 and
 *     65533 are NaN, inf and -inf.  Of each matrix such a sheet has its "extents": the least and the greatest finite
 *     number, then those without the first column.  If all that a causal mask hides has one value, "beyond" is that
 *     value, "0" or "-inf", and of row r only the first r + 1 numbers are stored.
 *
 * Sheets too large to be looked at (logits of a large vocabulary) are left out and named.  `<` and the line ends of
 * JavaScript are escaped, so that no text can end the element that contains the JSON. */
#ifndef ATTN_PICTURE_PAGE_DATA_H
#define ATTN_PICTURE_PAGE_DATA_H

#include "base/out.h"
#include "picture/album.h"
#include "picture/look.h"

/* Writes JSON so that no text in it ends the element around it. */
void attn_page_escaped(struct attn_out *o, const char *json, size_t len);
int attn_page_data_write(struct attn_out *o, const struct attn_album *a, const struct attn_look *look,
                         struct attn_err *err);

#endif

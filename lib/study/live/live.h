/* live.h - a model that answers questions one after the other, as a page asks them: JSON in, JSON and arrays out.
 * talk.h says which file does what.
 *
 * A question is an object whose "ask" says what is asked.  Members that it does not have are an error; null is as if a
 * member were absent.  The answer is an object, too.  Where a question cannot be answered, it is
 *
 *     {"error": message, "code": n, "in": member or null, "at": index or null}
 *
 * with the message that the command prints after its name; "in" is the member of the question that is wrong, and "at"
 * which of its entries, where that is known.  What was answered before stays: "the last run" is the last that
 * succeeded, unless one failed while it computed, for want of memory: then there is none.
 *
 * A number that is not finite is null.  A TOKEN is
 *
 *     {"id": 5, "text": " is" or null, "label": "...", "start": 4, "end": 7}
 *
 * "label" is there only where the text is no UTF-8 by itself; start and end are bytes of the text, both 0 of an id that
 * comes from none.  A LIKELY is {"id", "text", "label" likewise, "p": its probability}; of several the likeliest is the
 * first, and where a logit is not finite there are none.
 *
 * ---- open ----
 *
 *     {"ask": "open", "model": as -m takes it: a directory or a file, "as", "vocab": as the options say, or absent}
 *
 *     {"name": "tiny", "version": "0.1.0+...",
 *      "info": {"family", "position", "norm", "mlp", "mask", "scale": words or null, "residual", "tied", "unembed",
 *               "parallel", "causal": flags, "L", "d", "H", "Hkv", "dh", "dv", "m", "V", "n_ctx", "rotary", "window",
 *               "local", "parameters", "bytes", "norm_eps", "rope_theta": numbers},
 *      "warning": text or null,
 *      "tokenizer": "bpe" or null: there is none, and texts are ids, "noTokenizer": then why, else absent,
 *      "ends": [ids that end a text],
 *      "kinds": [{"form": "window:W", "note": some words or null, "help", "example": "window:8"}],
 *      "activations": [{"name": "attn.pattern", "brief": "pattern", "title", "rows": "queries" or null, "columns":
 *                       "keys" or null, "layers": it is inside of the blocks, "heads": how many, 0: it has no such
 *                       axis, "kv": these are key/value heads, "square": columns are keys, "derived": computed only
 *                       for who keeps it, "has": the model announces it}],
 *      "scores": [{"name": "previous", "brief", "help", "share": it can be a role, "ifAny": a table leaves it out where
 *                  no row offers it, "noText": it is of weights alone}],
 *      "roles": {"times": 2, "above": 0.1, "rows": 3},
 *      "metrics": [{"form": "logit(TOKEN)"}],
 *      "edits": {"operators": ["=", "+=", ...]},
 *      "answers": [{"what": "lens", "options": ["format", "target", "top", ...]}] of write}
 *
 * ---- run ----
 *
 *     {"ask": "run",
 *      "text": "..." or "ids": "1,2,3", as they are typed,
 *      "append": an id that is to follow this text, or absent,
 *      "off": ["0,1"] layer and head of those that are off: edits before the others,
 *      "edits": ["L0H1 = 0"], "attention": "window:4", "scale": "sqrt", "dropout": 0, "seed": "0",
 *      "keep": ["attn.pattern"] activations, as --show takes them,
 *      "bits": "default" or "generic", absent: as they are}
 *
 * All but the text may be absent; blanks alone are absent, too, for attention and scale; blank edits and those that
 * begin with # are comments.  With "append" the tokens are those that the text had and the new one, even if the longer
 * text alone would make others; a later run of that longer text has the same tokens.
 *
 *     {"text": the text, with what was appended, or null, "ids": "1,2,3,7" likewise,
 *      "tokens": [TOKEN], "edited": flag, "edits": [each in its canonical form],
 *      "before": [LIKELY] as the model is, "after": [LIKELY] with the edits (without any the same),
 *      "noNext": why these are unknown, or null, "kl": KL(before || after) or null,
 *      "sheets": [{"kind": "attn.pattern", "layer": 0 or null, "name": "blocks.0.attn.pattern", "heads": 4, 0: it has
 *                  no such axis, "rows", "cols", "array": i, in which one head and row follows the other,
 *                  "mask": j or null}], with the edits,
 *      "milliseconds": of computing, "whole": nothing was reused, "rows": how many rows were computed}
 *
 * Array j of a mask has rows * cols numbers: 1 where the query does not see the key, else 0; several sheets may have
 * the same.
 *
 * ---- of the last run ----
 *
 *     {"ask": "lens"}
 *     {"lens": [{"layer": 0, "at": [[LIKELY] after each position]}]}
 *
 *     {"ask": "heads"}
 *     {"scores": ["previous", ...] those that are told of each head: none of weights alone, and none without rows that
 *      is "ifAny",
 *      "heads": [{"layer", "head", "role": name or null, "share": of it or null, "scores": [a number each; null: no row
 *                 offers it], "negative": edits have made a weight of it negative}]}
 *
 *     {"ask": "without", "layer": 1, "head": 2}: all as it was, after that without this head
 *     {"kl": KL(as it was || without it) or null, "after": [LIKELY]}
 *
 *     {"ask": "weight", "layer": 1, "head": 2, "query": 5, "key": 3, "to": another weight, or absent}
 *     {"weight", "seen": the query sees the key, "from", "to": of the keys, those outside of from <= key < to are not
 *      seen, "keys": how many are seen, "softmax": flag, "edited": an edit may have changed what stands here,
 *      "terms": [[q, k]] of the dot, "dot", "scale", "bias": what is added after scaling, "cap": 0: scores have no
 *      bound, "score", "sum": of e^score over the keys of the softmax,
 *      "edits": those that give it the weight of "to", and the rest to the others of its row}
 * From "terms" on only where the key is seen; without a softmax there is nothing after "terms".
 *
 *     {"ask": "next", "temperature": 0, "top_k": 0, "top_p": 1, "seed": "0", "first": flag}
 *     {"id": 5, "text", "label", "ends": it ends the text, "room": how many more tokens the model takes}
 * Draws what follows the last run, as the command generate does.  The first time, and with "first", the seed's sequence
 * begins with what is asked for; after that other members are not read.
 *
 *     {"ask": "metric", "metric": "logit(\" the\")"}
 *     {"value"}
 *     {"ask": "score"}
 *     {"logprobs": [null, -3.2, ...] of each token given those before it}
 *     {"ask": "write", "what": "lens", "options": ["top=3"], "from": another text, or "fromIds": "1,2", or neither}
 *     {"text": what the command writes, JSON unless "format=..." is among the options}
 *
 * ---- of a text ----
 *
 *     {"ask": "tokens", "text": "..." or "ids": "1,2"}
 *     {"tokens": [TOKEN]} */
#ifndef ATTN_LIVE_LIVE_H
#define ATTN_LIVE_LIVE_H

#include <stddef.h>

/* Memory for questions and files. */
void *live_room(size_t n);
void live_drop(void *p);
/* Of the page alone: a file in memory, "model/config.json"; takes bytes over, which live_room made.  0, or there is no
 * room for it. */
int live_file(const char *name, void *bytes, size_t n);

/* Answers a question: 0, or the error's code (enum attn_status).  The answer lives until the next question. */
int live_ask(const char *question, size_t n);
const char *live_answer(void);          /* with a NUL after it */
size_t live_answer_length(void);
/* The arrays that it speaks of by number; NULL: there is none of that number. */
const float *live_array(size_t i);
size_t live_array_length(size_t i);

#endif

/* edit_source.h - the sources that edits take values from: arrays in files, and the activations of unedited runs of
 * other texts.
 *
 * Sources are gathered first: files are opened, texts become tokens, and each says what is needed of it.  All that can
 * be wrong is found then.  attn_sources_run then runs every text once, however many edits and activations use it. */
#ifndef ATTN_ASK_EDIT_SOURCE_H
#define ATTN_ASK_EDIT_SOURCE_H

#include "ask/edit.h"
#include "ask/edit_place.h"

struct attn_sources;
int attn_sources_new(struct attn_sources **out, const struct attn_editor_opts *o, const struct attn_venue *v,
                     struct attn_err *err);
void attn_sources_free(struct attn_sources *s);         /* NULL is fine */

/* Notes what an edit with a source reaches; fails where a file does not have it or has another shape. */
int attn_sources_need(struct attn_sources *s, const struct attn_edit_reach *r, struct attn_err *err);
/* Runs the texts and finds the means that the reaches take. */
int attn_sources_run(struct attn_sources *s, const struct attn_edit_reaches *all, struct attn_err *err);

/* The text of an edit's source: how many tokens, and its ids; n 0: it is no text but a file. */
struct attn_source_text { const int32_t *ids; size_t n; };
struct attn_source_text attn_sources_text(const struct attn_sources *s, const struct attn_edit *e);

/* What a source has for an activation: [heads, rows, cols]; heads 1 and rows 1 serve all.  Before the run, data of
 * texts is NULL, and cols is 0 where they are keys whose number is not known yet. */
struct attn_given { size_t heads, rows, cols; const float *data; };
struct attn_given attn_sources_get(const struct attn_sources *s, const struct attn_edit *e, int act, int layer);

/* The text of a token, for names in positions and for messages; NULL: there is no tokenizer, or no such id. */
const char *attn_sources_token(struct attn_sources *s, int32_t id, size_t *len);
/* Opens the tokenizer, for those who must have it. */
int attn_sources_tokenizer(struct attn_sources *s, struct attn_err *err);

#endif

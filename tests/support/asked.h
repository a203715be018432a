/* asked.h - what tests of questions share: the checkpoints with recorded answers, texts of ids, limits. */
#ifndef TESTS_ASKED_H
#define TESTS_ASKED_H

#include "attn_ask.h"
#include "golden.h"

extern const char *const asked_checkpoints[];
const char *asked_name(int i);          /* of row i, for attn_test_add_rows */
enum { ASKED_CHECKPOINTS = 5, ASKED_IDS = 64 };

struct asked { struct attn_model *model; struct attn_tokenizer *tokenizer; char dir[80]; };
struct asked asked_open(const char *checkpoint);        /* fails the test if it cannot be opened */
void asked_close(struct asked *a);
/* The path of a recorded answer, in the repository or beside it; NULL: it is not there.  Valid until the next call. */
const char *asked_path(const char *checkpoint, const char *file);
size_t asked_ids(int32_t ids[ASKED_IDS], const cJSON *list);
struct attn_tokens *asked_tokens(const int32_t *ids, size_t n);
/* A metric bound to the ids, and for kl to a run of `reference`, of n ids, too. */
struct attn_metric *asked_metric(const struct asked *a, const char *text, const int32_t *ids, size_t n,
                                 const int32_t *reference);
/* How far float32 may be from a number of that size: what the reference data calls fair, six times what
 * was measured there. */
double asked_limit(double float32, double size);

/* An editor of a text, with edits as recorded: vector.npy in them is a file beside the checkpoint's answers. */
struct asked_editor { struct attn_edits *list; struct attn_editor *editor; };
struct asked_editor asked_edit(const struct asked *a, const char *const *edits, size_t n,
                               const struct attn_tokens *text,
                               const struct attn_tokens *from, const struct attn_plan *plan);
/* The same, with a list of strings; NULL: nothing is edited. */
struct asked_editor asked_edit_list(const struct asked *a, const cJSON *list, const struct attn_tokens *text,
                                    const struct attn_tokens *from, const struct attn_plan *plan);
void asked_edit_end(struct asked_editor *e);

#endif

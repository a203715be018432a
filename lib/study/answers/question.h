/* question.h - a question as it is worked on: the texts as tokens, the edits with their editor, the plan.
 *
 *     question.c           opens it
 *     question_run.c       answers in numbers: activations, a metric, scores, a continuation, a grid
 *     question_write.c     answers in documents, as the commands write them
 *     question_options.c   what is asked of a document, in words */
#ifndef ATTN_ANSWERS_QUESTION_H
#define ATTN_ANSWERS_QUESTION_H

#include "attn_ask.h"

enum attn_asked_text {
    ATTN_ASKED_TEXT,                    /* it runs as a whole */
    ATTN_ASKED_PROMPT,                  /* it grows */
    ATTN_ASKED_WINDOWS,                 /* it may be longer than the model's context */
    ATTN_ASKED_ANY                      /* there may be none, and edits are only read */
};

struct attn_asked_of {
    const struct attn_question *q;
    struct attn_plan plan;
    const struct attn_tokenizer *tokenizer; struct attn_tokenizer *own;     /* NULL: not opened yet */
    struct attn_tokens *tokens, *from, *cross;          /* NULL: there is no such text */
    int32_t *ids;
    struct attn_edits *edits;           /* NULL: none */
    struct attn_editor *editor;
    struct attn_observer *observers; size_t n;          /* of the run: what edits, then the caller's; room for two */
};
/* Closing is the caller's, also if this fails. */
int attn_asked_open(struct attn_asked_of *a, const struct attn_question *q, enum attn_asked_text how,
                    struct attn_err *err);
void attn_asked_close(struct attn_asked_of *a);
/* Opens the tokenizer, unless it is open.  With `spell` one that is missing or of no use is no error: tokens are then
 * shown by their ids. */
int attn_asked_tokenizer(struct attn_asked_of *a, bool spell, struct attn_err *err);
size_t attn_input_length(const struct attn_input *s);
int attn_asked_patch(struct attn_patch **out, struct attn_asked_of *a, const struct attn_patch_opts *ask,
                     const char *metric, struct attn_err *err);

/* What options say, of documents and of pictures; zero or NULL: nothing. */
struct attn_answer_opts {
    const char *format, *show, *layers, *heads, *target, *foil, *what, *over, *metric, *method, *by;
    size_t top, neurons, repeat, samples;
    uint64_t seed;
    int64_t pos;
    int precision;
    bool copying, all, words;
    struct attn_picture_opts picture;
};
enum {
    ATTN_OF_RUN = 1, ATTN_OF_LENS = 2, ATTN_OF_ATTRIBUTE = 4, ATTN_OF_HEADS = 8, ATTN_OF_PATCH = 16, ATTN_OF_PLOT = 32
};
/* As attn_ask_write, of all but run, into `to`. */
struct attn_out;
int attn_ask_write_to(struct attn_out *to, const struct attn_question *q, const char *what, const char *const *options,
                      struct attn_err *err);
/* Option i of `of`, apart from those of pictures, by its name; NULL: there are no more. */
const char *attn_answer_option(size_t i, unsigned of);
/* Document i that attn_ask_write_to writes; *of: what its options are of.  NULL: there are no more. */
const char *attn_answer_document(size_t i, unsigned *of);
/* Reads options for one kind of question: `of` is one of these bits, and `what` its name in messages. */
int attn_answer_read(struct attn_answer_opts *out, const char *const *options, unsigned of, const char *what,
                     struct attn_err *err);

#endif

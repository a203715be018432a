/* attn_ask.h - what a model can be asked: edits of a run, metrics, what heads do, gradients, patching, reading the
 * residual stream, and each of these by one call.
 *
 * The rules of attn.h hold here, too. */
#ifndef ATTN_ASK_H
#define ATTN_ASK_H

#include "attn_tools.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* ---- edits ------------------------------------------------------------------------------------ */

/* A list of edits: which numbers of which activations to change, and how.  They are applied in the order in which they
 * were added. "L1H2 = 0" removes a head, "L0.mlp.out[pos=-1] += 2*vector.npy" steers a row; lib/engine/ask/edit.h has the
 * grammar, and the manual explains it. */
struct attn_edits;
/* Each of these adds to *list, which is made if it is NULL.  An error leaves the list as it was and names the column
 * in its message. */
int attn_edits_parse(struct attn_edits **list, const char *edit, struct attn_err *err);
/* The text of a file with one edit per line; lines that begin with # are comments. */
int attn_edits_read(struct attn_edits **list, const char *text, size_t len, const char *path, struct attn_err *err);
/* "L0H1,L2.mlp.out": each = 0 */
int attn_edits_ablate(struct attn_edits **list, const char *places, struct attn_err *err);
/* each = source */
int attn_edits_patch(struct attn_edits **list, const char *places, const char *source, struct attn_err *err);
/* "FILE.npy:2@0-3" adds 2 * FILE to resid_post of layers 0 to 3; "FILE.npz:2" adds 2 * direction.N of the archive to
 * that of layer N, for each N it has. */
int attn_edits_steer(struct attn_edits **list, const char *spec, struct attn_err *err);
void attn_edits_free(struct attn_edits *list);                      /* all of these take NULL for an empty list */
size_t attn_edits_count(const struct attn_edits *list);
/* its canonical form; lives as long as the list */
const char *attn_edits_text(const struct attn_edits *list, size_t i);
/* the file it takes values from; NULL: none */
const char *attn_edits_file(const struct attn_edits *list, size_t i);
bool attn_edits_from(const struct attn_edits *list);                /* whether one takes values from the other text */

/* An editor is the observer that does the edits.  Give attn_editor_observer(e) to a run before those that watch.  What
 * is wrong with edits for this model is found when it is made; with those for a text, by attn_editor_text. */
struct attn_editor_opts {
    const struct attn_edits *edits;     /* must outlive the editor unchanged, as all that follows must; NULL: none */
    const struct attn_model *model;     /* its tokenizer is opened when a text needs it */
    struct attn_encode_opts encode;     /* for text("...") and texts(FILE) */
    const struct attn_tokens *from;     /* the other text that `from` means; NULL: there is none */
    const struct attn_tokens *cross;    /* cross-attention: the other text, for the text and for sources, whose k and v
                                         * are those that they have by themselves; else NULL */
    struct attn_plan plan;              /* threads, bf16 and kind of edited runs, and of unedited ones for sources */
    size_t rows;                        /* how many rows a text that grows has at most; 0: as many as the model takes */
    uint64_t reserved[3];
};
struct attn_editor;
int attn_editor_new(struct attn_editor **out, const struct attn_editor_opts *o, struct attn_err *err);
void attn_editor_free(struct attn_editor *e);                       /* NULL is fine */
/* Tells the tokens of sentence `seq` of the passes to come; a text that is longer than the model's context is read in
 * windows, as by attn_score.  grows: it is a prompt, to which attn_editor_more adds the tokens of each further pass
 * that continues its cache. */
int attn_editor_text(struct attn_editor *e, size_t seq, const int32_t *ids, size_t n, bool grows, struct attn_err *err);
int attn_editor_more(struct attn_editor *e, size_t seq, const int32_t *ids, size_t n, struct attn_err *err);
/* The next pass reads the text that has grown once more, from its start. */
int attn_editor_replay(struct attn_editor *e, size_t seq, struct attn_err *err);
/* Runs the texts that values are taken from.  Call it once, after the first text and before the first pass. */
int attn_editor_start(struct attn_editor *e, struct attn_err *err);
struct attn_observer attn_editor_observer(struct attn_editor *e);

/* What an edit changes of one activation; lists are as in "0,2-4".  heads: those that the activation has, which are
 * key/value heads where `kv` says so; of context the query heads whose columns are changed; NULL: none.  Hidden cells
 * do not count. */
struct attn_touch {
    size_t edit;                        /* number of the edit in its list */
    const char *name, *heads, *rows, *cols;
    bool keys, kv;                      /* the columns are keys; the heads are key/value heads that serve several */
    uint64_t numbers;
    uint64_t reserved[2];
};
struct attn_touch_watch { int (*tell)(void *self, const struct attn_touch *t, struct attn_err *err); void *self; };
/* Tells what the edits change of a text that the editor was told, in their order.  Sources need not have run. */
int attn_editor_touches(struct attn_editor *e, size_t seq, const struct attn_touch_watch *watch, struct attn_err *err);
/* How many rows of the text an edit gives the only row of its source, a text of one token; 0: rows correspond, or it
 * has no such source. */
size_t attn_editor_served(struct attn_editor *e, size_t seq, size_t edit);

/* What edits did to the next token.  `before` is the last observer of an unedited run of the text, `after` the last one
 * of an edited run. */
struct attn_compare;
enum { ATTN_COMPARED = 5 };
struct attn_compared {
    double kl;                          /* KL(before || after) of the last position, in nats */
    /* likeliest next tokens */
    struct attn_likely before[ATTN_COMPARED], after[ATTN_COMPARED]; size_t n_before, n_after;
};
int attn_compare_new(struct attn_compare **out, const struct attn_model *m, struct attn_err *err);
void attn_compare_free(struct attn_compare *c);                     /* NULL is fine */
struct attn_observer attn_compare_before(struct attn_compare *c);
struct attn_observer attn_compare_after(struct attn_compare *c);
/* Fails if logits are not finite, as attn_logits_top does. */
int attn_compare_result(const struct attn_compare *c, struct attn_compared *out, struct attn_err *err);

/* What comes next without each head: for each, a run in which its context is 0, as after the edit "L1H2 = 0". */
struct attn_select;
struct attn_ablated {
    size_t layer, head;
    double kl;                          /* KL(with all heads || without it) of the last position, in nats; NaN: a logit
                                         * is not finite */
    struct attn_likely after[ATTN_COMPARED]; size_t n;      /* the likeliest next tokens */
};
/* A metric of these runs, bound to their text; kl has its reference. */
struct attn_metric;
struct attn_ablated_metric {
    const struct attn_metric *metric;
    double before, *after;              /* filled in: with all heads; without each, malloc'd */
};
struct attn_ablate_opts {
    const struct attn_tokens *tokens;
    const struct attn_select *heads;    /* those whose pattern, scores, dots or norms it selects; NULL: all */
    struct attn_editor *editor;         /* of all runs, started, with the tokens as its text 0; NULL: no other edits */
    struct attn_plan plan;              /* threads, bf16 and kind */
    /* called now and then; a code ends it */
    int (*step)(void *self, size_t done, size_t all, struct attn_err *err);
    void *self;                         /* for step, which may be NULL */
    struct attn_ablated_metric *metric; size_t n_metrics;       /* NULL: none is asked for */
    uint64_t reserved[2];
};
/* *out is malloc'd, by layer, then head. */
int attn_ablate_heads(struct attn_ablated **out, size_t *n, const struct attn_model *m,
                      const struct attn_ablate_opts *o, struct attn_err *err);

/* ---- what heads do --------------------------------------------------------------------- */

/* Numbers that say what a head does are the rows of one table.  All but one are means over the rows of the head's
 * patterns, from the second row of each text on; a row that offers nothing does not count. */
enum {
    ATTN_SCORE_SHARE = 1,               /* a share of the attention: a head is named after the largest of those that
                                         * are twice chance, 0.1 above it, and a mean of three rows or more */
    ATTN_SCORE_NO_TEXT = 2,             /* computed from the weights of the model */
    ATTN_SCORE_IF_ANY = 4               /* left out of a table for people where no row offers it */
};
struct attn_head_row;
struct attn_head_score {
    const char *name, *brief;           /* "induction"; for narrow columns, "induct" */
    const char *help;
    unsigned flags;                     /* ATTN_SCORE_... */
    bool (*of)(double *out, struct attn_head_row *r);       /* for the library */
};
/* The row after s, the first for NULL; NULL: there are no more. */
const struct attn_head_score *attn_head_score_next(const struct attn_head_score *s);
const struct attn_head_score *attn_head_score_find(const char *name);  /* NULL: there is none of that name */
size_t attn_head_score_count(void);

/* Texts r r of random tokens, in which induction heads show: r is n distinct ids that neither begin nor end a text.
 * Where the tokenizer puts a token in front of a text, these have it, too. */
struct attn_repeat_opts {
    const struct attn_tokenizer *tokenizer;     /* NULL: nothing is put in front */
    enum attn_bos bos;                  /* as in attn_encode_opts */
    size_t n;                           /* 0: 24, or as many as fit */
    size_t texts;                       /* 0: 8 */
    uint64_t seed;
    uint64_t reserved[2];
};
struct attn_repeated { int32_t *ids; size_t texts, T, n; };     /* ids: malloc'd, [texts, T] */
int attn_repeat(struct attn_repeated *out, const struct attn_model *m, const struct attn_repeat_opts *o,
                struct attn_err *err);

/* Ranks heads by their scores, pooled over the rows of many texts, and writes a table of them. */
struct attn_heads_opts {
    const struct attn_batch_opts *over; /* the texts and how they are run: model, select, records, encode,
                                         * edits, from, plan, progress, failed, self; the other members are not read */
    const int32_t *ids; const size_t *T; size_t texts;  /* ids of so many texts, text i of T[i] tokens; 0: of records */
    bool copying;                       /* also the score that needs no text; sorting by it asks for it, too */
    const char *by;                     /* the score to sort by; NULL: the share of the main role */
    size_t top;                         /* report so many heads, the largest ones; 0: all.  Pictures have all.  Without
                                         * `by` and `top` tables for programs are by layer and head */
    const char *format;                 /* of ATTN_FORMAT_TABLE or ATTN_FORMAT_PICTURE; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    const char *about;                  /* what the texts are, for titles; NULL: nothing */
    int width;                          /* columns of the terminal; 0: no limit */
    bool bars;                          /* text only: draws a bar for each head where there is room */
    struct attn_picture_opts picture;
    /* Is told what part of the work on `copying` is done, and ends it by returning non-zero; NULL: nobody asks. */
    int (*step)(void *self, double done, struct attn_err *err);
    void *step_self;
    size_t repeat;                      /* each text ends with so many tokens, twice, whose losses are compared; or 0 */
    uint64_t reserved[3];
};
/* overflowed: see attn_run_overflow */
struct attn_heads_state { uint64_t texts, failed, overflowed; uint64_t reserved[4]; };
int attn_heads(struct attn_heads_state *out, const struct attn_heads_opts *o, struct attn_err *err);

/* ---- tokens and metrics --------------------------------------------------------------- */

/* The id of one token: from its text, which must be one token (the error lists the tokens if it is several); or as
 * options take it, where digits alone are an id, and a text may stand in quotes with the escapes of JSON.  The
 * tokenizer may be NULL where there is none. */
int attn_token_of_text(int32_t *id, const char *text, size_t len, const struct attn_model *m,
                       const struct attn_tokenizer *t, struct attn_err *err);
int attn_token_parse(int32_t *id, const char *text, const struct attn_model *m, const struct attn_tokenizer *t,
                     struct attn_err *err);

/* A metric is a number measured of a run's logits: terms such as logit(" Mary")-2*prob(5,pos=3), loss, or kl. */
struct attn_metric;
int attn_metric_new(struct attn_metric **out, const char *text, struct attn_err *err);
void attn_metric_free(struct attn_metric *m);                       /* NULL is fine */
const char *attn_metric_text(const struct attn_metric *m);          /* as it was written */
bool attn_metric_has_words(const struct attn_metric *m);            /* whether a tokenizer must look up its tokens */
const char *attn_metric_word(const struct attn_metric *m, size_t i);    /* the text of token i of those, or NULL */
bool attn_metric_has_fields(const struct attn_metric *m);           /* whether it names fields: logit({answer}) */
bool attn_metric_is_smooth(const struct attn_metric *m);            /* whether it has derivatives: all but rank have */
bool attn_metric_refers(const struct attn_metric *m);               /* whether it is kl, which needs a reference */

/* Finds the ids of its tokens and the rows of its positions in a text of T tokens.  The ids must outlive its use. */
/* text NULL: the id says which token */
struct attn_metric_field { const char *name, *text; size_t len; int64_t id; };
struct attn_metric_of {
    const struct attn_model *model; const struct attn_tokenizer *tokenizer;
    const int32_t *ids; size_t T;
    const struct attn_metric_field *field; size_t n_fields;
    uint64_t reserved[2];
};
int attn_metric_bind(struct attn_metric *m, const struct attn_metric_of *of, struct attn_err *err);
/* For kl: the reference's logits [V] of the last position, which are copied. */
int attn_metric_refer(struct attn_metric *m, const float *logits, struct attn_err *err);

/* The same by an observer of a run, before those that measure it. */
struct attn_observer attn_metric_refer_observer(struct attn_metric *m);

/* An observer that measures: it watches the logits of sentence `seq` that the metric reads and adds up its value. */
struct attn_measure { const struct attn_metric *metric; size_t seq; double value; };
struct attn_observer attn_measure_observer(struct attn_measure *x);

/* For kl: makes an unedited run of the tokens the reference, unless the metric needs none. */
int attn_metric_refer_to(struct attn_metric *m, const struct attn_model *model, const struct attn_tokens *tokens,
                         const struct attn_plan *plan, struct attn_err *err);

/* ---- gradients with respect to activations -------------------------------------------- */

/* The derivatives of a metric with respect to the activations of a run, each as if that activation were replaced and
 * everything after it computed again: with the activations' own names and shapes, in float32.  Hidden cells of dots,
 * scores and pattern have 0. */
struct attn_slopes_opts {
    const struct attn_metric *metric;   /* bound to the tokens; all but rank have derivatives */
    const struct attn_select *select;   /* which activations' derivatives to keep */
    bool times;                         /* keep each derivative times the activation */
    struct attn_plan plan;              /* threads and kind, which must have a softmax and no dropout */
    struct attn_editor *editor;         /* started, with the tokens as its text 0; NULL: nothing is edited.  Derivatives
                                         * are then those of the edited run, by what the edits made; what these
                                         * overwrote has 0 */
    const struct attn_observer *observers; size_t n_observers;      /* of the forward pass */
    uint64_t reserved[4];
};
/* Whether gradients can be computed as asked, for any text; observers and editor are not read. */
int attn_slopes_check(const struct attn_model *m, const struct attn_slopes_opts *o, struct attn_err *err);
struct attn_slopes;
int attn_slopes_new(struct attn_slopes **out, const struct attn_model *m, const struct attn_tokens *tokens,
                    const struct attn_slopes_opts *o, struct attn_err *err);
void attn_slopes_free(struct attn_slopes *s);                       /* NULL is fine */
double attn_slopes_value(const struct attn_slopes *s);              /* of the metric */
/* Shows them to an observer, such as a sink's, in the order of the forward pass. */
int attn_slopes_show(const struct attn_slopes *s, const struct attn_observer *to, struct attn_err *err);

/* ---- patching -------------------------------------------------------------------------- */

/* What a metric of a text becomes when a piece of an activation is taken from the run of another text, for each piece
 * of a grid: by a run of each (exact), or predicted from gradients. */
enum { ATTN_OVER_LAYER = 1, ATTN_OVER_HEAD = 2, ATTN_OVER_POS = 4 };
struct attn_patch_cell {
    int layer, head, pos;               /* -1: no axis of the grid.  A head of k or v is a key/value head */
    double metric, effect;              /* (metric - metric_text) / (metric_from - metric_text); NaN if these agree */
};
struct attn_patch_result {              /* lives as long as the grid */
    const char *what;                   /* "attn.context" */
    unsigned over;                      /* ATTN_OVER_...: its axes */
    size_t grid[3];                     /* how many layers, heads, positions; 1 where there is no such axis */
    const struct attn_patch_cell *cell; size_t n;       /* by layer, head, position */
    double metric_text, metric_from;
    uint64_t reserved[2];
};
struct attn_patch_opts {
    const struct attn_tokens *tokens, *from;            /* of the text, and of the other one: as many */
    const char *what;                   /* name of an activation: context, attn.out, resid_pre, embed */
    const char *over;                   /* layer, or with commas layer,head,pos; pos alone outside of the layers */
    const char *method;                 /* exact (NULL), gradient, or ig:STEPS: the mean gradient over that many runs on
                                         * the way from the text's embedding to the other's */
    const struct attn_metric *metric;   /* bound to the text */
    struct attn_plan plan;              /* threads, bf16 and kind */
    struct attn_editor *editor;         /* of all runs of the text, not of the other; started, with the tokens as its
                                         * text 0. NULL: nothing is edited but what is patched */
    /* called now and then; a code ends it */
    int (*step)(void *self, size_t done, size_t all, struct attn_err *err);
    /* as an attn_observer's, of every run of both texts */
    void (*overflow)(void *self, const struct attn_lost *rows);
    void *self;                         /* for step and overflow, each of which may be NULL */
    uint64_t reserved[3];
};
struct attn_patch;
int attn_patch_new(struct attn_patch **out, const struct attn_model *m, const struct attn_patch_opts *o,
                   struct attn_err *err);
void attn_patch_free(struct attn_patch *p);                         /* NULL is fine */
void attn_patch_get(const struct attn_patch *p, struct attn_patch_result *out);

struct attn_patch_report_opts {
    const char *format;                 /* as of heads */
    const char *path;                   /* NULL or "-": standard output */
    const struct attn_model *model;
    const struct attn_tokens *tokens, *from;            /* of both texts */
    const char *text, *from_text; size_t text_len, from_len;        /* NULL: there are ids only */
    const char *what, *method, *metric; /* as they were asked for */
    const struct attn_edits *edits;     /* NULL: none */
    struct attn_kind kind;
    int precision, width;               /* text only: digits after the point; columns of the terminal, 0: no limit */
    bool color;                         /* text only */
    struct attn_picture_opts picture;
    uint64_t reserved[4];
};
int attn_patch_write(const struct attn_patch *p, const struct attn_patch_report_opts *o, struct attn_err *err);

/* ---- a text that grows ------------------------------------------------------------------ */

/* A prompt and the tokens that follow it.  Each goes through the model once, as keys and values are cached; the prompt
 * goes in one pass. */
struct attn_growth_opts {
    const struct attn_tokens *prompt;   /* at least one token */
    size_t room;                        /* how many tokens there may be in the end, those of the prompt included */
    bool logprobs;                      /* keep the log-probability of each token given those before it */
    struct attn_plan plan;              /* threads, bf16 and kind; see attn_model_continues */
    struct attn_editor *editor;         /* of all passes; started, with the prompt as its text 0, which grows; NULL:
                                         * nothing is edited */
    const struct attn_observer *observers; size_t n_observers;      /* of all passes */
    uint64_t reserved[3];
};
struct attn_growth;
int attn_growth_new(struct attn_growth **out, const struct attn_model *m, const struct attn_growth_opts *o,
                    struct attn_err *err);
void attn_growth_free(struct attn_growth *g);                       /* NULL is fine */
/* Runs what has not been run yet.  *logits [V] are of the next token; they live until the next call. */
int attn_growth_logits(struct attn_growth *g, const float **logits, struct attn_err *err);
/* Adds a token, after attn_growth_logits and while there is room. */
int attn_growth_add(struct attn_growth *g, int32_t id, struct attn_err *err);
const int32_t *attn_growth_ids(const struct attn_growth *g, size_t *n);     /* of all tokens so far */
size_t attn_growth_seen(const struct attn_growth *g);               /* how many of them have been run */
const double *attn_growth_logprobs(const struct attn_growth *g);    /* of all, the first one's 0; NULL: not asked for */

/* ---- reading the residual stream -------------------------------------------------------- */

struct attn_lens_opts {
    const struct attn_tokenizer *tokenizer;     /* to spell tokens; may be NULL */
    const char *text; size_t text_len;  /* the sentence; NULL when there are ids only */
    const int32_t *target;              /* a token to follow; NULL: none */
    size_t top;                         /* how many of the likeliest tokens, of which png, svg and pdf write one; 0: 1
                                         * in text and pictures, else 5 */
    bool all;                           /* also between attention and MLP */
    const char *format;                 /* as of heads, but no term */
    const char *path;                   /* NULL or "-": standard output */
    int width;                          /* columns of the terminal, text only; 0: no limit */
    bool color;                         /* text only */
    bool csv_safe;                      /* csv, tidy: a quote before text that a spreadsheet would run as a formula */
    struct attn_picture_opts picture;
    int threads;
    bool bf16;                          /* as in attn_plan */
    struct attn_kind kind;              /* of attention; zero: the model's own */
    /* of the run, before the lens: those that edit, too */
    const struct attn_observer *observers; size_t n_observers;
    const struct attn_edits *edits;     /* what these edit, for documents; NULL: nothing */
    uint64_t reserved[4];
};
/* Writes what the model would predict at each position if it ended at each point of the residual stream: the final norm
 * and the output layer applied to the embedding and to what each layer leaves. */
int attn_lens(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_lens_opts *o,
              struct attn_err *err);

struct attn_attribute_opts {
    const struct attn_tokenizer *tokenizer;     /* to spell tokens; may be NULL */
    const char *text; size_t text_len;  /* the sentence; NULL when there are ids only */
    int32_t target;                     /* the token whose logit is taken apart */
    const int32_t *foil;                /* a token whose logit is subtracted; NULL: none */
    int64_t pos;                        /* the position whose prediction it is; negative ones count from the end */
    size_t neurons;                     /* how many of the neurons largest in size are listed besides */
    size_t top;                         /* text only: how many of the largest parts; 0: all, in forward order */
    const char *format;                 /* of ATTN_FORMAT_TABLE or ATTN_FORMAT_FIGURE; NULL: text */
    const char *path;                   /* NULL or "-": standard output */
    int width;                          /* columns of the terminal, text only; 0: no limit */
    bool color, bars;                   /* text only */
    int threads;
    struct attn_kind kind;              /* of attention; zero: the model's own */
    const struct attn_observer *observers; size_t n_observers;      /* of the run, first: those that edit, too */
    const struct attn_edits *edits;     /* what these edit, for documents; NULL: nothing */
    const struct attn_picture_opts *picture;    /* of attn_tools.h; NULL: the defaults */
    const char *layers, *heads;         /* only the parts of these, as attn_select_new takes them; the sum is of all */
    uint64_t reserved[1];
};
/* Writes what each part of the residual stream adds to a logit when the scale of the final norm is frozen: embeddings,
 * heads, biases, MLPs.  Fails for a model without residual connections. */
int attn_attribute(const struct attn_model *m, const struct attn_tokens *tokens, const struct attn_attribute_opts *o,
                   struct attn_err *err);

/* ---- one call for one question --------------------------------------------------------- */

/* A text, or token ids.  len 0: up to its NUL; both NULL: there is none. */
struct attn_input { const char *text; size_t len; const int32_t *ids; size_t n; };

/* What is run, in words, as the commands take it; all zero is the default. */
struct attn_question {
    const struct attn_model *model;
    const struct attn_tokenizer *tokenizer;     /* NULL: the model's own, which is opened where a text needs it */
    struct attn_input text, from, cross; /* from: the other text that edits and patches take values from; cross: the one
                                         * whose keys and values are looked at */
    struct attn_encode_opts encode;     /* how texts become tokens */
    const char *const *edits;           /* as attn_edits_parse takes them, after the last one NULL; NULL: none */
    const char *plan;                   /* as attn_plan_parse takes it; NULL: the defaults */
    const struct attn_observer *observers; size_t n_observers;      /* of the run, after what edits */
    uint64_t reserved[4];
};
/* Runs the text and keeps the activations that `show` lists, as attn_select_new takes it. */
int attn_ask_run(struct attn_dump **out, const struct attn_question *q, const char *show, struct attn_err *err);
/* Measures a metric of the run, as attn_metric_new takes it; the reference of kl is an unedited run. */
int attn_ask_metric(double *out, const struct attn_question *q, const char *metric, struct attn_err *err);
/* out[*n], malloc'd: the log-probability of each token given those before it, as attn_score gives them. */
int attn_ask_score(double **out, size_t *n, const struct attn_question *q, struct attn_err *err);
/* Adds at most `most` tokens to the text, until one ends it or the model takes no more; *ids, malloc'd, are those of
 * all tokens.  sampling NULL: the likeliest token, always. */
int attn_ask_generate(int32_t **ids, size_t *n, const struct attn_question *q, size_t most,
                      const struct attn_sampling *sampling, struct attn_err *err);
/* Makes the grid of a patching of `from` into the text. */
int attn_ask_patch(struct attn_patch **out, const struct attn_question *q, const char *what, const char *over,
                   const char *method, const char *metric, struct attn_err *err);
/* Writes what a command prints: "run", "lens", "attribute", "heads" or "patch", in any of its formats, JSON if none is
 * asked for.  `options` are the command's own, as in "target= ball" or "top=3", one that is a flag by its name alone,
 * after the last one NULL; NULL: none.  path NULL or "-": standard output. */
int attn_ask_write(const struct attn_question *q, const char *what, const char *const *options, const char *path,
                   struct attn_err *err);
/* Draws what a dump holds, as attn_plot does, with the options of plot, likewise. */
int attn_dump_draw(const struct attn_dump *d, const char *const *options, const char *path, struct attn_err *err);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif

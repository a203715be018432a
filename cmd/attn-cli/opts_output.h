/* opts_output.h - what commands write: where, in which format, how it looks, and what it must not overwrite. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "attn_ask.h"
#include "attn_tools.h"
#include "table.h"

struct edits;

/* ---- paths and formats ---- */

bool terminal_is(const char *path);     /* whether the output is standard output and a terminal */
/* What is printed on standard output between the two is wrapped if that is a terminal: no line is broken in a word. */
struct wrapping { FILE *out; char *text; size_t len; };
void wrapping_start(struct wrapping *w);
void wrapping_end(struct wrapping *w);
int terminal_columns(bool terminal);    /* of a terminal; for a file, a usual width */
bool terminal_colored(bool terminal);

/* The i-th format that is for any of `uses`, which are ATTN_FORMAT_...; NULL after the last. */
const char *format_name(size_t i, unsigned uses);
/* Lists their names, with notes if asked for, as list_terms does. */
void list_formats(char *out, size_t size, unsigned uses, bool notes, const char *last);
/* The formats of tables, as choices of --format; the same and then those of pictures. */
const char *table_format(size_t i);
const char *answer_format(size_t i);
/* Says which these are: "text (WORDS), json, ...REST". */
void explain_tables(char help[OPTION_HELP], const char *words, const char *rest);
void explain_answers(char help[OPTION_HELP], const char *words, const char *picture);
/* Writes a table among what standard output gets, in a format other than json; or as objects (attn_table_objects). */
struct attn_table;
int table_print(const struct attn_table *t, const char *format, struct attn_err *err);
int table_objects(const struct attn_table *t, const char *first, const char *between, struct attn_err *err);
/* Whether people will look at an output of this format (NULL: text): a picture, or text on a terminal. */
bool output_is_seen(const char *format, const char *path);
/* The format that the ending of a path stands for; NULL: none. */
const char *output_format_of(const char *path);
const char *table_of_path(const char *path);            /* the format of tables that the path ends in; NULL: none */
/* The same of activations; a path that ends in / is a directory, of tables. */
const char *activations_format_of(const char *path);
/* The default of --show for this format; NULL: the general default. */
const char *format_default_show(const char *format);
/* Makes the selection that the options ask for; show: what stands for --show where that is not given. */
int select_shown(struct attn_select **out, const struct attn_model *m, const struct attn_kind *kind, const char *show,
                 struct attn_err *err);
const struct option *format_row(const struct command *c);           /* of --format */
/* Without --format the path's ending decides.  Fails if c does not write that, or if output_check_format would fail. */
int output_choose_format(const char **format, const char *path, const struct command *c, struct attn_err *err);
/* Fails for a binary format on a terminal and, where there is no format, for an ending that means none of ours. */
int output_check_format(const char *format, const char *path, struct attn_err *err);

/* ---- tables that spreadsheets read ---- */

extern const struct option csv_options[];
bool csv_safe(void);                    /* whether text is kept from being run by a spreadsheet */

/* ---- activations ---- */

/* The activations of a text, as run prints or writes them. */
struct output {
    const struct command *command;      /* whose options repro_command lists */
    const char *format, *path;          /* NULL: text; NULL: standard output */
    int precision;
    const struct attn_model *model;
    const struct attn_select *select;
    const struct attn_tokens *tokens;
    const struct attn_tokenizer *tokenizer;     /* may be NULL */
    const char *text; size_t len;       /* text NULL: ids were given */
    const struct attn_tokens *cross;    /* of the other text, which provides the keys; NULL: no cross-attention */
    const char *cross_text; size_t cross_len;   /* cross_text NULL: ids were given */
    const struct attn_slopes *slopes;   /* gradients, to be written in place of activations; NULL: the text is run */
    const struct attn_sink_gradient *gradient;  /* what they are */
    const struct attn_ablated *ablated; size_t n_ablated;       /* what comes next without each head, if asked for */
    const struct attn_sink_hint *hints; /* of a screen; NULL: none */
    bool words;                         /* tokens are merged into words */
    bool live;                          /* a page computes */
    const struct edits *edits;          /* bound to the text; NULL: no command line can have any */
};
enum { OUTPUT_PRECISION = 4,            /* digits after the point, as in the articles */
       OUTPUT_NUMBERS = 4000 };         /* more on a terminal are summarised */

int output_write(const struct output *d, struct attn_err *err);

/* ---- protecting what is there ---- */

/* Fails if an output of c is the same file as one of its inputs, or is a file of a model: a slip such as `plot a.npy -o
 * a.npy` would destroy data that may be impossible to make again. */
int protect_inputs(const struct command *c, struct attn_err *err);
/* Fails if the directory holds a training, which may have taken hours. */
int protect_training(const char *dir, struct attn_err *err);

#endif

/* table.h - the commands and their options, as rows.
 *
 * Everything the user can type is a row: opts.c parses by the rows; cmd_help.c and completion.c print them.  A command
 * is one file that ends with its `struct command`, or a large one some files more; COMMANDS lists them.  A row points
 * to the variable that gets the option's value, so that a command reads plain variables. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "attn.h"

#include <stdio.h>

enum option_type {
    OPT_FLAG,                           /* bool: takes no value */
    OPT_SWITCH,                         /* const char *: "true" or "false"; without a value "true" */
    OPT_TEXT,                           /* const char * */
    OPT_LIST,                           /* const char *: separated by commas; `choices` are suggestions */
    OPT_FILE, OPT_DIR, OPT_MODEL,       /* const char *: completed as paths or models */
    OPT_CHOICE,                         /* const char *: one of `choices` */
    OPT_MANY, OPT_MANY_FILES,           /* struct many *: given any number of times; rows may share one list */
    OPT_NUMBER,                         /* struct number: a whole number, min..max */
    OPT_REAL                            /* struct real: a finite number */
};
struct number { const char *given; uint64_t n; };       /* given: as typed; NULL: not given */
struct real { const char *given; double x; };
struct option;
struct many { struct given { const struct option *of; const char *value; } *item; size_t n; };  /* in the order typed */

enum {
    OPT_INPUT = 1,                      /* an input: at most one such option, once */
    OPT_COUNTS = 2,                     /* changes a number or a file, so it is part of repro_command */
    OPT_OTHER = 4,                      /* the other text: at most one such option, once */
    OPT_OUTPUT = 8,                     /* a file that is written ... */
    OPT_VOCABULARY = 16,                /* ... and may be a model's vocabulary (see protect_inputs) */
    OPT_AS = 64,                        /* of the model that was named before it */
    OPT_USUAL = 32                      /* among the ten or so that a short help shows of a command that has many */
};

/* Under which heading of a help an option stands.  Headings are in the order of option_sections, rows in their own. */
enum option_section { OF_COMMAND, OF_INPUT, OF_MODEL, OF_SHOWN, OF_OUTPUT, OF_PICTURE, OF_EDIT, OF_ATTENTION, OF_NEW,
                     OF_PROCESS };

struct pair { const char *term, *text; };               /* a list of them ends with term NULL */

enum { OPTION_HELP = 640 };             /* bytes of the longest help of an option */
enum { THREADS_MOST = 1024 };           /* what --threads takes */

/* A group of rows ends with name NULL.  Each row names at least one of the members after `help`, because only then does
 * -Wmissing-field-initializers accept the others' absence. */
struct option {
    char letter;                        /* 0: none */
    const char *name;
    enum option_type type;
    void *to;
    const char *arg, *help;
    const char *const *choices;         /* NULL after the last */
    const char *(*choice)(size_t i);    /* the same where they are rows of a table; valid until the next call */
    void (*explain)(char help[OPTION_HELP]);    /* writes a help that lists rows of a table; `help` is NULL */
    uint64_t min, max;                  /* of a number; of a struct real, unless max is 0 */
    /* checks a value when it is stored; NULL: any */
    int (*check)(const struct option *o, struct attn_err *err);
    const char *(*mistaken)(const char *value);         /* what a wrong value may mean; NULL: the nearest choice */
    const char *env;                    /* environment variable used when the option is not given */
    unsigned formats;                   /* what uses it: formats with one of these flags of attn_tools.h; 0: any */
    enum option_section section;
    unsigned flags;
};

/* What a command is for, in the order of command_sections. */
enum command_section { IN_SENTENCE, IN_HEADS, IN_TEXTS, IN_MANY, IN_TWO, IN_MODELS, IN_REST };
extern const char *const command_sections[];            /* NULL after the last */

/* Whether a command is asked about texts, and reads a file of them itself (see texts.h). */
enum command_texts { NO_TEXTS, TEXTS, TEXTS_STREAMED };

struct command {
    const char *name;
    enum command_section section;
    int (*run)(struct attn_err *err);   /* 0, or the code it left in err */
    enum command_texts texts;
    bool one;                           /* shows one text, which --nth chooses of many */
    bool (*needs_text)(void);           /* NULL: always */
    bool (*joins)(void);                /* whether several arguments are one list, not texts; NULL: never */
    int (*streams)(struct attn_err *err);       /* answers many texts in formats that many.h does not join; or NULL */
    const char *usage, *summary, *about;
    const struct pair *examples;
    const char *list_title;             /* NULL: no list */
    const struct pair *list;            /* further explanations, at the end of the help */
    const struct pair *(*rows)(void);   /* the same where they are rows of a table; `list` is NULL */
    const struct option *const *groups; /* NULL after the last */
    const struct pair *refused;         /* options of other commands that make no sense here, and why; NULL: none */
    const char *word;                   /* name of a positional argument; NULL: it takes none */
    const char *second;                 /* name of a second one; NULL: none */
    bool many;                          /* takes any number of them */
    bool model;                         /* takes a model, as -m does */
    bool product;                       /* -o is what it makes, once; else where its answer goes, several times */
    bool paths;                         /* they are paths; else the argument is a command */
    const char *(*name_choice)(size_t i);       /* names that it may be, rows of a table; NULL: none */
    const char *const *words;           /* what else it may be, NULL after the last; NULL: nothing else */
    const char *plain;                  /* the format that its text, or what it prints by default, is like: which
                                         * options of pictures it uses; NULL: text */
    const char *const *schemas;         /* files of schemas/ for its JSON, then NULL; NULL: it writes none */
    bool verdict;                       /* its status 1 is an answer, as diff(1)'s is, so an error ends with 2 */
    bool report;                        /* what it prints is read by people: a pager may show it (see pager.h) */
};

extern const struct command *const commands[];          /* NULL after the last */
/* NULL if there is no such command; the error names the nearest, or one of `words` (or NULL) that is nearer. */
const struct command *command_find(const char *name, const char *const *words, struct attn_err *err);
const char *wish_of(const char *name);  /* what does what a command or an option of this name would; NULL: not known */
const struct option *option_at(const struct command *c, size_t i);      /* NULL after the last */
const char *option_choice(const struct option *o, size_t i);           /* NULL after the last */
const char *option_help(const struct option *o);        /* valid until the next call */
/* Lists terms, each with what is said of it, if anything, in brackets: "a, b (the default) or c" with `last` " or ". */
void list_terms(char *out, size_t size, const struct pair *list, const char *last);
/* The value as typed, "" for a flag; NULL if the option was not given.  Of many values, the first. */
const char *option_given(const struct option *o);
/* The i-th time that the option, or for the first of several rows with one list any of them, was given: the row and the
 * value; false after the last.  So the options that count are listed in the order of the rows, and those of a list in
 * the order typed. */
bool option_each(struct given *out, const struct command *c, const struct option *o, size_t i);

/* All commands, in the order of the help.  A new one is a name here and a file that ends with NAME_command. */
#define COMMANDS(each) \
    each(run) each(page) each(batch) each(merge) each(tokenize) each(generate) each(score) each(heads) each(lens) \
    each(attribute) each(patch) each(explain) each(lesson) each(attend) each(variants) each(diff) each(plot) \
    each(info) \
    each(models) each(convert) each(vocab) each(init) each(train) each(bench) each(help)
#define DECLARE_COMMAND(name) extern const struct command name##_command;
COMMANDS(DECLARE_COMMAND)

/* The options that several commands share: their variables and their rows. */
extern struct common {
    const char *as, *other_as;          /* --as of the model, and of another that is compared with it */
    const char *model, *sentence, *file, *ids, *word, *second, *bos, *compute;
    struct number threads;
    bool raw, special, quiet, help, version, no_pager;
    const char *const *words; size_t n_words; /* the arguments of a command that takes many */
    int status;                         /* exit status of a command that succeeded: 0, or a verdict */
} common;
extern struct word_rule { const char *drop, *unknown; bool lowercase, chars; } word_rule;
extern struct selection { const char *show, *layer, *head; } selection;
extern struct crossing { const char *text, *file, *ids; } crossing;     /* the other text, which provides the keys */
extern struct sourcing { const char *text, *ids; } sourcing;            /* the other text that edits take values from */
/* how a file of records is read */
extern struct record_form { const char *input, *column; bool headless; } record_form;
extern const struct option model_options[], text_options[], corpus_options[], record_options[], encode_options[],
    ids_options[],
    thread_options[], compute_options[], general_options[], word_options[], select_options[],
    select_compared_options[], select_watched_options[], place_options[], cross_options[];
extern const char *const compute_choices[];
bool compute_bf16(void);                /* whether --compute asks for bf16 */

/* Options that stand for keys of a JSON file, whose names they have with - for _: commands that make models share what
 * they may be. */
#define SIZE_OPTION(name, to, help, ...) {0, name, OPT_NUMBER, to, "N", help, .min = 1, .max = INT32_MAX, __VA_ARGS__}
#define COUNT_OPTION(name, to, help, ...) {0, name, OPT_NUMBER, to, "N", help, .max = INT32_MAX, __VA_ARGS__}
#define REAL_OPTION(name, to, help, ...) {0, name, OPT_REAL, to, "X", help, __VA_ARGS__}
#define CHOICE_OPTION(name, to, list, help, ...) {0, name, OPT_CHOICE, to, "KIND", help, .choices = list, __VA_ARGS__}
#define SWITCH_OPTION(name, to, help, ...) \
    {0, name, OPT_SWITCH, to, "true|false", help, .choices = key_truths, __VA_ARGS__}
extern const char *const key_truths[], *const key_positions[], *const key_norms[], *const key_masks[],
    *const key_scales[], *const key_dtypes[];
const char *mlp_choice(size_t i);       /* NULL after the last */
/* Those, or only the gated ones, as list_terms takes them; none: what is said of "none".  Valid until the next call. */
const struct pair *mlp_terms(bool gated, const char *none);

extern const char tool_summary[], tool_description[];
extern const struct pair tool_examples[], tool_environment[], tool_files[], tool_statuses[];

/* ---- between the command line and the rows (opts.c) ---- */

/* argv: the arguments after the command's name, NULL after the last. */
int opts_parse(const struct command *c, char **argv, struct attn_err *err);
/* The command line that gives the same numbers and files again; malloc'd, NULL: no memory. */
char *repro_command(const struct command *c);
char *brief_command(const struct command *c);           /* the same as people type it, with letters for names, to be
                                                         * seen and pasted */
/* Writes `"key": value, ` for each option that was given. */
void opts_write_keys(FILE *f, const struct option *rows);

/* ---- what is printed from the rows (cmd_help.c, help_json.c, completion.c) ---- */

void help_print_short(FILE *f);         /* for `attn-cli` without arguments */
/* Without `all`, of a command that has many options only the usual ones, and how many there are besides. */
void help_print_command(FILE *f, const struct command *c, bool all);
void help_print_json(FILE *f, const struct command *only);      /* NULL: all of them */
void completion_print(FILE *f, const char *shell);      /* one of completion_shells */
extern const char *const completion_shells[];           /* NULL after the last */

#endif

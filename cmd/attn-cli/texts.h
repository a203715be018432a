/* texts.h - which texts a command is asked about: its arguments, -s, the lines of -f or standard input.
 *
 * A command that takes texts has `texts` in its row.  With one text it runs as it is; with several it runs once for
 * each, and many.c makes one table of what it wrote.  Commands that stream (TEXTS_STREAMED) read files themselves. */
#ifndef CLI_TEXTS_H
#define CLI_TEXTS_H

#include "attn_tools.h"
#include "table.h"

/* Adds one that was typed; `argument`: without an option before it. */
int texts_add(const char *text, bool argument, struct attn_err *err);
size_t texts_typed(void);
bool texts_end_with(const char *text);  /* whether it was the last one that was added */
/* Runs the command for what was asked about: once, or once for each text. */
int texts_answer(const struct command *c, struct attn_err *err);

/* The text in hand, one of many or of a file; NULL: a text or ids that were typed, or a file as a whole. */
const struct attn_record *texts_now(void);
bool texts_are_many(void);              /* while a command runs once for each: models stay open */
/* Where a command that streams reads its records: a file or what was typed. */
struct attn_records_opts texts_records(void);
const char *texts_source(void);         /* for messages: the file, "standard input" or "the command line" */

extern const struct option nth_options[];       /* --whole and --nth */

#endif

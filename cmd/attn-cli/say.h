/* say.h - what the user is told on standard error: errors, notes, and how far a long run is. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "attn.h"

/* Prints "attn-cli COMMAND: message" and, for a usage error, a line that names the help.  Returns the exit status.
 * command NULL: the error came before a command was known. */
int say_error(const char *command, const struct attn_err *err);
void say_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));      /* nothing under --quiet */

void say_failure(const char *fmt, ...) __attribute__((format(printf, 1, 2)));   /* --quiet or not */

/* ---- what was typed ---- */

/* What a message shows of an argument: all of it, or its beginning and "...". */
struct excerpt { char text[64]; };
struct excerpt excerpt(const char *typed);

/* The name that was probably meant: offer all valid names, then look at `best`, NULL if none is near enough.  A name
 * that starts with what was typed, or that this means, is nearest; `also` is a second one that it means, or NULL. */
struct nearest { const char *typed, *best, *also; unsigned distance; bool means; };
void nearest_offer(struct nearest *n, const char *name);
/* The end of a message about the typed name: ", the nearest is 'BEFOREname'", or nothing. */
struct excerpt nearest_hint(const struct nearest *n, const char *before);

/* ---- long runs ---- */

/* Shows how far a run is: "layer 3 of 12", or from the second run on "run 2, layer 3 of 12".  The line goes to standard
 * error, if that is a terminal and --quiet is not given, after the first second; it is erased at the end.  The observer
 * also takes note of dots that overflow. */
struct progress { bool on; size_t layers, runs; double start; int shown; };     /* shown: characters on the line */
void progress_start(struct progress *p, const struct attn_model *m, bool wanted);
struct attn_observer progress_observer(struct progress *p);
void progress_end(struct progress *p);

/* The same for a run of many steps, in its own words: a zeroed struct; at the end erase_line(&steps.shown). */
struct steps { double start; int shown; };
void steps_say(struct steps *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Collects what the runs of a command report of dots that overflow float32, for attn_observer.overflow; self is not
 * used. main.c calls say_overflow at the end, which prints a note if there were any. */
void note_overflow(void *self, const struct attn_lost *rows);
void say_overflow(void);

/* Formats as "6 s", "46 min 39 s" or "1 h 05 min"; returns the length. */
int put_duration(char *buf, size_t size, double seconds);
/* Erases a line of so many columns that ended without a line feed. */
void erase_line(int *columns);

#endif

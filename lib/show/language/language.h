/* language.h - what is said to people in other languages than English, in which the program is written.
 *
 * A language is a file data/lang/CODE.po as translators know it: msgid is the English text of a printf, msgstr what is
 * said instead, with the same conversions; %2$s in the place of %s changes their order.  The build checks the files and
 * packs them (data/lang/pack.c), and they are used in place: no file is read, and nothing is done, unless a text is
 * looked up.  A text that has no translation stays English. */
#ifndef ATTN_LANGUAGE_LANGUAGE_H
#define ATTN_LANGUAGE_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attn.h"

struct attn_language;                   /* NULL: English */

/* "zh", or a locale as "zh_CN.UTF-8"; "en" is English.  False: there is no such language. */
bool attn_language_find(const struct attn_language **out, const char *code);
/* The same, and a usage error that names those there are. */
int attn_language_choose(const struct attn_language **out, const char *code, struct attn_err *err);
/* "zh"; of English "en". */
const char *attn_language_code(const struct attn_language *l);

/* The text in a language.  Neither copied nor freed; it is as lasting as the program, or as `english`. */
const char *attn_tr(const struct attn_language *l, const char *english) __attribute__((format_arg(2)));

/* ---- the packed files, of the machine that builds: a list, then the texts ---- */

/* Offsets from the beginning: of strings, and of the first of `count` pairs in the order of their English texts. */
struct attn_language { uint32_t code, name, first, count; };
struct attn_language_pair { uint32_t english, other; };
struct attn_languages { uint32_t count; struct attn_language of[]; };

#endif

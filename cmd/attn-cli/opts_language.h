/* opts_language.h - in which language lessons and pages are said. */
#ifndef CLI_LANGUAGE_H
#define CLI_LANGUAGE_H

#include "table.h"

extern const struct option language_options[];         /* --lang, of what says everything in it */
extern const struct option page_language_options[];    /* the same of what writes pages, among other things */
/* What --lang says; or else, on a terminal alone, so that scripts see no change, what the locale says: LANGUAGE,
 * LC_ALL, LC_MESSAGES and LANG as gettext reads them.  NULL: English. */
const char *language_of(bool terminal);
bool language_is_given(void);                           /* by --lang */

#endif

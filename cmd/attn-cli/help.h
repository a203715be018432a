/* help.h - what the help for readers and the help for programs have in common. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "table.h"
#include "texts.h"

/* What several commands share: those that take these options (NULL: none in particular) name it, and with `whole` have
 * it at the end of all their options. */
enum { HELP_TOPICS = 6 };
extern const struct help_topic {
    const char *name, *man, *title;
    const struct option *options;
    const struct pair *(*list)(void);
    bool whole;
} help_topics[HELP_TOPICS];
extern const char *const help_words[];  /* beside the commands: all of them, and the topics */
bool help_takes(const struct command *c, const struct option *group);
const char *help_section(const struct option *o);       /* the heading under which an option stands */

#endif

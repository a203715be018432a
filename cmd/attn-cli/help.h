/* help.h - what the help for readers and the help for programs have in common. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "table.h"

/* Lists that options of several commands speak of. */
enum { HELP_TOPICS = 2 };
extern const struct help_topic {
    const char *name, *man, *title;
    const struct option *options;
    const struct pair *(*list)(void);
} help_topics[HELP_TOPICS];
bool help_takes(const struct command *c, const struct option *group);
const char *help_section(const struct option *o);       /* the heading under which an option stands */

#endif

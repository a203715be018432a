#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_OF_FILES = 80 };

bool terminal_is(const char *path)
{
    return (!path || !strcmp(path, "-")) && isatty(STDOUT_FILENO);
}

int terminal_columns(bool terminal)
{
    struct winsize w;
    if (!terminal)
        return WIDTH_OF_FILES;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col)
        return w.ws_col;
    const char *env = getenv("COLUMNS");
    long n = env ? strtol(env, NULL, 10) : 0;
    return n > 0 && n < 10000 ? (int)n : WIDTH_OF_FILES;
}

bool terminal_colored(bool terminal)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return terminal && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

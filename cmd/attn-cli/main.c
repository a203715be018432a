/* main.c - finds the row of the command, calls it, and returns its exit status. */
#include "opts_attention.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "pager.h"
#include "process.h"
#include "say.h"
#include "outputs.h"
#include "texts.h"

#include "attn_tools.h"
#include "base/err.h"
#include "base/version.h"

#include <string.h>

/* What to name when something is reported: which program it is, what multiplies here, and how it was built. */
static void print_version(void)
{
    char products[256];
    const char *commit = strchr(attn_version(), '+');
    attn_products_say(products, sizeof products);
    printf("attn-cli " ATTN_VERSION
           "\n  commit        %s\n  products      %s\n  instructions  %s\n  built         %s\n",
           commit ? commit + 1 : "unknown", products, attn_cpu_target(), attn_built());
}

static int answer(const struct command *c, struct attn_err *err)
{
    return c->texts ? texts_answer(c, err) : c->run(err);
}

static int call(const struct command *c, char **argv, struct attn_err *err)
{
    if (opts_parse(c, argv, err))
        return err->code;
    if (c->report || common.help)
        pager_hold();
    if (common.version)
        print_version();
    else if (common.help && c != &help_command)
        help_print_command(stdout, c, false);
    else {
        note_unused_seed(c);
        if (protect_inputs(c, err) || outputs_answer(c, answer, err))
            return err->code;
    }
    return ATTN_OK;
}

/* Whether the argument is an option of c: "-s" for a letter, "--show" or "--show=dots" for a name. */
static bool has_option(const struct command *c, const char *arg)
{
    const struct option *o;
    for (size_t i = 0; (o = option_at(c, i)); i++) {
        size_t len = strlen(o->name);
        bool by_name = arg[1] == '-' && !strncmp(arg + 2, o->name, len) && (!arg[2 + len] || arg[2 + len] == '=');
        if (by_name || (arg[1] && arg[1] == o->letter))
            return true;
    }
    return false;
}

static const struct command *fail_before(const char *arg, const struct command *c, struct attn_err *err)
{
    attn_fail(err, ATTN_EUSAGE,
              "'%s' goes after a command: attn-cli %s %s ...", excerpt(arg).text, c->name, excerpt(arg).text);
    return NULL;
}

/* The command of `-q run -s TEXT`, where what is behind its name is no option of `help`; NULL: `-q run` asks for the
 * help of run. */
static const struct command *command_behind(char **words)
{
    size_t i = 0;
    bool others = false;
    while (words[0] && commands[i] && strcmp(words[0], commands[i]->name) != 0)
        i++;
    for (char **word = words; *word; word++)
        others |= (*word)[0] == '-' && !has_option(&help_command, *word);
    return others ? commands[i] : NULL;
}

/* Without a command only the options of `help` are valid, as in `attn-cli --version`. */
static const struct command *command_for_option(char **argv, struct attn_err *err)
{
    const char *arg = argv[1];
    if (has_option(&help_command, arg)) {
        const struct command *c = command_behind(argv + 2);
        return c ? fail_before(arg, c, err) : &help_command;
    }
    for (size_t i = 0; commands[i]; i++)
        if (has_option(commands[i], arg))
            return fail_before(arg, commands[i], err);
    return &help_command;               /* it suggests the nearest command */
}

static int work(int argc, char **argv)
{
    struct attn_err err = {0}, late = {0};
    if (argc < 2) {
        help_print_short(stderr);
        return 2;
    }
    static char version[] = "--version";
    if (!strcmp(argv[1], "version"))
        argv[1] = version;
    bool named = argv[1][0] != '-';
    const struct command *c = named ? command_find(argv[1], NULL, &err) : command_for_option(argv, &err);
    if (!c)
        return say_error(NULL, &err);
    int code = call(c, argv + (named ? 2 : 1), &err);
    pager_show();
    if (process_finish_output(&late) && !code) {
        err = late;
        code = late.code;
    }
    say_overflow();
    if (!code)
        picture_note();
    return code ? say_error(named ? c->name : NULL, &err) : common.status;
}

/* Before anything can fail. */
static void set_trouble(const char *name)
{
    for (size_t i = 0; name && commands[i]; i++)
        if (commands[i]->verdict && !strcmp(commands[i]->name, name))
            process_set_trouble(2);
}

int main(int argc, char **argv)
{
    set_trouble(argc > 1 ? argv[1] : NULL);
    return process_run(work, argc, argv);
}

/* cmd_help.c - prints the rows of commands and options for readers: as help, and as a man page. */

#include "help.h"
#include "opts_attention.h"
#include "opts_edits.h"

#include "base/err.h"

#include <string.h>

/* ---- help -------------------------------------------------------------------------------- */

enum { WIDTH = 80, TERM = 28 };         /* columns of a line; column where explanations start */

/* Prints the words of text from column `at` on, continuation lines from column `indent`; \n begins a paragraph. */
static void wrap(FILE *f, const char *text, size_t at, size_t indent)
{
    for (bool first = true; *text; first = false) {
        size_t len = strcspn(text, " \n");
        if (!first && at + 1 + len > WIDTH) {
            fprintf(f, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', f);
            at++;
        }
        fwrite(text, 1, len, f);
        at += len;
        text += len + strspn(text + len, " ");
        if (*text == '\n') {
            fputs("\n", f);
            at = WIDTH;
            text++;
        }
    }
    fputc('\n', f);
}

static void term_line(FILE *f, const char *term, const char *text)
{
    size_t at = 2 + strlen(term);
    fprintf(f, "  %s", term);
    if (at + 2 > TERM) {
        fputc('\n', f);
        at = 0;
    }
    fprintf(f, "%*s", (int)(TERM - at), "");
    wrap(f, text, TERM, TERM);
}

static void term_lines(FILE *f, const struct pair *p)
{
    for (; p->term; p++)
        term_line(f, p->term, p->text);
}

static void pairs(FILE *f, const char *title, const struct pair *p)
{
    fprintf(f, "\n%s:\n", title);
    term_lines(f, p);
}

static void examples(FILE *f, const struct pair *p)
{
    fputs("Examples:\n", f);
    for (; p->term; p++) {
        fprintf(f, "  %s\n      ", p->term);
        wrap(f, p->text, 6, 6);
    }
}

static void option_line(FILE *f, const struct option *o)
{
    char term[96], help[OPTION_HELP];
    char letter[8] = "    ";
    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    snprintf(term, sizeof term, "%s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    snprintf(help, sizeof help, "%s%s%s%s", option_help(o), o->env ? " [$" : "", o->env ? o->env : "", o->env ? "]" :
             "");
    term_line(f, term, help);
}

static void command_lines(FILE *f)
{
    fputs("\nCommands:\n", f);
    for (size_t i = 0; commands[i]; i++)
        term_line(f, commands[i]->name, commands[i]->summary);
}

/* Names alone, by what they are for: all of it is seen on a terminal of 24 lines. */
void help_print_short(FILE *f)
{
    fprintf(f, "attn-cli - %s\n\nUsage: attn-cli COMMAND [options]\n\n", tool_summary);
    for (size_t s = 0; command_sections[s]; s++) {
        fprintf(f, "%s\n ", command_sections[s]);
        for (size_t i = 0; commands[i]; i++)
            if (commands[i]->section == (enum command_section)s)
                fprintf(f, " %s", commands[i]->name);
        fputc('\n', f);
    }
    fprintf(f, "\nTry: %s\n     attn-cli help [COMMAND]\n", tool_examples[0].term);
}

static void print_tool(FILE *f)
{
    fprintf(f, "attn-cli - %s\n\n", tool_summary);
    examples(f, tool_examples);
    fputs("\nUsage: attn-cli COMMAND [options]\n", f);
    command_lines(f);
    pairs(f, "Environment", tool_environment);
    pairs(f, "Exit status", tool_statuses);
    fputs("\n'attn-cli help COMMAND' shows what a command does and its options.\n", f);
}

bool help_takes(const struct command *c, const struct option *group)
{
    for (const struct option *const *g = c->groups; *g; g++)
        if (*g == group)
            return true;
    return false;
}

static const struct pair *list_of(const struct command *c)
{
    return c->rows ? c->rows() : c->list;
}

/* ---- lists that options of several commands speak of -------------------------------------- */

static bool is_topic(const char *name)
{
    for (size_t i = 0; i < HELP_TOPICS; i++)
        if (!strcmp(help_topics[i].name, name))
            return true;
    return false;
}

static void print_topic(FILE *f, const char *name)
{
    for (size_t i = 0; i < HELP_TOPICS; i++)
        if (!strcmp(help_topics[i].name, name)) {
            fprintf(f, "%s:\n", help_topics[i].title);
            term_lines(f, help_topics[i].list());
        }
}

/* ---- options, by what they are about ----------------------------------------------------- */

static const struct section { enum option_section of; const char *title; } sections[] = {
    {OF_INPUT, "Input"},        {OF_MODEL, "Model"},            {OF_NEW, "The new model"},
    {OF_COMMAND, "What to do"}, {OF_SHOWN, "What to show"},     {OF_OUTPUT, "Output"},
    {OF_PICTURE, "Pictures"},   {OF_EDIT, "Edits"},             {OF_ATTENTION, "Attention"},
    {OF_PROCESS, "General"},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

enum { FEW = 20 };                      /* so many options are read at a glance, without headings or a selection */

static bool has_many(const struct command *c)
{
    return option_at(c, FEW);
}

/* The next option of a section, after the i-th, which is then its number; NULL after the last. */
static const struct option *next_of(const struct command *c, const struct section *s, bool all, size_t *i)
{
    const struct option *o;
    while ((o = option_at(c, (*i)++)))
        if (o->section == s->of && (all || o->flags & OPT_USUAL))
            return o;
    return NULL;
}

static size_t print_section(FILE *f, const struct command *c, const struct section *s, bool all)
{
    size_t n = 0;
    const struct option *o;
    for (size_t i = 0; (o = next_of(c, s, all, &i)); n++) {
        if (n == 0)
            fprintf(f, "\n%s:\n", s->title);
        option_line(f, o);
    }
    return n;
}

const char *help_section(const struct option *o)
{
    size_t i = 0;
    while (i + 1 < SECTIONS && sections[i].of != o->section)
        i++;
    return sections[i].title;
}

/* Returns how many it leaves out. */
static size_t print_options(FILE *f, const struct command *c, bool all)
{
    const struct option *o;
    size_t n = 0, printed = 0;
    if (!has_many(c))
        fputs("\nOptions:\n", f);
    for (; (o = option_at(c, n)); n++)
        if (!has_many(c))
            option_line(f, o);
    for (size_t i = 0; i < SECTIONS && has_many(c); i++)
        printed += print_section(f, c, &sections[i], all);
    return has_many(c) ? n - printed : 0;
}

/* The screens of what a command shares with others. */
static void name_topics(FILE *f, const struct command *c)
{
    bool first = true;
    for (size_t i = 0; i < HELP_TOPICS; i++)
        if (help_takes(c, help_topics[i].options)) {
            fprintf(f, first ? "\nMore: attn-cli help %s" : ", %s", help_topics[i].name);
            first = false;
        }
    fputs(first ? "" : ", tables\n", f);
}

void help_print_command(FILE *f, const struct command *c, bool all)
{
    fprintf(f, "attn-cli %s - ", c->name);
    wrap(f, c->summary, strlen("attn-cli  - ") + strlen(c->name), 4);
    fputc('\n', f);
    examples(f, c->examples);
    fputs("\nUsage: attn-cli ", f);
    wrap(f, c->usage, 16, 16);
    fputc('\n', f);
    wrap(f, c->about, 0, 0);
    size_t more = print_options(f, c, all);
    if (c->list_title)
        pairs(f, c->list_title, list_of(c));
    if (more)
        fprintf(f, "\nFor %zu more options: attn-cli help %s --all\n", more, c->name);
    name_topics(f, c);
    for (size_t i = 0; i < HELP_TOPICS && !more; i++)
        if (help_topics[i].whole && help_takes(c, help_topics[i].options))
            pairs(f, help_topics[i].title, help_topics[i].list());
}

/* ---- the man page --------------------------------------------------------------------------
 *
 * In roff every line that starts with text for the user goes through roff(). */

/* Escapes text for roff: hyphens and backslashes stay, and a leading dot or quote is not taken for a request. */
static void roff(FILE *f, const char *s)
{
    if (*s == '.' || *s == '\'')
        fputs("\\&", f);
    for (; *s; s++)
        switch (*s) {
        case '\\': fputs("\\e", f); break;
        case '\n': fputs("\n.PP\n", f); break;
        case '-': fputs("\\-", f); break;
        case '\'': fputs("\\(aq", f); break;
        case '~': fputs("\\(ti", f); break;
        case '^': fputs("\\(ha", f); break;
        case '`': fputs("\\(ga", f); break;
        default: fputc(*s, f);
        }
}

static void roff_line(FILE *f, const char *request, const char *text)
{
    fputs(request, f);
    roff(f, text);
    fputc('\n', f);
}

static void roff_section(FILE *f, const char *title)
{
    fprintf(f, ".SH %s\n", title);
}

static void roff_pairs(FILE *f, const struct pair *p)
{
    for (; p->term; p++) {
        roff_line(f, ".TP\n.B ", p->term);
        roff_line(f, "", p->text);
    }
}

static void roff_option(FILE *f, const struct option *o)
{
    fputs(".TP\n", f);
    if (o->letter)
        fprintf(f, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", f);
    roff(f, o->name);
    fputs("\\fR", f);
    if (o->arg) {
        fputs(" \\fI", f);
        roff(f, o->arg);
        fputs("\\fR", f);
    }
    fputc('\n', f);
    roff_line(f, "", option_help(o));
    if (o->env)
        roff_line(f, ".br\nEnvironment: ", o->env);
}

static void roff_section_of(FILE *f, const struct command *c, const struct section *s)
{
    const struct option *o;
    bool first = true;
    for (size_t i = 0; (o = next_of(c, s, true, &i)); first = false) {
        if (first)
            roff_line(f, ".PP\n.I ", s->title);
        roff_option(f, o);
    }
}

static void roff_command(FILE *f, const struct command *c)
{
    roff_line(f, ".SS ", c->name);
    roff_line(f, ".B attn\\-cli ", c->usage);
    roff_line(f, ".PP\n", c->about);
    const struct option *o;
    for (size_t i = 0; !has_many(c) && (o = option_at(c, i)); i++)
        roff_option(f, o);
    for (size_t i = 0; has_many(c) && i < SECTIONS; i++)
        roff_section_of(f, c, &sections[i]);
    if (c->list_title) {
        roff_line(f, ".PP\n", c->list_title);
        roff_pairs(f, list_of(c));
    }
}

static void roff_examples(FILE *f, const struct pair *p)
{
    for (; p->term; p++) {
        roff_line(f, ".PP\n", p->text);
        roff_line(f, ".PP\n.nf\n.RS\n", p->term);
        fputs(".RE\n.fi\n", f);
    }
}

static void print_man(FILE *f)
{
    fputs(".TH ATTN\\-CLI 1 \"\" \"attn\\-cli " ATTN_VERSION "\" \"User Commands\"\n", f);
    roff_section(f, "NAME");
    roff_line(f, "attn\\-cli \\- ", tool_summary);
    roff_section(f, "SYNOPSIS");
    fputs(".B attn\\-cli\n.I COMMAND\n.RI [ options ]\n", f);
    roff_section(f, "DESCRIPTION");
    roff_line(f, "", tool_description);
    roff_section(f, "COMMANDS");
    for (size_t i = 0; commands[i]; i++)
        roff_pairs(f, (const struct pair[]){{commands[i]->name, commands[i]->summary}, {NULL, NULL}});
    roff_section(f, "OPTIONS");
    for (size_t i = 0; commands[i]; i++)
        roff_command(f, commands[i]);
    for (size_t i = 0; i < HELP_TOPICS; i++) {
        roff_section(f, help_topics[i].man);
        roff_line(f, "", help_topics[i].title);
        roff_pairs(f, help_topics[i].list());
    }
    roff_section(f, "EXIT STATUS");
    roff_pairs(f, tool_statuses);
    roff_section(f, "ENVIRONMENT");
    roff_pairs(f, tool_environment);
    roff_section(f, "FILES");
    roff_pairs(f, tool_files);
    roff_section(f, "EXAMPLES");
    roff_examples(f, tool_examples);
    for (size_t i = 0; commands[i]; i++)
        roff_examples(f, commands[i]->examples);
}

/* ---- the command ------------------------------------------------------------------------- */

const char *const completion_shells[] = {"bash", "zsh", "fish", NULL};

static struct { bool man, all, json; const char *shell; } want;

static void print_all(FILE *f)
{
    print_tool(f);
    for (size_t i = 0; commands[i]; i++) {
        fputs("\n\n", f);
        help_print_command(f, commands[i], true);
    }
}

static int help(struct attn_err *err)
{
    const struct command *c = NULL;
    bool every = common.word ? !strcmp(common.word, "all") : want.all;
    if ((want.man || want.shell) && (common.word || want.all || (want.man && want.shell)))
        return attn_fail(err, ATTN_EUSAGE, "--man, --completion%s do not go together", want.all ? " and --all" :
                         " and COMMAND");
    if (want.json && (want.man || want.shell))
        return attn_fail(err, ATTN_EUSAGE, "--json and --%s do not go together", want.man ? "man" : "completion");
    bool topic = common.word && !every && is_topic(common.word);
    if (common.word && !every && !topic && !(c = command_find(common.word, help_words, err)))
        return err->code;
    if (want.json)
        help_print_json(stdout, c);
    else if (topic)
        print_topic(stdout, common.word);
    else if (want.man)
        print_man(stdout);
    else if (want.shell)
        completion_print(stdout, want.shell);
    else if (every)
        print_all(stdout);
    else if (c)
        help_print_command(stdout, c, want.all);
    else
        print_tool(stdout);
    return ATTN_OK;
}

static const struct option options[] = {
    {0, "all", OPT_FLAG, &want.all, NULL,
     "every option of a command that has many, not only the usual ones", .flags = 0},
    {0, "man", OPT_FLAG, &want.man, NULL, "print the man page, for man -l -", .flags = 0},
    {0, "completion", OPT_CHOICE, &want.shell, "SHELL", "print completions for bash, zsh or fish",
     .choices = completion_shells},
    {0, "json", OPT_FLAG, &want.json, NULL, "print all of it for programs: commands, options, formats, and the JSON "
     "Schema of each JSON output", .flags = 0},
    {.name = NULL},
};

const struct command help_command = {
    .name = "help",
    .run = help,
    .usage = "help [COMMAND|TOPIC|all] [--all] [--json]",
    .section = IN_REST,
    .summary = "explain a command, or all of them",
    .about = "Without COMMAND: the list of commands; all: the help of every command.  A TOPIC is a screen of what "
             "commands share: texts, places, activations, edits, kinds of attention, tables.  The man page, the "
             "completions for shells and what programs read are printed from the same table; with COMMAND, --json "
             "prints that command alone.",
    .examples = (const struct pair[]){
        {"attn-cli help run", "what run does: examples and common options"},
        {"attn-cli help run --all", "all of its options"},
        {"attn-cli help edits", "what can be changed in a run, and how that is said"},
        {"attn-cli help texts", "what a command can be asked about"},
        {"attn-cli help --man | man -l -", "the man page"},
        {"attn-cli help --json | jq '.commands[].name'", "for programs"},
        {"eval \"$(attn-cli help --completion bash)\"", "completion in this shell"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){options, general_options, NULL},
    .word = "COMMAND",
    .words = help_words,
    .schemas = (const char *const[]){"help", NULL},
    .report = true,
};

/* man.c - prints the man page as roff.  Every line that starts with user-visible text goes through roff(). */
#include "help.h"

#include "attention.h"

/* Escapes text for roff: hyphens stay hyphens, backslashes survive, and a leading dot or quote is not taken for a request. */
static void roff(FILE *f, const char *s)
{
    if (*s == '.' || *s == '\'')
        fputs("\\&", f);
    for (; *s; s++)
        switch (*s) {
        case '\\': fputs("\\e", f); break;
        case '-': fputs("\\-", f); break;
        case '\'': fputs("\\(aq", f); break;
        case '~': fputs("\\(ti", f); break;
        case '^': fputs("\\(ha", f); break;
        case '`': fputs("\\(ga", f); break;
        default: fputc(*s, f);
        }
}

static void line(FILE *f, const char *request, const char *text)
{
    fputs(request, f);
    roff(f, text);
    fputc('\n', f);
}

static void section(FILE *f, const char *title)
{
    fprintf(f, ".SH %s\n", title);
}

static void pairs(FILE *f, const struct pair *p)
{
    for (; p->term; p++) {
        line(f, ".TP\n.B ", p->term);
        line(f, "", p->text);
    }
}

static void option(FILE *f, const struct option *o)
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
    line(f, "", o->help);
    if (o->env)
        line(f, ".br\nEnvironment: ", o->env);
}

static void command(FILE *f, const struct command *c)
{
    line(f, ".SS ", c->name);
    line(f, ".B attn\\-cli ", c->usage);
    line(f, ".PP\n", c->about);
    const struct option *o;
    for (size_t i = 0; (o = option_at(c, i)); i++)
        option(f, o);
    if (c->list_title) {
        line(f, ".PP\n", c->list_title);
        pairs(f, c->list);
    }
}

static void examples(FILE *f, const struct pair *p)
{
    for (; p->term; p++) {
        line(f, ".PP\n", p->text);
        line(f, ".PP\n.nf\n.RS\n", p->term);
        fputs(".RE\n.fi\n", f);
    }
}

void man_print(FILE *f)
{
    fputs(".TH ATTN\\-CLI 1 \"\" \"attn\\-cli " ATTN_VERSION "\" \"User Commands\"\n", f);
    section(f, "NAME");
    line(f, "attn\\-cli \\- ", tool_summary);
    section(f, "SYNOPSIS");
    fputs(".B attn\\-cli\n.I COMMAND\n.RI [ options ]\n", f);
    section(f, "DESCRIPTION");
    line(f, "", tool_description);
    section(f, "COMMANDS");
    for (size_t i = 0; commands[i]; i++)
        pairs(f, (const struct pair[]){{commands[i]->name, commands[i]->summary}, {NULL, NULL}});
    section(f, "OPTIONS");
    for (size_t i = 0; commands[i]; i++)
        command(f, commands[i]);
    section(f, "ATTENTION");
    line(f, "", attention_title);
    pairs(f, attention_kinds);
    section(f, "EXIT STATUS");
    pairs(f, tool_statuses);
    section(f, "ENVIRONMENT");
    pairs(f, tool_environment);
    section(f, "FILES");
    pairs(f, tool_files);
    section(f, "EXAMPLES");
    examples(f, tool_examples);
    for (size_t i = 0; commands[i]; i++)
        examples(f, commands[i]->examples);
}

/* completion.c - completion scripts for bash, zsh and fish.
 *
 * They use only what each shell has built in, no helper functions of a package.  The type of an option's row decides
 * how its value is completed: words for choices and lists, names of files or directories for paths.  Models' names are
 * those that the program being typed lists itself, quickly, as it opens none of them; if it cannot be run, those it had
 * when this was printed.  A name is only ever compared: a directory may be called $(anything). */
#include "table.h"

#include <string.h>

static void words(FILE *f, const char *const *list, const char *between)
{
    for (size_t i = 0; list[i]; i++)
        fprintf(f, "%s%s", i ? between : "", list[i]);
}

static void choices(FILE *f, const struct option *o, const char *between)
{
    const char *choice;
    for (size_t i = 0; (choice = option_choice(o, i)); i++)
        fprintf(f, "%s%s", i ? between : "", choice);
}

/* The words that may stand in place of a file. */
static void file_words(FILE *f, const struct option *o, const char *between)
{
    if (o->choices)
        choices(f, o, between);
}

/* What may stand in place of the name of a command. */
static void more_words(FILE *f, const struct command *c)
{
    for (size_t i = 0; c->words && c->words[i]; i++)
        fprintf(f, " %s", c->words[i]);
    for (size_t i = 0; c->name_choice && c->name_choice(i); i++)
        fprintf(f, " %s", c->name_choice(i));
}

/* The length of a help text up to its details, without a space at the end. */
static size_t brief(const char *help)
{
    size_t n = strcspn(help, "(:;");
    return n && help[n - 1] == ' ' ? n - 1 : n;
}

/* ---- bash -------------------------------------------------------------------------------- */

static const char bash_head[] =
    "# bash completion for attn-cli, printed by: attn-cli help --completion bash\n"
    "\n"
    "_attn_cli_words()\n"
    "{\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\")\n"
    "}\n"
    "\n"
    "_attn_cli_list()    # completes what follows the last comma\n"
    "{\n"
    "    local before=\n"
    "    [[ $2 == *,* ]] && before=${2%,*},\n"
    "    mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$1\" -- \"${2##*,}\")\n"
    "    compopt -o nospace\n"
    "}\n"
    "\n"
    "_attn_cli_paths()   # -f files, -d directories, after the words of $2\n"
    "{\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$2\" -- \"$3\"; compgen \"$1\" -- \"$3\")\n"
    "    compopt -o filenames\n"
    "}\n"
    "\n"
    "_attn_cli_models()  # names of models, and directories\n"
    "{\n"
    "    local name\n"
    "    mapfile -t COMPREPLY < <(compgen -d -- \"$1\")\n"
    "    while IFS= read -r name; do\n"
    "        if [[ $name == \"$1\"* ]]; then COMPREPLY+=(\"$name\"); fi\n"
    "    done < <(\"${COMP_WORDS[0]}\" models --format names 2>/dev/null </dev/null || printf '%s\\n' ";

/* The names that are built in stand between the two. */
static const char bash_body[] =
    ")\n"
    "    compopt -o filenames\n"
    "}\n"
    "\n"
    "_attn_cli()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    if [[ $prev == \"=\" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
    "    if [[ $cur == \"=\" ]]; then cur=; fi\n"
    "    COMPREPLY=()\n"
    "    if ((COMP_CWORD == 1)); then\n";

static void bash_value(FILE *f, const struct option *o)
{
    switch (o->type) {
    case OPT_LIST:
        fputs("_attn_cli_list '", f);
        choices(f, o, " ");
        fputs("' \"$cur\"", f);
        break;
    case OPT_CHOICE:
    case OPT_SWITCH:
        fputs("_attn_cli_words '", f);
        choices(f, o, " ");
        fputs("' \"$cur\"", f);
        break;
    case OPT_MODEL: fputs("_attn_cli_models \"$cur\"", f); break;
    case OPT_MANY_FILES:
    case OPT_FILE:
        fputs("_attn_cli_paths -f '", f);
        file_words(f, o, " ");
        fputs("' \"$cur\"", f);
        break;
    case OPT_DIR: fputs("_attn_cli_paths -d '' \"$cur\"", f); break;
    default: fputc(':', f);             /* free text: nothing to offer */
    }
}

static void bash_command(FILE *f, const struct command *c)
{
    const struct option *o;
    fprintf(f, "    %s)\n        case $prev in\n", c->name);
    for (size_t i = 0; (o = option_at(c, i)); i++) {
        if (o->type == OPT_FLAG)
            continue;
        fputs("        ", f);
        if (o->letter)
            fprintf(f, "-%c|", o->letter);
        fprintf(f, "--%s) ", o->name);
        bash_value(f, o);
        fputs(" ;;\n", f);
    }
    fprintf(f, "        *) %s '", c->paths ? "_attn_cli_paths -f" : "_attn_cli_words");
    for (size_t i = 0; (o = option_at(c, i)); i++)
        fprintf(f, "%s--%s", i ? " " : "", o->name);
    for (size_t i = 0; c->words && commands[i]; i++)
        fprintf(f, " %s", commands[i]->name);
    more_words(f, c);
    fputs("' \"$cur\" ;;\n        esac ;;\n", f);
}

static void bash(FILE *f)
{
    fputs(bash_head, f);
    words(f, attn_model_builtin(), " ");
    fputs(bash_body, f);
    fputs("        _attn_cli_words '", f);
    for (size_t i = 0; commands[i]; i++)
        fprintf(f, "%s ", commands[i]->name);
    fputs("--help --version' \"$cur\"\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", f);
    for (size_t i = 0; commands[i]; i++)
        bash_command(f, commands[i]);
    fputs("    esac\n}\ncomplete -F _attn_cli attn-cli\n", f);
}

/* ---- zsh --------------------------------------------------------------------------------- */

/* Escapes text for single quotes and, inside them, the brackets of _arguments. */
static void zsh_text(FILE *f, const char *s, size_t len)
{
    for (const char *end = s + len; s < end; s++)
        if (*s == '\'')
            fputs("'\\''", f);
        else if (strchr("[]:\\", *s))
            fprintf(f, "\\%c", *s);
        else
            fputc(*s, f);
}

static void zsh_value(FILE *f, const struct option *o)
{
    fputc(':', f);
    zsh_text(f, o->arg, strlen(o->arg));
    fputc(':', f);
    switch (o->type) {
    case OPT_LIST:
        fputs("_values -s , activation ", f);
        fputc('"', f);
        choices(f, o, "\" \"");
        fputc('"', f);
        break;
    case OPT_CHOICE:
    case OPT_SWITCH:
        fputc('(', f);
        choices(f, o, " ");
        fputc(')', f);
        break;
    case OPT_MODEL:
        fputs("_attn_cli_models", f);
        break;
    case OPT_MANY_FILES:
    case OPT_FILE:
        fputs(o->choices ? " _attn_cli_files " : "_files", f);
        file_words(f, o, " ");
        break;
    case OPT_DIR: fputs("_files -/", f); break;
    default: fputc(' ', f);
    }
}

static void zsh_option(FILE *f, const struct option *o)
{
    bool value = o->type != OPT_FLAG;
    fputs(" \\\n            ", f);
    if (o->letter)
        fprintf(f, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter, value ? "+" :
                "", o->name, value ? "=" : "");
    else
        fprintf(f, "'--%s%s[", o->name, value ? "=" : "");
    zsh_text(f, option_help(o), brief(option_help(o)));
    fputc(']', f);
    if (value)
        zsh_value(f, o);
    fputc('\'', f);
}

static void zsh_command(FILE *f, const struct command *c)
{
    const struct option *o;
    fprintf(f, "    %s)\n        _arguments -s -S", c->name);
    for (size_t i = 0; (o = option_at(c, i)); i++)
        zsh_option(f, o);
    if (c->word) {
        fprintf(f, " \\\n            '%s:%s:%s", c->many ? "*" : ":", c->word, c->paths ? "_files" :
                c->name_choice ? "(" : " _attn_cli_commands");
        more_words(f, c);
        fputs(c->name_choice ? ")'" : "'", f);
    }
    if (c->second)
        fprintf(f, " '::%s:_files'", c->second);
    fputs(" ;;\n", f);
}

static void zsh(FILE *f)
{
    fputs("#compdef attn-cli\n# zsh completion for attn-cli, printed by: attn-cli help --completion zsh\n\n"
          "_attn_cli_commands()\n{\n    local -a commands=(", f);
    for (size_t i = 0; commands[i]; i++) {
        fprintf(f, "\n        '%s:", commands[i]->name);
        zsh_text(f, commands[i]->summary, strlen(commands[i]->summary));
        fputc('\'', f);
    }
    fputs(")\n    (( $# )) && commands+=(\"$@\")\n    _describe -t commands command "
          "commands\n}\n\n_attn_cli_models()\n{\n    local -a names\n    names=(${(f)\"$(${(Q)program} models --format "
          "names 2>/dev/null </dev/null)\"})\n    (( $#names )) || names=(", f);
    words(f, attn_model_builtin(), " ");
    fputs(")\n    _alternative 'names:model:compadd -a names' 'directories:directory:_files "
          "-/'\n}\n\n_attn_cli_files()\n{\n    _alternative \"words:word:($*)\" "
          "'files:file:_files'\n}\n\n_attn_cli()\n{\n    if (( CURRENT == 2 )); then\n        "
          "_attn_cli_commands\n        return\n    fi\n    local program=$words[1] command=$words[2]\n    shift "
          "words\n    (( CURRENT-- ))\n    case $command in\n", f);
    for (size_t i = 0; commands[i]; i++)
        zsh_command(f, commands[i]);
    fputs("    esac\n}\n\n_attn_cli \"$@\"\n", f);
}

/* ---- fish -------------------------------------------------------------------------------- */

static void fish_text(FILE *f, const char *s, size_t len)
{
    fputc('\'', f);
    for (const char *end = s + len; s < end; s++)
        fprintf(f, *s == '\'' || *s == '\\' ? "\\%c" : "%c", *s);
    fputc('\'', f);
}

static void fish_value(FILE *f, const struct option *o)
{
    switch (o->type) {
    case OPT_FLAG: break;
    case OPT_LIST:
        fputs(" -x -a '(__fish_append , \"", f);
        choices(f, o, "\" \"");    /* quoted, because some of the words are wildcards */
        fputs("\")'", f);
        break;
    case OPT_CHOICE:
    case OPT_SWITCH:
        fputs(" -x -a '", f);
        choices(f, o, " ");
        fputc('\'', f);
        break;
    case OPT_MODEL:
        fputs(" -x -a '(__attn_cli_models) (__fish_complete_directories)'", f);
        break;
    case OPT_MANY_FILES:
    case OPT_FILE:
        fputs(o->choices ? " -r -F -a '" : " -r -F", f);
        file_words(f, o, " ");
        fputs(o->choices ? "'" : "", f);
        break;
    case OPT_DIR: fputs(" -x -a '(__fish_complete_directories)'", f); break;
    default: fputs(" -x", f);
    }
}

static void fish_command(FILE *f, const struct command *c)
{
    const struct option *o;
    fprintf(f, "complete -c attn-cli -n __fish_use_subcommand -a %s -d ", c->name);
    fish_text(f, c->summary, strlen(c->summary));
    fputc('\n', f);
    if (c->paths)
        fprintf(f, "complete -c attn-cli -n '__fish_seen_subcommand_from %s' -F\n", c->name);
    if (c->words || c->name_choice) {
        fprintf(f, "complete -c attn-cli -n '__fish_seen_subcommand_from %s' -a '", c->name);
        for (size_t i = 0; c->words && commands[i]; i++)
            fprintf(f, "%s%s", i ? " " : "", commands[i]->name);
        more_words(f, c);
        fputs("'\n", f);
    }
    for (size_t i = 0; (o = option_at(c, i)); i++) {
        fprintf(f, "complete -c attn-cli -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
        if (o->letter)
            fprintf(f, " -s %c", o->letter);
        fish_value(f, o);
        fputs(" -d ", f);
        fish_text(f, option_help(o), brief(option_help(o)));
        fputc('\n', f);
    }
}

static void fish(FILE *f)
{
    fputs("# fish completion for attn-cli, printed by: attn-cli help --completion fish\n\nfunction __attn_cli_models\n"
          "    set -l program (commandline -opc)[1]\n"
          "    command -q $program; and $program models --format names 2>/dev/null </dev/null\n"
          "    or printf '%s\\n' ", f);
    words(f, attn_model_builtin(), " ");
    fputs("\nend\n\ncomplete -c attn-cli -f\n", f);
    for (size_t i = 0; commands[i]; i++)
        fish_command(f, commands[i]);
    fputs("complete -c attn-cli -n __fish_use_subcommand -s h -l help -d 'print help and end'\n"
          "complete -c attn-cli -n __fish_use_subcommand -l version -d 'print the version and end'\n", f);
}

static const struct { const char *name; void (*print)(FILE *f); } shells[] = {{"bash", bash}, {"zsh", zsh},
                                                                              {"fish", fish}};

void completion_print(FILE *f, const char *shell)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(shells[i].name, shell))
            shells[i].print(f);
}

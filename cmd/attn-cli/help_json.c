/* help_json.c - prints the rows of commands, options and formats for programs, with the JSON Schema of what is written
 * as JSON.
 *
 * A schema is a file of schemas/; common.json has the definitions that they share, which each gets on its way out, so
 * that it stands alone. */
#include "table.h"

#include "attn_tools.h"
#include "cli_print.h"
#include "help.h"

#include "base/embed.h"

#include <inttypes.h>
#include <string.h>

/* ---- schemas ----------------------------------------------------------------------------- */

#define SCHEMAS(each) \
    each(run) each(measured) each(record) each(grid) each(journal) each(manifest) each(tokenize) each(many) \
    each(generate) each(score) each(heads) each(lens) each(attribute) each(patch) each(variants) each(diff) \
    each(cosines) each(info) each(tensor) each(models) each(vocabulary) each(settings) each(config) each(bench) \
    each(help)
#define EMBED(of) ATTN_EMBED(attn_schema_##of, "cmd/attn-cli/schemas/" #of ".json");
EMBED(common)
SCHEMAS(EMBED)

#define ROW(of) {#of, attn_schema_##of, attn_schema_##of##_end}
#define ROWS(of) ROW(of),
static const struct schema { const char *name; const unsigned char *text, *end; } schemas[] = {SCHEMAS(ROWS)};

/* What stands in the file from byte `skip` on, without its last line end. */
static void put_file(FILE *f, const struct schema *s, size_t skip)
{
    fwrite(s->text + skip, 1, (size_t)(s->end - s->text) - skip - 1, f);
}

static void put_schema(FILE *f, const struct schema *s)
{
    static const struct schema definitions = ROW(common);
    fputs("{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n\"$defs\": ", f);
    put_file(f, &definitions, 0);
    fputs(",", f);
    put_file(f, s, strlen("{"));
}

static bool has_schema(const struct command *c, const char *name)
{
    for (const char *const *s = c->schemas; s && *s; s++)
        if (!strcmp(*s, name))
            return true;
    return false;
}

static void put_schemas(FILE *f, const struct command *only)
{
    const char *before = "\n";
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        if (only && !has_schema(only, schemas[i].name))
            continue;
        fprintf(f, "%s\"%s\": ", before, schemas[i].name);
        put_schema(f, &schemas[i]);
        before = ",\n";
    }
}

/* ---- lists ------------------------------------------------------------------------------- */

static void put_member(FILE *f, const char *before, const char *key, const char *text)
{
    fprintf(f, "%s\"%s\": ", before, key);
    json_text(f, text);
}

static void put_terms(FILE *f, const struct pair *p)
{
    fputc('[', f);
    for (const char *before = "{"; p->term; p++, before = ", {") {
        put_member(f, before, "term", p->term);
        put_member(f, ", ", "text", p->text);
        fputc('}', f);
    }
    fputc(']', f);
}

static void put_words(FILE *f, const char *key, const char *const *words)
{
    fprintf(f, ", \"%s\": [", key);
    for (size_t i = 0; words && words[i]; i++) {
        fputs(i ? ", " : "", f);
        json_text(f, words[i]);
    }
    fputc(']', f);
}

/* ---- options ----------------------------------------------------------------------------- */

static const struct { const char *name; bool repeats; } types[] = {
    [OPT_FLAG] = {"flag", false}, [OPT_SWITCH] = {"switch", false}, [OPT_TEXT] = {"text", false},
    [OPT_LIST] = {"list", false}, [OPT_FILE] = {"file", false}, [OPT_DIR] = {"directory", false},
    [OPT_MODEL] = {"model", false}, [OPT_CHOICE] = {"choice", false}, [OPT_MANY] = {"text", true},
    [OPT_MANY_FILES] = {"file", true}, [OPT_NUMBER] = {"number", false}, [OPT_REAL] = {"real", false}};

static void put_choices(FILE *f, const struct option *o)
{
    const char *choice;
    if (!o->choices && !o->choice)
        return;
    fputs(", \"choices\": [", f);
    for (size_t i = 0; (choice = option_choice(o, i)); i++) {
        fputs(i ? ", " : "", f);
        json_text(f, choice);
    }
    fputc(']', f);
}

static void put_limits(FILE *f, const struct option *o)
{
    if (o->type != OPT_NUMBER && !(o->type == OPT_REAL && o->max))
        return;
    fprintf(f, ", \"minimum\": %" PRIu64 ", \"maximum\": %" PRIu64, o->min, o->max);
}

static void put_option(FILE *f, const struct option *o)
{
    const char letter[] = {o->letter, '\0'};
    put_member(f, "\n   {", "name", o->name);
    put_member(f, ", ", "letter", *letter ? letter : NULL);
    put_member(f, ", ", "argument", o->arg);
    put_member(f, ", ", "type", types[o->type].name);
    fprintf(f, ", \"repeats\": %s", types[o->type].repeats ? "true" : "false");
    put_choices(f, o);
    put_limits(f, o);
    if (o->env)
        put_member(f, ", ", "environment", o->env);
    fprintf(f, ", \"usual\": %s", o->flags & OPT_USUAL ? "true" : "false");
    put_member(f, ", ", "section", help_section(o));
    put_member(f, ", ", "help", option_help(o));
    fputc('}', f);
}

/* ---- commands ---------------------------------------------------------------------------- */

enum { GROUPS_MOST = 32, GROUP_NAME = 64 };     /* of a command; bytes of a name */

static void put_topics_of(FILE *f, const struct command *c)
{
    const char *taken[HELP_TOPICS + 1] = {NULL};
    size_t n = 0;
    for (size_t i = 0; i < HELP_TOPICS; i++)
        if (help_takes(c, help_topics[i].options))
            taken[n++] = help_topics[i].name;
    put_words(f, "topics", taken);
}

/* Whether several commands have a group of options, which is then written once. */
static bool is_shared(const struct option *group)
{
    size_t n = 0;
    for (size_t i = 0; commands[i]; i++)
        n += help_takes(commands[i], group);
    return n > 1;
}

/* What a shared group is called: as its first option; if an earlier one is called so, with its last option, too. */
static const char *name_group(char name[GROUP_NAME], const struct option *group)
{
    const struct option *last = group;
    bool taken = false, met = false;
    while (last[1].name)
        last++;
    for (size_t i = 0; commands[i] && !met; i++)
        for (const struct option *const *g = commands[i]->groups; *g && !met; g++) {
            met = *g == group;
            taken |= !met && is_shared(*g) && !strcmp((*g)->name, group->name);
        }
    snprintf(name, GROUP_NAME, "%s%s%s", group->name, taken ? "-" : "", taken ? last->name : "");
    return name;
}

static void put_shared_of(FILE *f, const struct command *c)
{
    static char name[GROUPS_MOST][GROUP_NAME];
    const char *names[GROUPS_MOST + 1] = {NULL};
    size_t n = 0;
    for (const struct option *const *g = c->groups; *g && n < GROUPS_MOST; g++)
        if (is_shared(*g)) {
            names[n] = name_group(name[n], *g);
            n++;
        }
    put_words(f, "shared", names);
}

/* The groups that come for the first time with command i, which is the only one with `only`. */
static const char *put_shared(FILE *f, size_t i, bool only, const char *before)
{
    for (const struct option *const *g = commands[i]->groups; *g; g++) {
        bool seen = !is_shared(*g);
        for (size_t k = 0; k < i && !only && !seen; k++)
            seen = help_takes(commands[k], *g);
        if (seen)
            continue;
        char name[GROUP_NAME];
        put_member(f, before, "name", name_group(name, *g));
        fputs(", \"options\": [", f);
        for (const struct option *o = *g; o->name; o++) {
            fputs(o == *g ? "" : ",", f);
            put_option(f, o);
        }
        fputs("]}", f);
        before = ",\n {";
    }
    return before;
}

static void put_list(FILE *f, const struct command *c)
{
    if (!c->list_title)
        return;
    put_member(f, ",\n  \"list\": {", "title", c->list_title);
    fputs(", \"terms\": ", f);
    put_terms(f, c->rows ? c->rows() : c->list);
    fputc('}', f);
}

static void put_command(FILE *f, const struct command *c)
{
    const char *const arguments[] = {c->word, c->second, NULL};
    const char *before = "";
    put_member(f, "\n {", "name", c->name);
    put_member(f, ", ", "summary", c->summary);
    put_member(f, ",\n  ", "usage", c->usage);
    put_member(f, ",\n  ", "about", c->about);
    fputs(",\n  \"examples\": ", f);
    put_terms(f, c->examples);
    put_words(f, "arguments", arguments);
    put_words(f, "schemas", c->schemas);
    put_topics_of(f, c);
    put_shared_of(f, c);
    put_list(f, c);
    fputs(",\n  \"options\": [", f);
    for (const struct option *const *g = c->groups; *g; g++)
        for (const struct option *o = *g; o->name && !is_shared(*g); o++, before = ",") {
            fputs(before, f);
            put_option(f, o);
        }
    fputs("]}", f);
}

/* ---- formats ----------------------------------------------------------------------------- */

static const struct { unsigned flag; const char *of; } written[] = {
    {ATTN_FORMAT_RUN, "run"},
    {ATTN_FORMAT_LINES | ATTN_FORMAT_APART | ATTN_FORMAT_STACK | ATTN_FORMAT_SUMMARY, "batch"},
    {ATTN_FORMAT_TABLE, "tables"}, {ATTN_FORMAT_PICTURE, "pictures"}};

static void put_formats(FILE *f)
{
    const char *before = "\n {";
    for (const struct attn_format *of = NULL; (of = attn_format_next(of)); before = ",\n {") {
        put_member(f, before, "name", of->name);
        put_member(f, ", ", "ending", of->ending);
        put_member(f, ", ", "help", of->help);
        fputs(", \"of\": [", f);
        const char *comma = "";
        for (size_t i = 0; i < sizeof written / sizeof *written; i++)
            if (of->flags & written[i].flag) {
                fprintf(f, "%s\"%s\"", comma, written[i].of);
                comma = ", ";
            }
        fputs("]}", f);
    }
}

/* ---- all of it --------------------------------------------------------------------------- */

static void put_topics(FILE *f)
{
    for (size_t i = 0; i < HELP_TOPICS; i++) {
        put_member(f, i ? ",\n {" : "\n {", "name", help_topics[i].name);
        put_member(f, ", ", "title", help_topics[i].title);
        fputs(", \"terms\": ", f);
        put_terms(f, help_topics[i].list());
        fputc('}', f);
    }
}

static void put_pairs(FILE *f, const char *key, const struct pair *p)
{
    fprintf(f, ",\n\"%s\": ", key);
    put_terms(f, p);
}

void help_print_json(FILE *f, const struct command *only)
{
    put_member(f, "{", "tool", "attn-cli");
    put_member(f, ", ", "version", attn_version());
    put_member(f, ",\n", "summary", tool_summary);
    put_member(f, ",\n", "description", tool_description);
    fputs(",\n\"commands\": [", f);
    const char *before = "";
    for (size_t i = 0; commands[i]; i++)
        if (!only || commands[i] == only) {
            fputs(before, f);
            put_command(f, commands[i]);
            before = ",";
        }
    fputs("],\n\"shared\": [", f);
    before = "\n {";
    for (size_t i = 0; commands[i]; i++)
        if (!only || commands[i] == only)
            before = put_shared(f, i, only != NULL, before);
    fputs("],\n\"topics\": [", f);
    put_topics(f);
    fputs("],\n\"formats\": [", f);
    put_formats(f);
    fputc(']', f);
    put_pairs(f, "environment", tool_environment);
    put_pairs(f, "files", tool_files);
    put_pairs(f, "exit_status", tool_statuses);
    fputs(",\n\"schemas\": {", f);
    put_schemas(f, only);
    fputs("}}\n", f);
}

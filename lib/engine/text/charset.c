/* charset.c - the sets of characters of a regular expression.
 *
 *     [abc] [^a-z] [a[bc]] [a-z&&[^aeiou]]   of these, of others, of both sets, of what two sets have in common
 *     [[:space:]] [[:^punct:]]               by names: digit, xdigit, word, cntrl, too
 *     \s \d \w \h                            white space, decimal digits, parts of words, hexadecimal digits
 *     \p{L} \p{Lu} \p{Letter} \p{Han}        by category or script; \P{L} and \p{^L}, like \S, are the others
 *     \n \x41 \x{1F600} \u00E9 \-            one character */
#include "text/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

#include "base/grow.h"
#include "text/letters.h"

enum { NODES = 1 << 14, NESTED = 8, COMMON = 16 };     /* COMMON: sets with && between them */
/* P and S. */
enum { PUNCTUATION = (2 << UTF8PROC_CATEGORY_SO) - (1 << UTF8PROC_CATEGORY_PC) };

static int32_t refuse(struct attn_regex_reader *p, const char *why)
{
    p->why = why;
    return -1;
}

int32_t attn_charset_add(struct attn_regex_reader *p, const struct attn_charset *set)
{
    struct attn_charsets *sets = &p->r->sets;
    struct attn_charset *node = sets->n < NODES ? attn_grow(sets->node, &sets->room, sets->n + 1, sizeof *node) : NULL;
    if (!node)
        return refuse(p, sets->n < NODES ? NULL : "so many sets of characters");
    sets->node = node;
    node[sets->n] = *set;
    node[sets->n].fold = p->fold;
    node[sets->n].next = node[sets->n].also = -1;
    return (int32_t)sets->n++;
}

static int32_t add_range(struct attn_regex_reader *p, uint32_t first, uint32_t last)
{
    return attn_charset_add(p, &(struct attn_charset){.kind = ATTN_SET_RANGE, .first = first, .last = last});
}

/* ---- escapes --------------------------------------------------------------------------- */

/* The bits of the categories that begin like `name`: "L", "Lu" or, as all of a group, "Letter"; 0: there is none. */
static uint32_t categories(const char *name)
{
    /* as utf8proc counts them */
    static const char short_names[] = "CnLuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCo";
    static const char *const groups[] = {"Letter", "Mark", "Number", "Punctuation", "Symbol", "Separator", "Other"};
    static const char letters[] = "LMNPSZC";
    char two[3] = "";
    uint32_t bits = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcasecmp(name, groups[i]) == 0 || (!name[1] && (name[0] & ~0x20) == letters[i]))
            two[0] = letters[i];
    for (size_t i = 0; short_names[2 * i]; i++) {
        snprintf(two + 1, 2, "%c", short_names[2 * i + 1]);
        if (two[0] ? short_names[2 * i] == two[0] : strncasecmp(name, short_names + 2 * i, 2) == 0 && !name[2])
            bits |= 1u << i;
    }
    return bits;
}

/* {NAME} or {^NAME} behind \p. */
static int32_t read_property(struct attn_regex_reader *p, bool opposite)
{
    char name[32] = "";
    size_t n = 0;
    if (p->at == p->end || *p->at++ != '{')
        return refuse(p, "a property without braces");
    if (p->at < p->end && *p->at == '^') {
        p->at++;
        opposite = !opposite;
    }
    for (; p->at < p->end && *p->at != '}'; p->at++)
        if (!strchr("_ -", *p->at) && n + 1 < sizeof name)
            name[n++] = *p->at;
    if (p->at == p->end || n == 0 || n + 1 == sizeof name)
        return refuse(p, "such a property");
    p->at++;
    struct attn_charset set = {.kind = ATTN_SET_CATEGORIES, .opposite = opposite, .first = categories(name)};
    int32_t script = attn_script_of(name);
    if (set.first)
        return attn_charset_add(p, &set);
    if (script < 0)
        return refuse(p, "such a property");
    return attn_charset_add(p, &(struct attn_charset){.kind = ATTN_SET_SCRIPT, .opposite = opposite,
                                                      .first = (uint32_t)script});
}

static int hex(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* At least `least` and at most `most` hexadecimal digits. */
static int32_t read_code(struct attn_regex_reader *p, int least, int most)
{
    uint32_t c = 0;
    int n = 0;
    for (; n < most && p->at < p->end && hex(*p->at) >= 0; n++)
        c = c * 16 + (uint32_t)hex(*p->at++);
    if (n < least || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return refuse(p, "such a character");
    return add_range(p, c, c);
}

static int32_t read_braced(struct attn_regex_reader *p)
{
    p->at++;
    int32_t set = read_code(p, 1, 8);
    if (set >= 0 && (p->at == p->end || *p->at++ != '}'))
        return refuse(p, "such a character");
    return set;
}

/* Two digits: beyond ASCII they would be a part of a character. */
static int32_t read_byte(struct attn_regex_reader *p)
{
    int32_t set = read_code(p, 1, 2);
    return set >= 0 && p->r->sets.node[set].first > 0x7F ? refuse(p, "a byte beyond ASCII") : set;
}

/* By a letter; its capital is the opposite. */
static int32_t read_kind(struct attn_regex_reader *p, char c)
{
    const bool opposite = !(c & 0x20);
    struct attn_charset set = {.opposite = opposite};
    switch (c | 0x20) {
    case 's': set.kind = ATTN_SET_SPACE; break;
    case 'w': set.kind = ATTN_SET_WORD; break;
    case 'h': set.kind = ATTN_SET_HEX; break;
    case 'd': set.kind = ATTN_SET_CATEGORIES; set.first = 1u << UTF8PROC_CATEGORY_ND; break;
    default: return read_property(p, opposite);
    }
    return attn_charset_add(p, &set);
}

int32_t attn_charset_read_escape(struct attn_regex_reader *p)
{
    static const char names[] = "rntfvae", chars[] = "\r\n\t\f\v\a\x1b";
    size_t step;
    if (p->at == p->end)
        return refuse(p, "a backslash at the end");
    const char c = *p->at, lower = (char)(c | 0x20), *name = strchr(names, c);
    const bool letter = lower >= 'a' && lower <= 'z';
    if (!letter && (unsigned char)(c - '0') > 9) {
        uint32_t itself = attn_utf8_next(p->at, (size_t)(p->end - p->at), &step);
        p->at += step;
        return add_range(p, itself, itself);
    }
    p->at++;
    if (name)
        return add_range(p, (uint32_t)chars[name - names], (uint32_t)chars[name - names]);
    if (letter && strchr("swhdp", lower))
        return read_kind(p, c);
    if (c == 'x')
        return p->at < p->end && *p->at == '{' ? read_braced(p) : read_byte(p);
    if (c == 'u')
        return read_code(p, 4, 4);
    p->at--;
    return refuse(p, "such an escape");
}

/* ---- classes --------------------------------------------------------------------------- */

static int32_t read_class(struct attn_regex_reader *p, int depth);

/* [:space:] or, as its opposite, [:^space:]. */
static int32_t read_name(struct attn_regex_reader *p)
{
    static const struct { const char *name; struct attn_charset set; } names[] = {
        {"space:]", {.kind = ATTN_SET_SPACE}}, {"xdigit:]", {.kind = ATTN_SET_HEX}},
        {"word:]", {.kind = ATTN_SET_WORD}},
        {"punct:]", {.kind = ATTN_SET_CATEGORIES, .first = PUNCTUATION}},
        {"digit:]", {.kind = ATTN_SET_CATEGORIES, .first = 1u << UTF8PROC_CATEGORY_ND}},
        {"cntrl:]", {.kind = ATTN_SET_CATEGORIES, .first = 1u << UTF8PROC_CATEGORY_CC}}};
    const char *at = p->at + 2 + (p->at + 2 < p->end && p->at[2] == '^');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i].name);
        struct attn_charset set = names[i].set;
        if ((size_t)(p->end - at) < n || memcmp(at, names[i].name, n) != 0)
            continue;
        set.opposite = at > p->at + 2;
        p->at = at + n;
        return attn_charset_add(p, &set);
    }
    return refuse(p, "a class by such a name");
}

/* One part of a class: a character, an escape, or a class within the class. */
static int32_t read_part(struct attn_regex_reader *p, int depth)
{
    size_t step;
    if (attn_regex_follows(p, "[:"))
        return read_name(p);
    if (*p->at == '[' || *p->at == '\\')
        return *p->at++ == '[' ? read_class(p, depth + 1) : attn_charset_read_escape(p);
    uint32_t c = attn_utf8_next(p->at, (size_t)(p->end - p->at), &step);
    p->at += step;
    return add_range(p, c, c);
}

static bool is_one(const struct attn_charset *n)
{
    return n->kind == ATTN_SET_RANGE && n->first == n->last;
}

/* Makes a range of the character `part` if a dash and another character follow. */
static bool extend(struct attn_regex_reader *p, int32_t part, int depth)
{
    struct attn_charsets *sets = &p->r->sets;
    bool dash = attn_regex_follows(p, "-") && !attn_regex_follows(p, "-]") && !attn_regex_follows(p, "-&&") &&
                p->at + 1 < p->end;
    if (!is_one(&sets->node[part]) || !dash)
        return true;
    p->at++;
    int32_t last = read_part(p, depth);
    if (last >= 0 && is_one(&sets->node[last]) && sets->node[last].first >= sets->node[part].first)
        sets->node[part].last = sets->node[last].first;
    else if (last >= 0)
        refuse(p, "such a range");
    return last >= 0 && !p->why;
}

/* Parts up to a "]" or "&&". */
static int32_t read_union(struct attn_regex_reader *p, int depth)
{
    int32_t all = attn_charset_add(p, &(struct attn_charset){.kind = ATTN_SET_UNION}), last = -1;
    if (all >= 0)
        p->r->sets.node[all].first = (uint32_t)-1;
    while (all >= 0 && p->at < p->end && *p->at != ']' && !attn_regex_follows(p, "&&")) {
        int32_t part = read_part(p, depth);
        if (part < 0 || !extend(p, part, depth))
            return -1;
        if (last < 0)
            p->r->sets.node[all].first = (uint32_t)part;
        else
            p->r->sets.node[last].next = part;
        last = part;
    }
    return all < 0 || last >= 0 ? all : refuse(p, "an empty class");
}

static int32_t read_class(struct attn_regex_reader *p, int depth)
{
    const bool opposite = attn_regex_follows(p, "^");
    p->at += opposite;
    if (depth == NESTED)
        return refuse(p, "classes so deep within each other");
    int32_t all = read_union(p, depth), last = all;
    for (int sets = 1; last >= 0 && attn_regex_follows(p, "&&"); sets++) {
        if (sets == COMMON)
            return refuse(p, "what so many classes have in common");
        p->at += 2;
        int32_t more = read_union(p, depth);
        if (more < 0)
            return -1;
        p->r->sets.node[last].also = more;
        last = more;
    }
    if (last < 0)
        return -1;
    if (p->at == p->end)
        return refuse(p, "a class without an end");
    p->at++;
    p->r->sets.node[all].opposite = opposite;
    return all;
}

int32_t attn_charset_read_class(struct attn_regex_reader *p)
{
    return read_class(p, 0);
}

/* ---- who is in ------------------------------------------------------------------------- */

bool attn_charset_is_word(uint32_t c, bool alone)
{
    if (alone && c < 0x100 && attn_class_of(c) == ATTN_CLASS_NUMBER)
        return true;
    return c != 0x200C && c != 0x200D && attn_is_word(c);
}

static bool is_part(const struct attn_charset *n, uint32_t c)
{
    switch (n->kind) {
    case ATTN_SET_RANGE: return c >= n->first && c <= n->last;
    case ATTN_SET_CATEGORIES: return n->first & attn_category_bit(c);
    case ATTN_SET_SPACE: return attn_utf8_space(c);
    case ATTN_SET_WORD: return attn_charset_is_word(c, n->first);
    case ATTN_SET_HEX: return c < 128 && hex((char)c) >= 0;
    case ATTN_SET_SCRIPT: return attn_script_has((int32_t)n->first, c);
    default: return false;
    }
}

static bool is_in(const struct attn_charsets *sets, int32_t set, uint32_t c);

/* Whether the set has it, but for `opposite`. */
static bool is_named(const struct attn_charsets *sets, const struct attn_charset *n, uint32_t c)
{
    bool in = false;
    if (n->kind != ATTN_SET_UNION)
        return is_part(n, c);
    for (int32_t part = (int32_t)n->first; part >= 0 && !in; part = sets->node[part].next)
        in = is_in(sets, part, c);
    return in && (n->also < 0 || is_in(sets, n->also, c));
}

static bool is_in(const struct attn_charsets *sets, int32_t set, uint32_t c)
{
    const struct attn_charset *n = &sets->node[set];
    return is_named(sets, n, c) != n->opposite;
}

/* Whether it has the character in another case.  The Turkish i's with and without dot have none; no letter has two. */
static bool is_named_folded(const struct attn_charsets *sets, const struct attn_charset *n, uint32_t c)
{
    /* those that are neither of the two */
    static const struct { utf8proc_int32_t letter; uint32_t like; } more[] = {
        {'k', 0x212A}, {'s', 0x17F}, {0xE5, 0x212B}, {0x1C6, 0x1C5}, {0x1C9, 0x1C8}, {0x1CC, 0x1CB}, {0x1F3, 0x1F2},
        {0x3B2, 0x3D0},
        {0x3B5, 0x3F5}, {0x3B8, 0x3D1}, {0x3B8, 0x3F4}, {0x3B9, 0x345}, {0x3B9, 0x1FBE}, {0x3BA, 0x3F0}, {0x3BC, 0xB5},
        {0x3C0, 0x3D6},
        {0x3C1, 0x3F1}, {0x3C3, 0x3C2}, {0x3C6, 0x3D5}, {0x3C9, 0x2126}, {0x432, 0x1C80}, {0x434, 0x1C81},
        {0x43E, 0x1C82},
        {0x441, 0x1C83}, {0x442, 0x1C84}, {0x442, 0x1C85}, {0x44A, 0x1C86}, {0x463, 0x1C87}, {0x1E61, 0x1E9B},
        {0xA64B, 0x1C88}};
    utf8proc_int32_t upper = utf8proc_toupper((utf8proc_int32_t)c), lower = utf8proc_tolower(upper);
    if (c == 0x130 || c == 0x131)
        return false;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (lower == more[i].letter && is_named(sets, n, more[i].like))
            return true;
    return is_named(sets, n, (uint32_t)upper) || is_named(sets, n, (uint32_t)lower);
}

/* Case is folded in the whole of a class, whatever it is made of, before its opposite is taken. */
bool attn_charset_search(const struct attn_charsets *sets, int32_t set, uint32_t c)
{
    const struct attn_charset *n = &sets->node[set];
    return (is_named(sets, n, c) || (n->fold && is_named_folded(sets, n, c))) != n->opposite;
}

/* How many ranges and the like a search may look at, in as many forms as a letter has. */
static uint32_t weigh(const struct attn_charsets *sets, int32_t set)
{
    const struct attn_charset *n = &sets->node[set];
    uint32_t weight = 1;
    if (n->kind == ATTN_SET_UNION)
        for (int32_t part = (int32_t)n->first; part >= 0; part = sets->node[part].next)
            weight += weigh(sets, part);
    return weight + (n->kind == ATTN_SET_UNION && n->also >= 0 ? weigh(sets, n->also) : 0);
}

void attn_charset_finish(struct attn_charsets *sets)
{
    for (size_t i = 0; i < sets->n; i++)
        sets->node[i].weight = weigh(sets, (int32_t)i) * (sets->node[i].fold ? 4 : 1);
    for (size_t i = 0; i < sets->n; i++)
        for (uint32_t c = 0; c < 128; c++)
            sets->node[i].ascii[c / 64] |= (uint64_t)attn_charset_search(sets, (int32_t)i, c) << c % 64;
}

/* unicode.c - writes what the library asks utf8proc about characters as tables in C, while the engine is built:
 * Debian has utf8proc for machines only.  lib/engine/base/page_unicode.c reads them; both have the same answers for every
 * character, as this asks the library that the program is linked with.
 *
 *     unicode >unicode.h */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UTF8PROC_STATIC
#include <utf8proc.h>

enum { END = 0x110000, BLOCK = 128, LONGEST = 32, STATES = 4096, CLASSES = 64, RECORDS = 2048 };

static const utf8proc_option_t canonical = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE, compatible = UTF8PROC_STABLE |
    UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, composed = UTF8PROC_STABLE | UTF8PROC_COMPOSE;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "unicode: %s\n", what);
    exit(1);
}

/* ---- characters that have all in common ---------------------------------------------------- */

struct record { int32_t lower, upper; uint8_t category, combining, width, class, decomposes; };
static struct record record[RECORDS];
static size_t records;
static struct { unsigned bound, conjunct; utf8proc_int32_t example; } class[CLASSES];
static size_t classes;

static size_t class_of(utf8proc_int32_t c)
{
    const utf8proc_property_t *p = utf8proc_get_property(c);
    unsigned conjunct = 0;
#if UTF8PROC_VERSION_MAJOR > 2 || UTF8PROC_VERSION_MINOR >= 9
    conjunct = p->indic_conjunct_break;
#endif
    for (size_t i = 0; i < classes; i++)
        if (class[i].bound == p->boundclass && class[i].conjunct == conjunct)
            return i;
    if (classes == CLASSES)
        fail("too many classes");
    class[classes].bound = p->boundclass;
    class[classes].conjunct = conjunct;
    class[classes].example = c;
    return classes++;
}

static size_t record_of(utf8proc_int32_t c)
{
    const utf8proc_property_t *p = utf8proc_get_property(c);
    struct record r;
    memset(&r, 0, sizeof r);
    r.lower = utf8proc_tolower(c) - c;
    r.upper = utf8proc_toupper(c) - c;
    r.category = (uint8_t)utf8proc_category(c);
    r.combining = (uint8_t)p->combining_class;
    r.width = (uint8_t)utf8proc_charwidth(c);
    r.class = (uint8_t)class_of(c);
    r.decomposes = p->decomp_seqindex != UINT16_MAX;
    for (size_t i = 0; i < records; i++)
        if (!memcmp(&record[i], &r, sizeof r))
            return i;
    if (records == RECORDS)
        fail("too many records");
    record[records] = r;
    return records++;
}

static void write_records(void)
{
    static uint16_t block[END / BLOCK][BLOCK];
    size_t blocks = 0;
    static unsigned first[END / BLOCK];
    for (int32_t b = 0; b < END / BLOCK; b++) {
        for (int32_t i = 0; i < BLOCK; i++)
            block[blocks][i] = (uint16_t)record_of(b * BLOCK + i);
        size_t same = 0;
        while (memcmp(block[same], block[blocks], sizeof *block))
            same++;
        first[b] = (unsigned)same;
        blocks += same == blocks;
    }
    printf("enum { BLOCK = %d };\nstatic const uint16_t first[] = {", BLOCK);
    for (size_t b = 0; b < END / BLOCK; b++)
        printf("%s%u,", b % 24 ? "" : "\n", first[b]);
    printf("\n};\nstatic const uint16_t block[][BLOCK] = {");
    for (size_t b = 0; b < blocks; b++) {
        printf("\n{");
        for (size_t i = 0; i < BLOCK; i++)
            printf("%u,", block[b][i]);
        printf("},");
    }
    printf("\n};\nstatic const struct record records[] = {\n");
    for (size_t i = 0; i < records; i++)
        printf("{%d,%d,%u,%u,%u,%u,%u},\n", record[i].lower, record[i].upper, record[i].category, record[i].combining,
               record[i].width, record[i].class, record[i].decomposes);
    printf("};\n");
}

/* ---- decomposing and composing ------------------------------------------------------------- */

static size_t decompose(utf8proc_int32_t to[LONGEST], utf8proc_int32_t c, utf8proc_option_t how)
{
    int class_before = 0;
    utf8proc_ssize_t n = utf8proc_decompose_char(c, to, LONGEST, how, &class_before);
    if (n < 1 || n > LONGEST)
        fail("a long decomposition");
    return (size_t)n;
}

static bool is_syllable(utf8proc_int32_t c) { return c >= 0xAC00 && c < 0xAC00 + 11172; }

struct parts { utf8proc_int32_t canonical[LONGEST], compatible[LONGEST]; size_t n, m; };
static struct parts parts_of(utf8proc_int32_t c)
{
    struct parts p;
    p.n = decompose(p.canonical, c, canonical);
    p.m = decompose(p.compatible, c, compatible);
    if (p.n == p.m && !memcmp(p.canonical, p.compatible, p.n * sizeof *p.canonical))
        p.m = 0;                        /* the same */
    if (p.n == 1 && p.canonical[0] == c)
        p.n = 0;                        /* itself */
    return p;
}

static void write_parts(const utf8proc_int32_t *part, size_t n, int shift)
{
    for (size_t i = 0; i < n; i++)
        printf("%d,", (int)part[i] >> shift & 0xffff);
}

/* Hangul is not in a table. */
static bool decomposes(utf8proc_int32_t c)
{
    return utf8proc_get_property(c)->decomp_seqindex != UINT16_MAX && !is_syllable(c);
}

/* Of each character that decomposes: where its parts are, and how many of both kinds; 0: it stays, or both are one. */
static void write_decompositions(void)
{
    for (int shift = 0; shift <= 16; shift += 16) {
        printf("static const uint%d_t parts%d[] = {", shift ? 8 : 16, shift);
        for (utf8proc_int32_t c = 0; c < END; c++)
            if (decomposes(c)) {
                const struct parts p = parts_of(c);
                write_parts(p.canonical, p.n, shift);
                write_parts(p.compatible, p.m, shift);
                printf("\n");
            }
        printf("};\n");
    }
    printf("static const struct decomposed decomposed[] = {");
    for (utf8proc_int32_t c = 0, before = 0; c < END; c++)
        if (decomposes(c)) {
            const struct parts p = parts_of(c);
            printf("\n{%d,%zu,%zu},", (int)(c - before), p.n, p.m);
            before = c;
        }
    printf("\n};\n");
}

/* The pairs that become one character. */
static void write_pairs(void)
{
    printf("static const struct pair pairs[] = {");
    for (utf8proc_int32_t c = 0; c < END; c++) {
        utf8proc_int32_t part[LONGEST];
        size_t n = is_syllable(c) ? 0 : decompose(part, c, canonical);
        if (n < 2)
            continue;
        const utf8proc_int32_t last = part[n - 1];
        utf8proc_ssize_t left = utf8proc_normalize_utf32(part, (utf8proc_ssize_t)n - 1, composed);
        utf8proc_int32_t two[] = {part[0], last};
        if (left == 1 && utf8proc_normalize_utf32(two, 2, composed) == 1 && two[0] == c)
            printf("\n{%d,%d,%d},", (int)part[0], (int)last, (int)c);
    }
    printf("\n};\n");
}

/* ---- what stands together ------------------------------------------------------------------ */

/* The states of utf8proc_grapheme_break_stateful that can be reached, from 0 on, and what becomes of each: the next,
 * and whether there is a break, by the classes of two characters. */
static void write_breaks(void)
{
    static utf8proc_int32_t state[STATES];
    size_t states = 1;
    printf("enum { CLASSES = %zu };\nstatic const uint8_t breaks[][CLASSES][CLASSES] = {", classes);
    for (size_t s = 0; s < states; s++) {
        printf("\n{");
        for (size_t a = 0; a < classes; a++) {
            printf("{");
            for (size_t b = 0; b < classes; b++) {
                utf8proc_int32_t next = state[s];
                int apart = utf8proc_grapheme_break_stateful(class[a].example, class[b].example, &next);
                size_t to = 0;
                while (to < states && state[to] != next)
                    to++;
                if (to == STATES)
                    fail("too many states");
                if (to == states)
                    state[states++] = next;
                if (to > 127)
                    fail("too many states");
                printf("%zu,", to * 2 + (apart != 0));
            }
            printf("},");
        }
        printf("},");
    }
    printf("\n};\n");
}

int main(void)
{
    printf("/* Made by data/engine/unicode.c from utf8proc %s, Unicode %s. */\n", utf8proc_version(),
           utf8proc_unicode_version());
    write_records();
    write_decompositions();
    write_pairs();
    write_breaks();
    return ferror(stdout) || fflush(stdout);
}

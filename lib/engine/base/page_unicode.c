/* page_unicode.c - what the library calls of utf8proc, for WebAssembly alone, from tables that data/engine/unicode.c
 * makes of the utf8proc of the program: a tenth of that library's own. */
#define UTF8PROC_STATIC
#include <utf8proc.h>

#include <stdbool.h>
#include <stddef.h>

struct record { int32_t lower, upper; uint8_t category, combining, width, class, decomposes; };
/* step: from the character before; how many parts, one kind behind the other (parts0: their lower 16 bits, parts16: the
 * upper).  canonical 0: it stays; compatible 0: as the other. */
struct decomposed { uint16_t step; uint8_t canonical, compatible; };
struct pair { int32_t first, second, both; };
#include <unicode.h>                    /* made by data/engine/unicode.c */

enum {
    END = 0x110000,
    L0 = 0x1100, V0 = 0x1161, T0 = 0x11A7, S0 = 0xAC00,                 /* Hangul is composed by its numbers */
    LS = 19, VS = 21, TS = 28, SS = LS * VS * TS
};

static const struct record *record_of(int32_t c)
{
    static const struct record none = {.category = 0};
    return c < 0 || c >= END ? &none : &records[block[first[c / BLOCK]][c % BLOCK]];
}

utf8proc_category_t utf8proc_category(utf8proc_int32_t c) { return (utf8proc_category_t)record_of(c)->category; }
utf8proc_int32_t utf8proc_tolower(utf8proc_int32_t c) { return c + record_of(c)->lower; }
utf8proc_int32_t utf8proc_toupper(utf8proc_int32_t c) { return c + record_of(c)->upper; }
int utf8proc_charwidth(utf8proc_int32_t c) { return record_of(c)->width; }

/* The members that the library reads, until the next call. */
const utf8proc_property_t *utf8proc_get_property(utf8proc_int32_t c)
{
    static utf8proc_property_t p;
    const struct record *r = record_of(c);
    p.category = r->category;
    p.combining_class = r->combining;
    p.decomp_seqindex = r->decomposes ? 0 : UINT16_MAX;
    return &p;
}

utf8proc_bool utf8proc_grapheme_break_stateful(utf8proc_int32_t a, utf8proc_int32_t b, utf8proc_int32_t *state)
{
    const uint8_t to = breaks[*state][record_of(a)->class][record_of(b)->class];
    *state = to / 2;
    return to & 1;
}

/* ---- decomposing --------------------------------------------------------------------------- */

enum { DECOMPOSED = sizeof decomposed / sizeof *decomposed, EVERY = 64 };

/* The entry of a character, and where its parts are, *at: found by those of each 64th, which are added up once. */
static const struct decomposed *decomposed_of(int32_t c, size_t *at)
{
    static struct { int32_t c; uint32_t at; } mark[DECOMPOSED / EVERY + 1];
    size_t m = 0;
    int32_t here = 0;
    uint32_t parts = 0;
    for (size_t i = 0; !mark[0].c && i < DECOMPOSED; i++) {
        here += decomposed[i].step;
        if (i % EVERY == 0)
            mark[i / EVERY].c = here, mark[i / EVERY].at = parts;
        parts += decomposed[i].canonical + decomposed[i].compatible;
    }
    while (m + 1 < sizeof mark / sizeof *mark && mark[m + 1].c && mark[m + 1].c <= c)
        m++;
    const struct decomposed *d = &decomposed[m * EVERY];
    here = mark[m].c;
    *at = mark[m].at;
    while (here < c) {
        *at += d->canonical + d->compatible;
        d++;
        here += d->step;
    }
    return d;
}

static utf8proc_ssize_t put(utf8proc_int32_t *to, utf8proc_ssize_t room, const int32_t *part, utf8proc_ssize_t n)
{
    for (utf8proc_ssize_t i = 0; i < n && i < room; i++)
        to[i] = part[i];
    return n;
}

utf8proc_ssize_t utf8proc_decompose_char(utf8proc_int32_t c, utf8proc_int32_t *to, utf8proc_ssize_t room,
                                         utf8proc_option_t how, int *last_class)
{
    (void)last_class;
    const int32_t s = c - S0;
    if (s >= 0 && s < SS) {
        const int32_t part[] = {L0 + s / (VS * TS), V0 + s % (VS * TS) / TS, T0 + s % TS};
        return put(to, room, part, s % TS ? 3 : 2);
    }
    if (!record_of(c)->decomposes)
        return put(to, room, &c, 1);
    size_t at;
    const struct decomposed *d = decomposed_of(c, &at);
    const bool compatible = how & UTF8PROC_COMPAT && d->compatible;
    const utf8proc_ssize_t n = compatible ? d->compatible : d->canonical;
    at += compatible ? d->canonical : 0;
    for (utf8proc_ssize_t i = 0; i < n && i < room; i++)
        to[i] = parts0[at + (size_t)i] | parts16[at + (size_t)i] << 16;
    return n ? n : put(to, room, &c, 1);
}

/* ---- composing ----------------------------------------------------------------------------- */

/* What two characters become; 0: they stay two. */
static int32_t both(int32_t a, int32_t b)
{
    if (a >= L0 && a < L0 + LS && b >= V0 && b < V0 + VS)
        return S0 + ((a - L0) * VS + b - V0) * TS;
    if (a >= S0 && a < S0 + SS && (a - S0) % TS == 0 && b >= T0 && b < T0 + TS)
        return a + b - T0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].first == a && pairs[i].second == b)
            return pairs[i].both;
    return 0;
}

/* Of characters that are decomposed and in order.  One is joined to the last of class 0 unless one between them has its
 * class or a higher one. */
utf8proc_ssize_t utf8proc_normalize_utf32(utf8proc_int32_t *c, utf8proc_ssize_t n, utf8proc_option_t how)
{
    utf8proc_ssize_t kept = 0, starter = -1;
    int highest = -1;
    if (!(how & UTF8PROC_COMPOSE))
        return n;
    for (utf8proc_ssize_t i = 0; i < n; i++) {
        const int class = record_of(c[i])->combining;
        const int32_t joined = starter >= 0 && class > highest ? both(c[starter], c[i]) : 0;
        if (joined) {
            c[starter] = joined;
            continue;
        }
        c[kept] = c[i];
        if (!class) {
            starter = kept;
            highest = -1;
        } else if (class > highest)
            highest = class;
        kept++;
    }
    return kept;
}

#include "text/pretoken.h"

#include <endian.h>
#include <string.h>

/* A row of the table: how the length of the first match of s is found, of at most so many numbers; and the pattern. */
struct row {
    size_t (*match)(const char *s, size_t len, const struct row *row);
    size_t most;
    const char *pattern, *other;        /* other: a second way to write it */
};

/* Sets the top bit of each of eight bytes that is not an ASCII letter. */
static uint64_t not_letters(uint64_t bytes)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t lower = (bytes | ones * 0x20) & ones * 0x7F;
    return ~((lower + ones * (0x80 - 'a')) & ~(lower + ones * (0x7F - 'z')) & ~bytes) & ones * 0x80;
}

/* Skips ASCII letters from `at` on, as far as eight bytes can be read at a time. */
static size_t skip_letters(const char *s, size_t len, size_t at)
{
    for (; at + 8 <= len; at += 8) {
        uint64_t bytes, others;
        memcpy(&bytes, s + at, sizeof bytes);
        others = not_letters(le64toh(bytes));
        if (others)
            return at + (size_t)__builtin_ctzll(others) / 8;
    }
    return at;
}

/* End of the run of characters of one class that continues at `at`. */
static size_t run(const char *s, size_t len, size_t at, enum attn_class class)
{
    size_t step;
    if (class == ATTN_CLASS_LETTER)
        at = skip_letters(s, len, at);
    while (at < len && attn_class_at(s + at, len - at, &step) == class)
        at += step;
    return at;
}

static bool newline(char c)
{
    return c == '\n' || c == '\r';
}

/* Whether s continues with `word`, which is in lower case; `fold` ignores case. */
static bool goes_on(const char *s, const char *word, bool fold)
{
    char upper = fold ? 0x20 : 0;
    while (*word && (*s | upper) == *word) {
        s++;
        word++;
    }
    return !*word;
}

/* Length of 's 't 're 've 'm 'll 'd at s, or 0.  When folding case, U+017F is an s too. */
static size_t contraction(const char *s, size_t len, bool fold)
{
    static const char *const endings[] = {"s", "t", "m", "d", "re", "ve", "ll"};
    if (s[0] != '\'')
        return 0;
    if (fold && len >= 3 && memcmp(s + 1, "\u017f", 2) == 0)
        return 3;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (len > n && goes_on(s + 1, endings[i], fold))
            return 1 + n;
    }
    return 0;
}

/* \s+(?!\S)|\s+ at white space: the run, without its last character if something follows. */
static size_t spaces(const char *s, size_t len)
{
    size_t end = run(s, len, 0, ATTN_CLASS_SPACE), last = end - 1;
    if (end == len)
        return end;
    while (((unsigned char)s[last] & 0xC0) == 0x80)
        last--;
    return last > 0 ? last : end;
}

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static size_t gpt2(const char *s, size_t len, const struct row *row)
{
    (void)row;
    size_t n = contraction(s, len, false), lead = s[0] == ' ' && len > 1, step;
    if (n > 0)
        return n;
    enum attn_class class = attn_class_at(s + lead, len - lead, &step);
    return class == ATTN_CLASS_SPACE ? spaces(s, len) : run(s, len, lead + step, class);
}

static size_t numbers(const char *s, size_t len, size_t most)
{
    size_t at = 0, step;
    for (; most > 0 && at < len && attn_class_at(s + at, len - at, &step) == ATTN_CLASS_NUMBER; most--)
        at += step;
    return at;
}

/* [^\r\n\p{L}\p{N}]?\p{L}+: its length, or 0 if it does not match. */
static size_t letters(const char *s, size_t len)
{
    size_t step, next;
    enum attn_class class = attn_class_at(s, len, &step);
    if (class == ATTN_CLASS_NUMBER || newline(s[0]))
        return 0;
    if (class != ATTN_CLASS_LETTER && (step == len || attn_class_at(s + step, len - step, &next) != ATTN_CLASS_LETTER))
        return 0;
    return run(s, len, step, ATTN_CLASS_LETTER);
}

/* ` ?[^\s\p{L}\p{N}]+[\r\n]*`: its length, or 0 if it does not match. */
static size_t others(const char *s, size_t len)
{
    size_t lead = s[0] == ' ', at = run(s, len, lead, ATTN_CLASS_OTHER);
    if (at == lead)
        return 0;
    while (at < len && newline(s[at]))
        at++;
    return at;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ at white space: up to the last line end of the run, if there is one. */
static size_t blank_lines(const char *s, size_t len)
{
    size_t end = run(s, len, 0, ATTN_CLASS_SPACE);
    while (end > 0 && !newline(s[end - 1]))
        end--;
    return end > 0 ? end : spaces(s, len);
}

/* (?i:'s|'t|'re|'ve|'m|'ll|'d), then letters, \p{N}{1,most}, others, blank_lines. */
static size_t modern(const char *s, size_t len, const struct row *row)
{
    size_t n = contraction(s, len, true);
    if (n == 0)
        n = letters(s, len);
    if (n == 0)
        n = numbers(s, len, row->most);
    if (n == 0)
        n = others(s, len);
    return n > 0 ? n : blank_lines(s, len);
}

/* ---- words that end where their case changes, and words with marks ---------------------- */

enum {
    HEAD = ATTN_IS_UPPER | ATTN_IS_CASELESS | ATTN_IS_MARK, TAIL = ATTN_IS_LOWER | ATTN_IS_CASELESS | ATTN_IS_MARK,
    MARKED = ATTN_IS_LETTER | ATTN_IS_MARK
};

static unsigned kind_at(const char *s, size_t len, size_t *step)
{
    return attn_kind_of_char(attn_utf8_next(s, len, step));
}

/* Where the run of characters of these kinds that begins at byte `at` ends. */
static size_t run_of(const char *s, size_t len, size_t at, unsigned kinds)
{
    size_t step;
    while (at < len && (kind_at(s + at, len - at, &step) & kinds))
        at += step;
    return at;
}

/* [HEAD]*[TAIL]+ from byte `at` on: where it ends, or 0.  Without a tail behind the heads, the last of them that can be
 * both is the tail. */
static size_t head_and_tail(const char *s, size_t len, size_t at)
{
    size_t heads = run_of(s, len, at, HEAD), end = run_of(s, len, heads, TAIL), last = 0, step;
    if (end > heads)
        return end;
    for (; at < heads; at += step)
        if (kind_at(s + at, len - at, &step) & TAIL)
            last = at + step;
    return last;
}

/* [HEAD]+[TAIL]* */
static size_t heads_alone(const char *s, size_t len, size_t at)
{
    size_t heads = run_of(s, len, at, HEAD);
    return heads > at ? run_of(s, len, heads, TAIL) : 0;
}

static size_t marked(const char *s, size_t len, size_t at)
{
    size_t end = run_of(s, len, at, MARKED);
    return end > at ? end : 0;
}

/* One character that is not of the kinds `never`, if it is there, then a word; without that character if there is no
 * word behind it.  Its length, or 0. */
static size_t led(const char *s, size_t len, unsigned never, size_t (*word)(const char *s, size_t len, size_t at))
{
    size_t step, n = 0;
    if (!(kind_at(s, len, &step) & never))
        n = word(s, len, step);
    return n > 0 ? n : word(s, len, 0);
}

enum { NO_LEAD = ATTN_IS_NEWLINE | ATTN_IS_LETTER | ATTN_IS_NUMBER, NO_LEAD_EITHER = ATTN_IS_NEWLINE | ATTN_IS_LETTER |
       ATTN_IS_PUNCTUATION | ATTN_IS_SYMBOL };

/* ` ?[not of these kinds]+[\r\n]*`, where a slash may stand among the line ends; its length, or 0. */
static size_t rest(const char *s, size_t len, unsigned kinds, bool slash)
{
    size_t lead = s[0] == ' ', at = lead, step;
    while (at < len && !(kind_at(s + at, len - at, &step) & kinds))
        at += step;
    if (at == lead)
        return 0;
    while (at < len && (newline(s[at]) || (slash && s[at] == '/')))
        at++;
    return at;
}

static size_t by_case(const char *s, size_t len, const struct row *row)
{
    size_t n = led(s, len, NO_LEAD, head_and_tail);
    if (n == 0)
        n = led(s, len, NO_LEAD, heads_alone);
    if (n > 0)
        return n + (row->most > 1 && n < len ? contraction(s + n, len - n, true) : 0);
    n = numbers(s, len, row->most);
    if (n == 0)
        n = rest(s, len, ATTN_IS_SPACE | ATTN_IS_LETTER | ATTN_IS_NUMBER, true);
    return n > 0 ? n : blank_lines(s, len);
}

static size_t qwen35(const char *s, size_t len, const struct row *row)
{
    size_t n = contraction(s, len, true);
    if (n == 0)
        n = led(s, len, NO_LEAD, marked);
    if (n == 0)
        n = numbers(s, len, row->most);
    if (n == 0)
        n = rest(s, len, ATTN_IS_SPACE | MARKED | ATTN_IS_NUMBER, false);
    return n > 0 ? n : blank_lines(s, len);
}

/* ---- patterns that leave gaps ---------------------------------------------------------- */

static bool is_ascii_letter(char c)
{
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

/* [ASCII punctuation][A-Za-z]+ */
static size_t punctuated(const char *s, size_t len)
{
    size_t n = 1;
    if ((unsigned char)s[0] >= 0x80 || !attn_is_punctuation((unsigned char)s[0]))
        return 0;
    while (n < len && is_ascii_letter(s[n]))
        n++;
    return n > 1 ? n : 0;
}

static size_t deepseek(const char *s, size_t len, const struct row *row)
{
    size_t n = punctuated(s, len), lead = s[0] == ' ', step;
    (void)row;
    if (n == 0)
        n = led(s, len, NO_LEAD_EITHER, marked);
    if (n == 0 && (n = run_of(s, len, lead, ATTN_IS_PUNCTUATION | ATTN_IS_SYMBOL)) > lead)
        while (n < len && newline(s[n]))
            n++;
    else if (n == lead)
        n = 0;
    if (n > 0)
        return n;
    return attn_class_at(s, len, &step) == ATTN_CLASS_SPACE ? blank_lines(s, len) : 0;
}

static bool ends_bloom(uint32_t c)
{
    static const uint32_t ends[] = {'(', ')', '|', '.', ',', '!', '?', 0x2026, 0x3002, 0xFF0C, 0x3001, 0x964, 0x6D4,
                                    0x60C};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (c == ends[i])
            return true;
    return attn_utf8_space(c);
}

static size_t bloom(const char *s, size_t len, const struct row *row)
{
    size_t lead = s[0] == ' ', at = lead, step;
    (void)row;
    while (at < len && !ends_bloom(attn_utf8_next(s + at, len - at, &step)))
        at += step;
    return at > lead ? at : 0;
}

/* \s+$, where $ is the end of the text or of a line. */
static size_t last_spaces(const char *s, size_t len, const struct row *row)
{
    size_t end = run(s, len, 0, ATTN_CLASS_SPACE);
    (void)row;
    if (end == len)
        return end;
    while (end > 0 && s[end] != '\n')
        end--;
    return end;
}

static size_t number(const char *s, size_t len, const struct row *row)
{
    return numbers(s, len, row->most);
}

/* Bytes spelled by a character that is a number are the digits and six of Latin-1. */
static size_t spelled_number(const char *s, size_t len, const struct row *row)
{
    unsigned char c = (unsigned char)s[0];
    (void)len;
    (void)row;
    return (c >= '0' && c <= '9') || c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0xBC && c <= 0xBE);
}

static size_t punctuation(const char *s, size_t len, const struct row *row)
{
    size_t step;
    (void)row;
    return attn_is_punctuation(attn_utf8_next(s, len, &step)) ? step : 0;
}

static size_t space(const char *s, size_t len, const struct row *row)
{
    size_t step;
    (void)row;
    return attn_utf8_space(attn_utf8_next(s, len, &step)) ? step : 0;
}

/* \w+|[^\w\s]+ */
static size_t word(const char *s, size_t len, const struct row *row)
{
    size_t at, step;
    uint32_t c = attn_utf8_next(s, len, &at);
    bool is_word = attn_is_word(c);
    (void)row;
    if (!is_word && attn_utf8_space(c))
        return 0;
    for (; at < len; at += step) {
        c = attn_utf8_next(s + at, len - at, &step);
        if (attn_is_word(c) != is_word || (!is_word && attn_utf8_space(c)))
            break;
    }
    return at;
}

/* ---- the table ------------------------------------------------------------------------- */

#define CONTRACTIONS "'s|'t|'re|'ve|'m|'ll|'d"
#define LEAD "[^\\r\\n\\p{L}\\p{N}]?"
#define BLANKS "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define OTHERS " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" BLANKS
#define WITH_SLASH " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" BLANKS
#define HEADS "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define TAILS "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define LATER "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|"
#define LATER_OTHERS " ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"

static const struct row rows[ATTN_PRETOKENS] = {
    [ATTN_PRETOKEN_GPT2] = {gpt2, 0, CONTRACTIONS "| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
                            "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"},
    [ATTN_PRETOKEN_LLAMA3] = {modern, 3, "(?i:" CONTRACTIONS ")|" LEAD "\\p{L}+|\\p{N}{1,3}|" OTHERS,
                              LATER "\\p{N}{1,3}|" LATER_OTHERS},
    [ATTN_PRETOKEN_QWEN2] = {modern, 1, "(?i:" CONTRACTIONS ")|" LEAD "\\p{L}+|\\p{N}|" OTHERS, NULL},
    [ATTN_PRETOKEN_QWEN35] = {qwen35, 1,
                              "(?i:" CONTRACTIONS ")|" LEAD "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+"
                              "[\\r\\n]*" BLANKS, NULL},
    [ATTN_PRETOKEN_O200K] = {by_case, 3,
                             LEAD HEADS "*" TAILS "+(?i:" CONTRACTIONS ")?|" LEAD HEADS "+" TAILS "*(?i:" CONTRACTIONS
                             ")?|\\p{N}{1,3}|" WITH_SLASH, NULL},
    [ATTN_PRETOKEN_TEKKEN] = {by_case, 1, LEAD HEADS "*" TAILS "+|" LEAD HEADS "+" TAILS "*|\\p{N}|" WITH_SLASH, NULL},
    [ATTN_PRETOKEN_DEEPSEEK] = {deepseek, 0,
                                "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|"
                                "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|"
                                "\\s*[\r\n]+|\\s+(?!\\S)|\\s+", NULL},
    [ATTN_PRETOKEN_BLOOM] = {bloom, 0, " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+", NULL},
    [ATTN_PRETOKEN_LAST_SPACES] = {last_spaces, 0, "\\s+$", NULL},
    [ATTN_PRETOKEN_NUMBERS] = {number, 1, NULL, NULL},
    [ATTN_PRETOKEN_SPELLED_NUMBERS] = {spelled_number, 0, NULL, NULL},
    [ATTN_PRETOKEN_PUNCTUATION] = {punctuation, 0, NULL, NULL},
    [ATTN_PRETOKEN_SPACES] = {space, 0, NULL, NULL},
    [ATTN_PRETOKEN_WORDS] = {word, 0, NULL, NULL},
};

size_t attn_pretoken_next(enum attn_pretoken cut, const char *s, size_t len)
{
    return rows[cut].match(s, len, &rows[cut]);
}

enum attn_pretoken attn_pretoken_of(const char *pattern)
{
    enum attn_pretoken cut = 0;
    for (; cut < ATTN_PRETOKENS; cut++)
        if ((rows[cut].pattern && strcmp(pattern, rows[cut].pattern) == 0) ||
            (rows[cut].other && strcmp(pattern, rows[cut].other) == 0))
            return cut;
    return ATTN_PRETOKEN_REGEX;
}

const char *attn_pretoken_pattern(enum attn_pretoken cut)
{
    return rows[cut].pattern;
}

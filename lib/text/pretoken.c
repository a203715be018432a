#include "text/pretoken.h"

#include <endian.h>
#include <string.h>

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

enum { FIRST_NEW = 0x1123F };

/* Letters and numbers added by Unicode 15, in ascending order. */
static const struct { uint32_t first, last; } newer[] = {
    {FIRST_NEW, 0x11240}, {0x11F02, 0x11F02}, {0x11F04, 0x11F10}, {0x11F12, 0x11F33}, {0x11F50, 0x11F59},
    {0x1342F, 0x1342F}, {0x13441, 0x13446}, {0x1B132, 0x1B132}, {0x1B155, 0x1B155}, {0x1D2C0, 0x1D2D3},
    {0x1DF25, 0x1DF2A}, {0x1E030, 0x1E06D}, {0x1E4D0, 0x1E4EB}, {0x1E4F0, 0x1E4F9}, {0x2B739, 0x2B739},
    {0x31350, 0x323AF},
};

static bool is_newer(uint32_t c)
{
    size_t i = 0;
    while (i < sizeof newer / sizeof *newer && newer[i].last < c)
        i++;
    return i < sizeof newer / sizeof *newer && newer[i].first <= c;
}

enum attn_class attn_class_of(uint32_t c)
{
    enum attn_class class = ATTN_CLASS_OTHER;
    if (attn_utf8_space(c))
        return ATTN_CLASS_SPACE;
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_LU: case UTF8PROC_CATEGORY_LL: case UTF8PROC_CATEGORY_LT: case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        class = ATTN_CLASS_LETTER;
        break;
    case UTF8PROC_CATEGORY_ND: case UTF8PROC_CATEGORY_NL: case UTF8PROC_CATEGORY_NO:
        class = ATTN_CLASS_NUMBER;
        break;
    default:
        break;
    }
    return class != ATTN_CLASS_OTHER && c >= FIRST_NEW && is_newer(c) ? ATTN_CLASS_OTHER : class;
}

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
static size_t gpt2(const char *s, size_t len, size_t most_numbers)
{
    (void)most_numbers;
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

/* (?i:'s|'t|'re|'ve|'m|'ll|'d), then letters, \p{N}{1,most_numbers}, others, blank_lines. */
static size_t modern(const char *s, size_t len, size_t most_numbers)
{
    size_t n = contraction(s, len, true);
    if (n == 0)
        n = letters(s, len);
    if (n == 0)
        n = numbers(s, len, most_numbers);
    if (n == 0)
        n = others(s, len);
    return n > 0 ? n : blank_lines(s, len);
}

static size_t digits(const char *s, size_t len, size_t most)
{
    size_t n = numbers(s, len, most), step;
    if (n > 0)
        return n;
    while (n < len && attn_class_at(s + n, len - n, &step) != ATTN_CLASS_NUMBER)
        n += step;
    return n;
}

#define CONTRACTIONS "'s|'t|'re|'ve|'m|'ll|'d"
#define LETTERS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define OTHERS " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* How each cut finds the length of the first piece, of at most so many numbers, and the pattern it stands for. */
static const struct {
    size_t (*next)(const char *s, size_t len, size_t most);
    size_t most;
    const char *pattern;
} cuts[ATTN_PRETOKENS] = {
    [ATTN_PRETOKEN_GPT2] = {gpt2, 0, CONTRACTIONS "| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"},
    [ATTN_PRETOKEN_LLAMA3] = {modern, 3, "(?i:" CONTRACTIONS ")|" LETTERS "|\\p{N}{1,3}|" OTHERS},
    [ATTN_PRETOKEN_QWEN2] = {modern, 1, "(?i:" CONTRACTIONS ")|" LETTERS "|\\p{N}|" OTHERS},
    [ATTN_PRETOKEN_DIGITS] = {digits, 1, NULL},
    [ATTN_PRETOKEN_DIGIT_RUNS] = {digits, SIZE_MAX, NULL},
};

size_t attn_pretoken_next(enum attn_pretoken cut, const char *s, size_t len)
{
    return cuts[cut].next(s, len, cuts[cut].most);
}

enum attn_pretoken attn_pretoken_of(const char *pattern)
{
    enum attn_pretoken cut = 0;
    while (cut < ATTN_PRETOKENS && !(cuts[cut].pattern && strcmp(pattern, cuts[cut].pattern) == 0))
        cut++;
    return cut;
}

/* Bytes, character classes and pieces: what happens before byte-level BPE merges anything. */
#include "suites.h"

#include "shared.h"

#include "base/utf8.h"
#include "text/bytes.h"
#include "text/normal.h"
#include "text/pretoken.h"
#include "text/subword.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(test_bytes)
{
    static const struct { unsigned char byte; const char *spelled; } rows[] = {
        {0, "\u0100"}, {'\n', "\u010a"}, {' ', "\u0120"}, {'!', "!"}, {'~', "~"}, {0x7f, "\u0121"}, {0xa0, "\u0142"},
        {0xa1, "\u00a1"}, {0xac, "\u00ac"}, {0xad, "\u0143"}, {0xae, "\u00ae"}, {0xff, "\u00ff"},
    };
    char spelled[4], back[8];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = attn_bytes_spell(spelled, rows[i].byte);
        ck_assert_uint_eq(len, strlen(rows[i].spelled));
        ck_assert_mem_eq(spelled, rows[i].spelled, len);
    }
    for (unsigned b = 0; b < 256; b++) {
        size_t len = attn_bytes_spell(spelled, (unsigned char)b);
        ck_assert_uint_eq(attn_bytes_read(back, spelled, len), 1);
        ck_assert_uint_eq((unsigned char)back[0], b);
    }
    ck_assert_uint_eq(attn_bytes_read(back, "\u0120a", 3), 2);
    ck_assert_uint_eq(attn_bytes_read(back, "a b", 3), SIZE_MAX);
    ck_assert_uint_eq(attn_bytes_read(back, "\u0144", 2), SIZE_MAX);
    ck_assert_uint_eq(attn_bytes_read(back, "\u00ad", 2), SIZE_MAX);
}
END_TEST

/* Gives a class to each range "41-5A" or single number in a line of hexadecimal numbers. */
static void mark(unsigned char *class, char *line, enum attn_class as)
{
    for (char *s = strtok(line, " \n"); s; s = strtok(NULL, " \n")) {
        char *end;
        unsigned long first = strtoul(s, &end, 16), last = *end == '-' ? strtoul(end + 1, NULL, 16) : first;
        ck_assert(first <= last && last < 0x110000);
        for (; first <= last; first++)
            class[first] = (unsigned char)as;
    }
}

/* The file's sections: letters, numbers and others of Unicode 14, what a newer version adds, white space. */
START_TEST(test_classes)
{
    static const enum attn_class sections[] = {
        ATTN_CLASS_LETTER, ATTN_CLASS_NUMBER, ATTN_CLASS_OTHER, ATTN_CLASS_OTHER, ATTN_CLASS_SPACE
    };
    const char *path = shared_path("bpe-vectors/classes.txt");
    char *line = NULL;
    size_t room = 0, section = 0;
    FILE *f = path ? fopen(path, "r") : NULL;
    if (!f)
        return;
    unsigned char *class = calloc(0x110000, 1);
    ck_assert_int_eq(ATTN_CLASS_OTHER, 0);
    while (getline(&line, &room, f) > 0) {
        if (line[0] == '#')
            section++;
        else if (sections[section - 1] != ATTN_CLASS_OTHER)
            mark(class, line, sections[section - 1]);
    }
    ck_assert_uint_eq(section, 5);
    for (uint32_t c = 0; c < 0x110000; c++) {
        char s[4];
        size_t step;
        if (c >= 0xD800 && c < 0xE000)
            continue;
        if (attn_class_of(c) != class[c] || attn_class_at(s, attn_utf8_put(s, c), &step) != class[c])
            ck_abort_msg("U+%04X is %d, expected %d", c, attn_class_of(c), class[c]);       /* one check each is slow */
    }
    free(class);
    free(line);
    fclose(f);
}
END_TEST

/* Pieces are separated by |; what is removed is between two of them in angle brackets. */
static const struct { enum attn_pretoken cut; const char *pieces; enum attn_behavior behavior; bool invert;
                      const char *of; } cuts[] = {
    {ATTN_PRETOKEN_GPT2, "Hello| world|!", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "a| |\n|b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "a|\n| b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "a|  | b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "a|   ", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, " ", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "it|'s| we|'ll| they|'ve| I|'m| you|'re| he|'d| don|'t", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "IT|'|S", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "'s|a|'", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, " '|s", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "12345|abc|?!", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "x|\u00b2\u00bd\u2167", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "e|\u0301|a", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "\u00a0|a", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "\u3000|\u3000|a", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "\u180e", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "a|\x1c|b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "\U00011f02", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_GPT2, "a|\U00011f02|b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "Hello| world|!", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "IT|'S| we|'Ll| it|'\u017f|a", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "'s|a|'t", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "123|456|7", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "a| |123", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "(a|.b| c|\tdef", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "a| .|b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "a|!!\n\n| b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "a| !\r\n|b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "a| \n\n|  | b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "a|\n| b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "a|\n|b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "a| \t\r\n", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "a|  | b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "a|\u00a0b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LLAMA3, "\u0301a|\u0301|1", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_QWEN2, "a|1|2|3| b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_QWEN2, "IT|'S| |1|'RE", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_QWEN2, "a|?\n|1", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_NUMBERS, "abc |1|2|\u00bd|?", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_NUMBERS, "7", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_NUMBERS, "abc |12\u00bd|? ", ATTN_CONTIGUOUS, false, NULL},
    {ATTN_PRETOKEN_QWEN35, "e\u0301te\u0301| \u0301a\u0301|1|2|'S|a\u0301|!?\n", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_O200K, "ABCdef|Ghi|JKL| camel|Case|ABC\u65e5|DEF|123|4", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_O200K, "\u0301|!!//\n|IT's| don't| Don'T|'s", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_O200K, "(ab|(AB\u0301\u0301c| \n|  | x", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_TEKKEN, "Hello|World|'s|1|2", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_DEEPSEEK, ".abc|,| def| ...\n|ab| \u0301c|  | x|\u200b1", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_BLOOM, "Hello|,| world|!! (|a| b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LAST_SPACES, "a  b|  ", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_LAST_SPACES, "a|  |\nb", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_SPELLED_NUMBERS, "a|1|2|b", ATTN_ISOLATED, false, NULL},
    {ATTN_PRETOKEN_PUNCTUATION, "a|.,!|b|$|c\u2e43|\u3002", ATTN_CONTIGUOUS, false, NULL},
    {ATTN_PRETOKEN_SPACES, "<  >|a|<\u3000\n>|b|< >", ATTN_REMOVED, false, NULL},
    {ATTN_PRETOKEN_WORDS, "caf\u00e9_1|< >|?!|\u200dx", ATTN_REMOVED, true, NULL},
    {ATTN_PRETOKEN_LITERAL, "-|the|-|final|-|-|countdown|-", ATTN_ISOLATED, false, "-"},
    {ATTN_PRETOKEN_LITERAL, "<->|the|<->|final|<-->|countdown|<->", ATTN_REMOVED, false, "-"},
    {ATTN_PRETOKEN_LITERAL, "-|the-|final-|-|countdown-", ATTN_WITH_PREVIOUS, false, "-"},
    {ATTN_PRETOKEN_LITERAL, "-the|-final|-|-countdown|-", ATTN_WITH_NEXT, false, "-"},
    {ATTN_PRETOKEN_LITERAL, "-|the|-|final|--|countdown|-", ATTN_CONTIGUOUS, false, "-"},
    {ATTN_PRETOKEN_REGEX, "ab|123|4|c|5", ATTN_ISOLATED, false, "\\p{N}{1,3}"},
    {ATTN_PRETOKEN_REGEX, "12|345|6", ATTN_ISOLATED, false, "[3-5][3-5][3-5]"},
    {ATTN_PRETOKEN_REGEX, "ab| ,c| def|!", ATTN_ISOLATED, false, "\\s?[a-bd-z]+"},
    {ATTN_PRETOKEN_REGEX, "a|\u4e00\u9fa5|b", ATTN_ISOLATED, false, "[\u4e00-\u9fa5\u3040-\u309f]+"},
    {ATTN_PRETOKEN_REGEX, "ab|\n|\r|c", ATTN_ISOLATED, false, "[\\r\\n]"},
    /* alternatives count in their order, not by length */
    {ATTN_PRETOKEN_REGEX, "a|b", ATTN_ISOLATED, false, "a|ab"},
    {ATTN_PRETOKEN_REGEX, "ab|c", ATTN_ISOLATED, false, "(?:a|ab)(?=c)"},
    {ATTN_PRETOKEN_REGEX, "aa|a", ATTN_ISOLATED, false, "a{2,3}?"},
    {ATTN_PRETOKEN_REGEX, "aaa|a", ATTN_ISOLATED, false, "a{2,3}"},
    {ATTN_PRETOKEN_REGEX, "b|aaaa|b", ATTN_ISOLATED, false, "a{1,2}+a"},
    {ATTN_PRETOKEN_REGEX, "xab|y|abab", ATTN_ISOLATED, false, "(x|ab)(ab)+?"},
    {ATTN_PRETOKEN_REGEX, "a{|2}|{x|}", ATTN_ISOLATED, false, "a\\{|{x"},
    /* nothing is given back */
    {ATTN_PRETOKEN_REGEX, "aab", ATTN_ISOLATED, false, "a?+ab"},
    {ATTN_PRETOKEN_REGEX, "a|ab", ATTN_ISOLATED, false, "a?+b"},
    {ATTN_PRETOKEN_REGEX, "aaa", ATTN_ISOLATED, false, "a++a|a*+a"},
    {ATTN_PRETOKEN_REGEX, "aab|b", ATTN_ISOLATED, false, "a++b"},
    /* digits in threes from the right: empty matches cut, and are no pieces */
    {ATTN_PRETOKEN_REGEX, "1|234|567 89", ATTN_ISOLATED, false, "(?=(\\d{3})+(?!\\d))"},
    {ATTN_PRETOKEN_REGEX, "1|234|567", ATTN_CONTIGUOUS, false, "(?=(\\d{3})+(?!\\d))"},
    {ATTN_PRETOKEN_REGEX, "b|<aa>|b", ATTN_REMOVED, false, "a*"},
    {ATTN_PRETOKEN_REGEX, "camel|Case|X", ATTN_ISOLATED, false, "(?<=[a-z])(?=[A-Z])"},
    {ATTN_PRETOKEN_REGEX, "a1|2| |3", ATTN_ISOLATED, false, "(?<![a-z])\\d"},
    /* edges; ^ and $ are those of lines */
    {ATTN_PRETOKEN_REGEX, "ab|\n|cd|\n", ATTN_ISOLATED, false, "^.+$"},
    {ATTN_PRETOKEN_REGEX, "a|ba\na", ATTN_ISOLATED, false, "\\Aa"},
    {ATTN_PRETOKEN_REGEX, "aba\n|a", ATTN_ISOLATED, false, "a\\z"},
    {ATTN_PRETOKEN_REGEX, "ab|a|\n", ATTN_ISOLATED, false, "a\\Z"},
    {ATTN_PRETOKEN_REGEX, "ab|, |c\u00bd", ATTN_ISOLATED, false, "\\b"},
    {ATTN_PRETOKEN_REGEX, "a|b|,| |c|d", ATTN_ISOLATED, false, "\\B|\\b"},
    /* case: that of letters and classes, before the opposite is taken, but not of a property that stands alone */
    {ATTN_PRETOKEN_REGEX, "x|'S|x|'\u017f|'t", ATTN_ISOLATED, false, "'(?i:s)"},
    {ATTN_PRETOKEN_REGEX, "AB|ab|Ab|aB", ATTN_ISOLATED, false, "(?i)ab"},
    {ATTN_PRETOKEN_REGEX, "aX|ax", ATTN_ISOLATED, false, "a(?i:x)"},
    {ATTN_PRETOKEN_REGEX, "a|\u212a|K|\u03a3|\u03c2|\u0131", ATTN_ISOLATED, false, "(?i:[k\u03c3i])"},
    {ATTN_PRETOKEN_REGEX, "A|bc|a", ATTN_ISOLATED, false, "(?i:[^a]+)"},
    {ATTN_PRETOKEN_REGEX, "a|\u03c3|\u03a3|\u03bc|b", ATTN_ISOLATED, false, "(?i:\u03c2)|(?i:[\u00b5])"},
    {ATTN_PRETOKEN_REGEX, "!|+|-", ATTN_ISOLATED, false, "[!-&&!]|[-&&+]|[-&&\\-]"},
    {ATTN_PRETOKEN_REGEX, "aBcD", ATTN_ISOLATED, false, "(?i:[\\p{Lu}&&[^d]]+)"},
    {ATTN_PRETOKEN_REGEX, "a|B|c", ATTN_ISOLATED, false, "(?i:\\p{Lu})"},
    /* classes */
    {ATTN_PRETOKEN_REGEX, "a|bd|c|b", ATTN_ISOLATED, false, "[a-d&&[^ac]]+"},
    {ATTN_PRETOKEN_REGEX, "ab1|c|2b", ATTN_ISOLATED, false, "[a[b]\\d]+"},
    {ATTN_PRETOKEN_REGEX, "-+|a|]|b|^", ATTN_CONTIGUOUS, false, "[-+\\]^]"},
    {ATTN_PRETOKEN_REGEX, "\u00e9A|B|\u65e5", ATTN_ISOLATED, false, "\\u00e9\\x41|\\x{65E5}"},
    {ATTN_PRETOKEN_REGEX, "a1|G|\u0663", ATTN_ISOLATED, false, "\\h+|\\d"},
    {ATTN_PRETOKEN_REGEX, "a| $.|b\u3002|\x01|c", ATTN_ISOLATED, false,
     "[[:space:]$.]+|[[:^space:]&&[[:punct:]b]]+|[[:cntrl:]]"},
    {ATTN_PRETOKEN_REGEX, "\u00bd|_\u00e9\u0301|,", ATTN_ISOLATED, false, "[\\w]+"},
    {ATTN_PRETOKEN_REGEX, "\u00bd_\u00e9\u0301|,", ATTN_ISOLATED, false, "\\w+"},
    {ATTN_PRETOKEN_REGEX, "a|A|\u01c5|1", ATTN_ISOLATED, false, "\\p{Lu}|\\p{lt}"},
    {ATTN_PRETOKEN_REGEX, "ab|,|\u2028", ATTN_ISOLATED, false, "\\p{Letter}+|\\P{L}"},
    {ATTN_PRETOKEN_REGEX, "a|\u6f22|\u304b|\u30ab|\ud55c", ATTN_ISOLATED, false,
     "\\p{Han}|\\p{hiragana}|\\p{Katakana}|\\p{^Hangul}"},
};

static size_t strip(char *out, const char *pieces)
{
    size_t n = 0;
    for (; *pieces; pieces++)
        if (!strchr("|<>", *pieces))
            out[n++] = *pieces;
    return n;
}

static struct attn_regex *regex_of(const char *pattern)
{
    struct attn_regex *r = NULL;
    const char *why = NULL;
    size_t at;
    ck_assert_msg(attn_regex_read(&r, pattern, &why, &at) == ATTN_OK, "'%s': %s", pattern, why);
    return r;
}

START_TEST(test_cuts)
{
    char text[128], got[256] = "";
    const char *piece, *end = text;
    size_t len = strip(text, cuts[_i].pieces), n = 0, size;
    struct attn_split cut = {.pattern = cuts[_i].cut, .behavior = cuts[_i].behavior, .invert = cuts[_i].invert};
    if (cut.pattern == ATTN_PRETOKEN_LITERAL) {
        cut.literal = strdup(cuts[_i].of);
        cut.literal_len = strlen(cuts[_i].of);
    }
    if (cut.pattern == ATTN_PRETOKEN_REGEX)
        cut.regex = regex_of(cuts[_i].of);
    struct attn_regex_effort effort = {0};
    struct attn_cutter cutter = {.cut = &cut, .s = text, .len = len, .effort = &effort};
    attn_regex_allow(&effort, len);
    while (attn_cutter_next(&cutter, &piece, &size)) {
        ck_assert(size > 0 && piece >= end && piece + size <= text + len);
        if (piece > end)
            n += (size_t)snprintf(got + n, sizeof got - n, "%s<%.*s>", n ? "|" : "", (int)(piece - end), end);
        n += (size_t)snprintf(got + n, sizeof got - n, "%s%.*s", n ? "|" : "", (int)size, piece);
        end = piece + size;
    }
    if (end < text + len)
        snprintf(got + n, sizeof got - n, "|<%.*s>", (int)(text + len - end), end);
    ck_assert_str_eq(got, cuts[_i].pieces);
    attn_split_free(&cut);
}
END_TEST

/* What is hard for patterns: letters with marks, numbers that are none, spaces of all kinds, contractions
 * in any case. */
static const char *const hard[] = {
    "a", "B", "the", "Word", "ABC", "\u00e9", "e\u0301", "\u0301", "\u00df", "\u0130", "\u0131", "\u01c5", "\u02b0",
    "\u00aa", "\u65e5\u672c", "\u3042",
    "\ud55c", "\u0915\u094d", "0", "12", "345", "\u00b2", "\u00bd", "\u2167", "\u0663", " ", "  ", "\t", "\n", "\r\n",
    "\u00a0", "\u3000", "\u2028", "\xc2\x85",
    "\x1c", "\u180e", "\u200b", "\u200d", "'s", "'S", "'\u017f", "'ll", "'Re", "'", "-", "_", ".", ",", "!?", "/", "(",
    ")", "|", "\u2026", "\u3002", "$", "+",
    "\u20ac", "\U0001f468", "\U00011f02", "\x01"};

/* The scanners are the patterns that they are named by, cut by cut. */
START_TEST(test_scanners)
{
    char text[512];
    uint64_t state = 7;
    size_t compared = 0;
    for (enum attn_pretoken p = 0; p < ATTN_PRETOKENS; p++) {
        if (!attn_pretoken_pattern(p))
            continue;
        struct attn_split by_scanner = {.pattern = p},
            by_regex = {.pattern = ATTN_PRETOKEN_REGEX, .regex = regex_of(attn_pretoken_pattern(p))};
        for (int round = 0; round < 2000; round++) {
            size_t len = 0, n = 0, m = 0;
            for (int i = 0; i < 16; i++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                const char *part = hard[(state >> 33) % (sizeof hard / sizeof *hard)];
                memcpy(text + len, part, strlen(part));
                len += strlen(part);
            }
            struct attn_regex_effort effort = {0};
            struct attn_cutter a = {.cut = &by_scanner, .s = text, .len = len},
                               b = {.cut = &by_regex, .s = text, .len = len, .effort = &effort};
            attn_regex_allow(&effort, len);
            const char *x = NULL, *y = NULL;
            for (bool more = true; more; compared++) {
                more = attn_cutter_next(&a, &x, &n);
                ck_assert(attn_cutter_next(&b, &y, &m) == more);
                ck_assert_msg(!more || (x == y && n == m),
                              "%d cuts %.*s at %zu + %zu, its pattern at %zu + %zu", (int)p, (int)len, text,
                              (size_t)(x - text), n, (size_t)(y - text), m);
            }
        }
        attn_split_free(&by_regex);
    }
    ck_assert_uint_gt(compared, 100000);
}
END_TEST

/* Letters are compared eight at a time: a run of them must end at the right place whatever its length and next byte. */
START_TEST(test_letters_end)
{
    char text[64];
    for (size_t n = 1; n < 24; n++)
        for (int c = 0; c < 0x80; c++) {
            bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
            memset(text, "azAZ"[n % 4], sizeof text);
            text[n] = (char)c;
            ck_assert_uint_eq(attn_pretoken_next(ATTN_PRETOKEN_GPT2, text, n + 20), letter ? n + 20 : n);
            ck_assert_uint_eq(attn_pretoken_next(ATTN_PRETOKEN_GPT2, text, n + 1), letter ? n + 1 : n);
        }
    for (size_t n = 1; n < 24; n++) {
        memset(text, 'x', sizeof text);
        memcpy(text + n, "\u00e9", 2);                              /* also a letter */
        ck_assert_uint_eq(attn_pretoken_next(ATTN_PRETOKEN_GPT2, text, 60), 60);
        memcpy(text + n, "\u00d7", 2);                              /* a multiplication sign */
        ck_assert_uint_eq(attn_pretoken_next(ATTN_PRETOKEN_GPT2, text, 60), n);
    }
}
END_TEST

START_TEST(test_patterns)
{
    ck_assert_int_eq(attn_pretoken_of("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
                                      "\\s+(?!\\S)|\\s+"),
                     ATTN_PRETOKEN_GPT2);
    ck_assert_int_eq(attn_pretoken_of("\\s+"), ATTN_PRETOKEN_REGEX);
    ck_assert_int_eq(attn_pretoken_of(""), ATTN_PRETOKEN_REGEX);
}
END_TEST

/* A text, its normal form, and for each byte of the form where it starts and ends in the text. */
static const struct { const char *text, *form, *start, *end; } forms[] = {
    {"abc", "abc", "012", "123"},
    {"e\u0301x", "\u00e9x", "003", "334"},
    {"xe\u0301", "x\u00e9", "011", "144"},
    {"\u00e9", "\u00e9", "01", "12"},
    {"a\u0300", "\u00e0", "00", "33"},                        /* the first of the marks */
    {"\u1112\u1175\u11c2", "\ud7a3", "000", "999"},         /* the last of the syllables */
    {"\u212b!", "\u00c5!", "003", "334"},
    {"\u1100\u1161\u11a8z", "\uac01z", "0009", "999:"},
    {"\uac00\u11a8", "\uac01", "000", "666"},
    {"a\u0323\u0307", "\u1ea1\u0307", "00000", "55555"},
    {"a\u0307\u0323", "\u1ea1\u0307", "00000", "55555"},
    {"\u0301", "\u0301", "01", "12"},
    {"\u0958", "\u0915\u093c", "000000", "333333"},
    {"\u4e00\u4e8c", "\u4e00\u4e8c", "012345", "123456"},
};

static const struct attn_normal nfc = {.kind = ATTN_NORMAL_NFC};

START_TEST(test_nfc)
{
    struct attn_mapped t = {0};
    ck_assert(attn_normal_apply(&t, &nfc, forms[_i].text, strlen(forms[_i].text), false));
    ck_assert_uint_eq(t.len, strlen(forms[_i].form));
    ck_assert_mem_eq(t.text, forms[_i].form, t.len);
    for (size_t i = 0; i < t.len; i++) {
        ck_assert_uint_eq(attn_mapped_start(&t, i), (size_t)(forms[_i].start[i] - '0'));
        ck_assert_uint_eq(attn_mapped_end(&t, i + 1), (size_t)(forms[_i].end[i] - '0'));
    }
    attn_mapped_free(&t);
}
END_TEST

/* Moving each mark past all others one at a time would take hours. */
START_TEST(test_many_marks)
{
    enum { N = 200000 };
    char *text = malloc(1 + 4 * N), *s = text;
    struct attn_mapped t = {0};
    *s++ = 'q';
    for (int i = 0; i < N; i++)
        s += attn_utf8_put(s, i % 2 ? 0x323 : 0x307);
    ck_assert(attn_normal_apply(&t, &nfc, text, (size_t)(s - text), false));
    ck_assert_uint_eq(t.len, (size_t)(s - text));
    ck_assert_mem_eq(t.text + 1, "\u0323\u0323", 4);
    ck_assert_mem_eq(t.text + t.len - 4, "\u0307\u0307", 4);
    attn_mapped_free(&t);
    free(text);
}
END_TEST

Suite *suite_pretoken(void)
{
    Suite *s = suite_create("pretoken");
    TCase *t = tcase_create("pretoken");
    tcase_add_test(t, test_bytes);
    tcase_add_test(t, test_classes);
    tcase_add_loop_test(t, test_cuts, 0, (int)(sizeof cuts / sizeof *cuts));
    tcase_add_test(t, test_scanners);
    tcase_add_test(t, test_letters_end);
    tcase_add_test(t, test_patterns);
    tcase_add_loop_test(t, test_nfc, 0, (int)(sizeof forms / sizeof *forms));
    tcase_add_test(t, test_many_marks);
    suite_add_tcase(s, t);
    return s;
}

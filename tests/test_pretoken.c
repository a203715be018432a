/* Bytes, character classes and pieces: what happens before byte-level BPE merges anything. */
#include "suites.h"

#include "shared.h"

#include "base/utf8.h"
#include "text/bytes.h"
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
static const struct { enum attn_pretoken cut; const char *pieces; enum attn_behavior behavior; bool invert; const char *of; } cuts[] = {
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
    {ATTN_PRETOKEN_CLASS, "ab|123|4|c|5", ATTN_ISOLATED, false, "\\p{N}{1,3}"},
    {ATTN_PRETOKEN_CLASS, "12|345|6", ATTN_ISOLATED, false, "[3-5][3-5][3-5]"},
    {ATTN_PRETOKEN_CLASS, "ab| ,c| def|!", ATTN_ISOLATED, false, "\\s?[a-bd-z]+"},
    {ATTN_PRETOKEN_CLASS, "a|\u4e00\u9fa5|b", ATTN_ISOLATED, false, "[\u4e00-\u9fa5\u3040-\u309f]+"},
    {ATTN_PRETOKEN_CLASS, "ab|\n|\r|c", ATTN_ISOLATED, false, "[\\r\\n]"},
};

static size_t strip(char *out, const char *pieces)
{
    size_t n = 0;
    for (; *pieces; pieces++)
        if (!strchr("|<>", *pieces))
            out[n++] = *pieces;
    return n;
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
    if (cut.pattern == ATTN_PRETOKEN_CLASS)
        ck_assert_ptr_nonnull(cut.class = attn_charclass_read(cuts[_i].of));
    struct attn_cutter cutter = {.cut = &cut, .s = text, .len = len};
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

/* Classes within classes, and what else is not known, are no class patterns. */
START_TEST(test_no_class)
{
    static const char *const patterns[] = {"", "a", "[", "[]", "[a", "[^", "[a[b]]+", "[a&&b]", "[b-a]", "[a-\\s]", "\\d+", "\\p{Han}",
        "[a]*", "[a]{2}", "[a]+b", "[a]?", "[a]?[b]?[c]", "[a]+[b]+", "[a][b]+", "[a]{1,}", "[a]{1,10}", "(a)", "[\\x]", "\\S+"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct attn_charclass *c = attn_charclass_read(patterns[i]);
        ck_assert_msg(c == NULL, "'%s' was read", patterns[i]);
    }
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
    ck_assert_int_eq(attn_pretoken_of("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"),
                     ATTN_PRETOKEN_GPT2);
    ck_assert_int_eq(attn_pretoken_of("\\s+"), ATTN_PRETOKENS);
    ck_assert_int_eq(attn_pretoken_of(""), ATTN_PRETOKENS);
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
    tcase_add_test(t, test_no_class);
    tcase_add_test(t, test_letters_end);
    tcase_add_test(t, test_patterns);
    tcase_add_loop_test(t, test_nfc, 0, (int)(sizeof forms / sizeof *forms));
    tcase_add_test(t, test_many_marks);
    suite_add_tcase(s, t);
    return s;
}

#include "text/letters.h"

#define UTF8PROC_STATIC                 /* we link its static library */
#include <utf8proc.h>

enum { FIRST_NEW = 0x1123F };

struct range { uint32_t first, last; };

/* Letters and numbers added by Unicode 15, in ascending order. */
static const struct range newer[] = {
    {FIRST_NEW, 0x11240}, {0x11F02, 0x11F02}, {0x11F04, 0x11F10}, {0x11F12, 0x11F33}, {0x11F50, 0x11F59},
    {0x1342F, 0x1342F}, {0x13441, 0x13446}, {0x1B132, 0x1B132}, {0x1B155, 0x1B155}, {0x1D2C0, 0x1D2D3},
    {0x1DF25, 0x1DF2A}, {0x1E030, 0x1E06D}, {0x1E4D0, 0x1E4EB}, {0x1E4F0, 0x1E4F9}, {0x2B739, 0x2B739},
    {0x31350, 0x323AF},
};

static bool is_among(const struct range *range, size_t n, uint32_t c)
{
    size_t i = 0;
    while (i < n && range[i].last < c)
        i++;
    return i < n && range[i].first <= c;
}

static bool is_newer(uint32_t c) { return is_among(newer, sizeof newer / sizeof *newer, c); }

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

/* Punctuation added after Unicode 8, in ascending order. */
static const struct range later[] = {
    {0x61D, 0x61D}, {0x9FD, 0x9FD}, {0xA76, 0xA76}, {0xC77, 0xC77}, {0xC84, 0xC84}, {0x1B7D, 0x1B7E}, {0x2E43, 0x2E4F},
    {0x2E52, 0x2E5D}, {0x10EAD, 0x10EAD}, {0x10F55, 0x10F59}, {0x10F86, 0x10F89}, {0x1144B, 0x1144F},
    {0x1145A, 0x1145B},
    {0x1145D, 0x1145D}, {0x11660, 0x1166C}, {0x116B9, 0x116B9}, {0x1183B, 0x1183B}, {0x11944, 0x11946},
    {0x119E2, 0x119E2},
    {0x11A3F, 0x11A46}, {0x11A9A, 0x11A9C}, {0x11A9E, 0x11AA2}, {0x11B00, 0x11B09}, {0x11C41, 0x11C45},
    {0x11C70, 0x11C71},
    {0x11EF7, 0x11EF8}, {0x11F43, 0x11F4F}, {0x11FFF, 0x11FFF}, {0x12FF1, 0x12FF2}, {0x16E97, 0x16E9A},
    {0x16FE2, 0x16FE2},
    {0x1E95E, 0x1E95F},
};

/* Marks without a width of their own, added after Unicode 8, in ascending order. */
static const struct range later_marks[] = {
    {0x7FD, 0x7FD}, {0x898, 0x89F}, {0x8CA, 0x8E1}, {0x9FE, 0x9FE}, {0xAFA, 0xAFF}, {0xB55, 0xB55}, {0xC04, 0xC04},
    {0xC3C, 0xC3C}, {0xD00, 0xD00}, {0xD3B, 0xD3C}, {0xD81, 0xD81}, {0xEBA, 0xEBA}, {0xECE, 0xECE}, {0x180F, 0x180F},
    {0x1885, 0x1886}, {0x1ABF, 0x1ACE}, {0x1DF6, 0x1DFB}, {0xA82C, 0xA82C}, {0xA8C5, 0xA8C5}, {0xA8FF, 0xA8FF},
    {0xA9BD, 0xA9BD}, {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10EFD, 0x10EFF}, {0x10F46, 0x10F50},
    {0x10F82, 0x10F85},
    {0x11070, 0x11070}, {0x11073, 0x11074}, {0x110C2, 0x110C2}, {0x111C9, 0x111C9}, {0x111CF, 0x111CF},
    {0x1123E, 0x1123E},
    {0x11241, 0x11241}, {0x1133B, 0x1133B}, {0x11438, 0x1143F}, {0x11442, 0x11444}, {0x11446, 0x11446},
    {0x1145E, 0x1145E},
    {0x1182F, 0x11837}, {0x11839, 0x1183A}, {0x1193B, 0x1193C}, {0x1193E, 0x1193E}, {0x11943, 0x11943},
    {0x119D4, 0x119D7},
    {0x119DA, 0x119DB}, {0x119E0, 0x119E0}, {0x11A01, 0x11A0A}, {0x11A33, 0x11A38}, {0x11A3B, 0x11A3E},
    {0x11A47, 0x11A47},
    {0x11A51, 0x11A56}, {0x11A59, 0x11A5B}, {0x11A8A, 0x11A96}, {0x11A98, 0x11A99}, {0x11C30, 0x11C36},
    {0x11C38, 0x11C3D},
    {0x11C3F, 0x11C3F}, {0x11C92, 0x11CA7}, {0x11CAA, 0x11CB0}, {0x11CB2, 0x11CB3}, {0x11CB5, 0x11CB6},
    {0x11D31, 0x11D36},
    {0x11D3A, 0x11D3A}, {0x11D3C, 0x11D3D}, {0x11D3F, 0x11D45}, {0x11D47, 0x11D47}, {0x11D90, 0x11D91},
    {0x11D95, 0x11D95},
    {0x11D97, 0x11D97}, {0x11EF3, 0x11EF4}, {0x11F00, 0x11F01}, {0x11F36, 0x11F3A}, {0x11F40, 0x11F40},
    {0x11F42, 0x11F42},
    {0x13440, 0x13440}, {0x13447, 0x13455}, {0x16F4F, 0x16F4F}, {0x16FE4, 0x16FE4}, {0x1CF00, 0x1CF2D},
    {0x1CF30, 0x1CF46},
    {0x1E000, 0x1E006}, {0x1E008, 0x1E018}, {0x1E01B, 0x1E021}, {0x1E023, 0x1E024}, {0x1E026, 0x1E02A},
    {0x1E08F, 0x1E08F},
    {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF}, {0x1E944, 0x1E94A},
};

static unsigned bits_of(uint32_t c)
{
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_LU: case UTF8PROC_CATEGORY_LT:
        return ATTN_IS_UPPER;
    case UTF8PROC_CATEGORY_LL:
        return ATTN_IS_LOWER;
    case UTF8PROC_CATEGORY_LM: case UTF8PROC_CATEGORY_LO:
        return ATTN_IS_CASELESS;
    case UTF8PROC_CATEGORY_MN: case UTF8PROC_CATEGORY_MC: case UTF8PROC_CATEGORY_ME:
        return ATTN_IS_MARK;
    case UTF8PROC_CATEGORY_ND: case UTF8PROC_CATEGORY_NL: case UTF8PROC_CATEGORY_NO:
        return ATTN_IS_NUMBER;
    case UTF8PROC_CATEGORY_PC: case UTF8PROC_CATEGORY_PD: case UTF8PROC_CATEGORY_PS: case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI: case UTF8PROC_CATEGORY_PF: case UTF8PROC_CATEGORY_PO:
        return ATTN_IS_PUNCTUATION;
    case UTF8PROC_CATEGORY_SM: case UTF8PROC_CATEGORY_SC: case UTF8PROC_CATEGORY_SK: case UTF8PROC_CATEGORY_SO:
        return ATTN_IS_SYMBOL;
    default:
        return 0;
    }
}

uint32_t attn_category_bit(uint32_t c)
{
    return 1u << (c >= FIRST_NEW && is_newer(c) ? UTF8PROC_CATEGORY_CN : utf8proc_category((utf8proc_int32_t)c));
}

unsigned attn_kind_of_char(uint32_t c)
{
    if (c >= 'a' && c <= 'z')
        return ATTN_IS_LOWER;
    if (c == '\r' || c == '\n')
        return ATTN_IS_SPACE | ATTN_IS_NEWLINE;
    if (attn_utf8_space(c))
        return ATTN_IS_SPACE;
    return c >= FIRST_NEW && is_newer(c) ? 0 : bits_of(c);
}

/* Alphabetic has, beside letters, marks and letters in circles and squares. */
bool attn_is_word(uint32_t c)
{
    if (c == 0x200C || c == 0x200D || (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
        (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189))
        return true;
    utf8proc_category_t k = utf8proc_category((utf8proc_int32_t)c);
    if (k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_NL || k == UTF8PROC_CATEGORY_PC)
        return true;
    return (attn_kind_of_char(c) & (ATTN_IS_LETTER | ATTN_IS_MARK)) != 0;
}

bool attn_is_punctuation(uint32_t c)
{
    if (c < 0x80)
        return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
    if (c == 0x166D || c == 0x111C9)    /* they were then */
        return true;
    return bits_of(c) == ATTN_IS_PUNCTUATION && !is_among(later, sizeof later / sizeof *later, c);
}

bool attn_is_old_mark(uint32_t c)
{
    return c == 0x1734 || (c >= 0x300 && utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_MN &&
                           !is_among(later_marks, sizeof later_marks / sizeof *later_marks, c));
}

bool attn_is_old_control(uint32_t c)
{
    static const struct range later_formats[] = {{0x890, 0x891}, {0x8E2, 0x8E2}, {0x110CD, 0x110CD},
                                                 {0x13430, 0x1343F}};
    uint32_t other = 1u << UTF8PROC_CATEGORY_CC | 1u << UTF8PROC_CATEGORY_CF | 1u << UTF8PROC_CATEGORY_CO;
    return other >> utf8proc_category((utf8proc_int32_t)c) & 1 &&
           !is_among(later_formats, sizeof later_formats / sizeof *later_formats, c);
}

/* U+2B820 to U+2B91F are not among them: there is a wrong digit in the library. */
bool attn_is_chinese(uint32_t c)
{
    static const struct range ranges[] = {
        {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
        {0x2B740, 0x2B81F},
        {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};
    return is_among(ranges, sizeof ranges / sizeof *ranges, c);
}

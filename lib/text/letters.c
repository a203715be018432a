/* letters.c - which characters are letters, marks, numbers, punctuation: what the patterns of pretoken.h go by. */
#include "text/pretoken.h"

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

/* Punctuation added after Unicode 8, in ascending order. */
static const struct { uint32_t first, last; } later[] = {
    {0x61D, 0x61D}, {0x9FD, 0x9FD}, {0xA76, 0xA76}, {0xC77, 0xC77}, {0xC84, 0xC84}, {0x1B7D, 0x1B7E}, {0x2E43, 0x2E4F},
    {0x2E52, 0x2E5D}, {0x10EAD, 0x10EAD}, {0x10F55, 0x10F59}, {0x10F86, 0x10F89}, {0x1144B, 0x1144F}, {0x1145A, 0x1145B},
    {0x1145D, 0x1145D}, {0x11660, 0x1166C}, {0x116B9, 0x116B9}, {0x1183B, 0x1183B}, {0x11944, 0x11946}, {0x119E2, 0x119E2},
    {0x11A3F, 0x11A46}, {0x11A9A, 0x11A9C}, {0x11A9E, 0x11AA2}, {0x11B00, 0x11B09}, {0x11C41, 0x11C45}, {0x11C70, 0x11C71},
    {0x11EF7, 0x11EF8}, {0x11F43, 0x11F4F}, {0x11FFF, 0x11FFF}, {0x12FF1, 0x12FF2}, {0x16E97, 0x16E9A}, {0x16FE2, 0x16FE2},
    {0x1E95E, 0x1E95F},
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
    size_t i = 0;
    while (i < sizeof later / sizeof *later && later[i].last < c)
        i++;
    return (i == sizeof later / sizeof *later || c < later[i].first) && bits_of(c) == ATTN_IS_PUNCTUATION;
}

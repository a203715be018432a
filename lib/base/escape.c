#include "base/escape.h"

/* The value of a hexadecimal digit plus 1; 0 for any other character. */
static const unsigned char digit[256] = {
    ['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6, ['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
    ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

/* Sets all bits if c is not a hexadecimal digit. */
static uint32_t hex(char c)
{
    return (uint32_t)digit[(unsigned char)c] - 1;
}

/* Reads uXXXX at s[0..n), which follows the backslash; false if it is something else. */
static bool code_unit(const char *s, size_t n, uint32_t *unit)
{
    if (n < 5 || s[0] != 'u')
        return false;
    *unit = hex(s[1]) << 12 | hex(s[2]) << 8 | hex(s[3]) << 4 | hex(s[4]);
    return *unit <= 0xFFFF;
}

static int32_t letter(char c)
{
    switch (c) {
    case '"': case '\\': case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    }
    return -1;
}

size_t attn_escape_read(const char *s, size_t n, uint32_t *c)
{
    uint32_t low;
    if (n >= 2 && s[1] != 'u') {
        int32_t meant = letter(s[1]);
        *c = (uint32_t)meant;
        return meant < 0 ? 0 : 2;
    }
    if (!code_unit(s + 1, n - 1, c) || (*c >= 0xDC00 && *c <= 0xDFFF))
        return 0;
    if (*c < 0xD800 || *c > 0xDBFF)
        return 6;
    if (n < 7 || s[6] != '\\' || !code_unit(s + 7, n - 7, &low) || low < 0xDC00 || low > 0xDFFF)
        return 0;
    *c = 0x10000 + ((*c - 0xD800) << 10) + (low - 0xDC00);
    return 12;
}

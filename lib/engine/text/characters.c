/* characters.c - characters of which a tokenizer has made several tokens.
 *
 * Told from the texts of the tokens alone, so that tokens that come from ids have it, too: a text that is no UTF-8, but
 * for spaces in front, begins a character, and the tokens after it are the rest of its bytes, no more and no less. */
#include "text/tokens.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* How many bytes a character has that begins with this one; 0: none has several and does. */
static size_t length_of(unsigned char lead)
{
    return lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
}

static size_t spaces(const struct attn_token *t)
{
    size_t n = 0;
    while (n < t->text_len && t->text[n] == ' ')
        n++;
    return n;
}

/* The tokens from t[0] on, of n, that are one character, which `whole` gets; 0: they are not. */
static size_t count_parts(char whole[5], const struct attn_token *t, size_t n)
{
    size_t from = t->known ? spaces(t) : 0, have = 0, need, parts = 0;
    if (!t->known || from == t->text_len || !(need = length_of((unsigned char)t->text[from])))
        return 0;
    for (; have < need && parts < n && t[parts].known; from = 0, parts++) {
        size_t len = t[parts].text_len - from;
        if (!len || len > need - have)
            return 0;
        memcpy(whole + have, t[parts].text + from, len);
        have += len;
    }
    whole[have] = '\0';
    return have == need && parts > 1 && attn_utf8_valid(whole, need) == need ? parts : 0;
}

void attn_tokens_find_parts(struct attn_tokens *t)
{
    for (size_t i = 0, parts; i < t->n; i += parts ? parts : 1) {
        char whole[5];
        parts = count_parts(whole, t->tok + i, t->n - i);
        for (size_t k = 0; k < parts; k++) {
            struct attn_token *part = &t->tok[i + k];
            part->part = (unsigned char)(k + 1);
            part->parts = (unsigned char)parts;
            memcpy(part->whole, whole, sizeof whole);
        }
    }
}

const char *attn_token_reading(char buf[ATTN_READING], const struct attn_token *t, size_t *len)
{
    *len = t->text_len;
    if (!t->parts)
        return t->text;
    int before = (int)spaces(t);
    *len = (size_t)snprintf(buf, ATTN_READING, "%*s%s·%d/%d", before < 16 ? before : 16, "", t->whole, t->part,
                            t->parts);
    return buf;
}

/* Characters that are several tokens: found from the texts of the tokens, whatever these come from. */
#include "suites.h"

#include "base/utf8.h"
#include "draw.h"
#include "shell.h"
#include "scratch.h"
#include "text/label.h"
#include "text/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12 };

/* Texts of tokens, then what people read of each. */
static const struct { const char *text[MOST], *read[MOST]; } cases[] = {
    {{"\xE7", "\x9F", "\xAD"}, {"短·1/3", "短·2/3", "短·3/3"}},
    {{"\xE7\x9F", "\xAD"}, {"短·1/2", "短·2/2"}},
    {{" \xE7\x9F", "\xAD"}, {"·短·1/2", "短·2/2"}},
    {{"a", "\xC3", "\xA9", "b"}, {"a", "é·1/2", "é·2/2", "b"}},
    {{"\xF0\x9F", "\x99", "\x82", "短"}, {"🙂·1/3", "🙂·2/3", "🙂·3/3", "短"}},
    /* no character: an end or a beginning is missing, another one begins, or the bytes are none */
    {{"\xE7", "\x9F"}, {"\\xE7", "\\x9F"}},
    {{"\x9F", "\xAD"}, {"\\x9F", "\\xAD"}},
    {{"\xE7", "a", "\x9F", "\xAD"}, {"\\xE7", "a", "\\x9F", "\\xAD"}},
    {{"\xE7", " \x9F", "\xAD"}, {"\\xE7", "·\\x9F", "\\xAD"}},
    {{"\xE7\x9F", "\xAD\xE7"}, {"\\xE7\\x9F", "\\xAD\\xE7"}},
    {{"\xED", "\xA0", "\x80"}, {"\\xED", "\\xA0", "\\x80"}},
    {{"\xC3", "", "\xA9"}, {"\\xC3", "", "\\xA9"}},
    {{"x\xE7", "\x9F\xAD"}, {"x\\xE7", "\\x9F\\xAD"}},
    {{"", "短", "\xE7", "\x9F\xAD"}, {"", "短", "短·1/2", "短·2/2"}},
};

static struct attn_tokens tokens_of(struct attn_token *tok, const char *const *text)
{
    struct attn_tokens t = {.tok = tok};
    for (; t.n < MOST && text[t.n]; t.n++)
        tok[t.n] = (struct attn_token){.known = true, .text = text[t.n], .text_len = strlen(text[t.n])};
    return t;
}

START_TEST(parts_are_read_as_their_character)
{
    struct attn_token tok[MOST];
    struct attn_tokens t = tokens_of(tok, cases[_i].text);
    attn_tokens_find_parts(&t);
    for (size_t i = 0; i < t.n; i++) {
        struct attn_label l = attn_label_token(&tok[i], 40);
        ck_assert_str_eq(l.text, cases[_i].read[i]);
        ck_assert_uint_eq(l.columns, attn_utf8_width(l.text, l.bytes));
    }
}
END_TEST

/* A text cut anywhere: each character that is cut, and whose bytes are no other token's, is found. */
START_TEST(any_cuts)
{
    static const char text[] = "短é🙂 a 我爱 é";
    unsigned seed = 1 + (unsigned)_i;
    struct attn_token tok[sizeof text];
    struct attn_tokens t = {.tok = tok};
    size_t read = 0;
    for (size_t at = 0, end; text[at]; at = end) {
        for (end = at + 1; text[end] && draw_below(&seed, 3) == 0; end++)
            ;
        tok[t.n++] = (struct attn_token){.known = true, .text = text + at, .text_len = end - at, .start = at,
                                         .end = end};
    }
    attn_tokens_find_parts(&t);
    for (size_t i = 0; i < t.n; i++) {
        size_t from = tok[i].start + (text[tok[i].start] == ' ' && tok[i].end - tok[i].start > 1), step;
        while (from && ((unsigned char)text[from] & 0xC0) == 0x80)
            from--;
        attn_utf8_next(text + from, strlen(text + from), &step);
        size_t begins = i, ends = i;
        while (tok[begins].start > from)
            begins--;
        while (tok[ends].end < from + step)
            ends++;
        bool alone = (tok[begins].start == from || (tok[begins].start + 1 == from && text[from - 1] == ' ')) &&
                     tok[ends].end == from + step && ends > begins;
        ck_assert_msg((tok[i].parts > 0) == alone,
                      "token %zu of %zu, bytes %zu to %zu", i, t.n, tok[i].start, tok[i].end);
        if (alone) {
            ck_assert(tok[i].part == i - begins + 1 && tok[i].parts == ends - begins + 1);
            ck_assert(!strncmp(tok[i].whole, text + from, step) && strlen(tok[i].whole) == step);
        }
        read += alone;
    }
    ck_assert_uint_gt(read + (unsigned)_i, 0);
}
END_TEST

/* People read the character; programs read what they did. */
START_TEST(for_people_alone)
{
    expect_exactly("\"$A\" tokenize -m tiny -s '短 é'",
                   "index     id  token   bytes\n    0    163  短·1/3  0-1\n    1    253  短·2/3  1-2\n"
                   "    2    255  短·3/3  2-3\n    3    220  ·       3-4\n    4    127  é·1/2   4-5\n"
                   "    5    102  é·2/2   5-6\n");
    expect("\"$A\" tokenize -m tiny -s 短 --format json", 0,
           "{\"id\": 163, \"text\": \"\xEF\xBF\xBD\", \"raw\": \"ç\", \"start\": 0, \"end\": 1}");
    expect("\"$A\" run -m tiny -s 短 --show pattern --layer 0 --head 0", 0, "短·2/3  0.3769  0.6231  0.0000\n");
    expect_exactly("\"$A\" run -m tiny -s 短 --show pattern --layer 0 --head 0 --format csv | head -1",
                   "token,\xEF\xBF\xBD,\xEF\xBF\xBD,\xEF\xBF\xBD\n");
    expect("\"$A\" run -m tiny --ids 163,253,255 --labels auto --show pattern --layer 0 --head 0", 0, "短·2/3  0.3769");
    expect("\"$A\" score -m tiny -s 短", 0, "    2     255  短·3/3  ");
    expect_exactly("\"$A\" score -m tiny -s 短 --format csv | tail -1 | cut -d, -f 1-4", "2,255,\xEF\xBF\xBD,Ń\n");
    expect("\"$A\" lens -m tiny -s 短", 0, "短·3/3");
    expect("\"$A\" explain -m tiny -s 短 --query 2 --key 0", 0,
           "How \"短·3/3\" (token 2) attends to \"短·1/3\" (token 0)");
    expect("\"$A\" run -m tiny -s 短 --layer 0 --head 0 --format svg | grep -c 短·2/3", 0, "2");
    expect("\"$A\" run -m tiny -s 短 -o $D/x.html && "
           "grep -c '\"text\":\"\xEF\xBF\xBD\",\"label\":\"短·2/3\",\"start\":1,\"end\":2' $D/x.html", 0, "1\n");
    expect("\"$A\" run -m tiny -s 短 --layer 0 --head 0 --format svg --figure lines --query 短·2/3 -o $D/l.svg && "
           "grep -c 短·2/3 $D/l.svg", 0, "");
}
END_TEST

Suite *suite_characters(void)
{
    Suite *s = suite_create("characters");
    TCase *t = tcase_create("characters");
    tcase_add_loop_test(t, parts_are_read_as_their_character, 0, sizeof cases / sizeof *cases);
    tcase_add_loop_test(t, any_cuts, 0, 40);
    suite_add_tcase(s, t);
    t = tcase_create("commands");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_test(t, for_people_alone);
    suite_add_tcase(s, t);
    return s;
}

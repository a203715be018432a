/* What is said in other languages: the packed files, and lessons of which nothing stays English. */
#include "suites.h"

#include "attn_tools.h"
#include "golden.h"
#include "scratch.h"
#include "shell.h"
#include "language/language.h"
#include "picture/page_engine.h"

#include <stdlib.h>
#include <string.h>

#define PACK "\"$(dirname \"$A\")/tools/pack\" "
#define HEADER "msgid \"\"\nmsgstr \"Language: xx\\nX-Language-Name: X\\n\"\n\n"

/* ---- files of languages ---- */

static const struct { const char *po, *says; } files[] = {
    {HEADER "msgid \"%zu of %s\"\nmsgstr \"%2$s: %1$zu\"\n", NULL},
    {HEADER "# a comment\n#, fuzzy\nmsgid \"a\"\nmsgstr \"b\"\n\nmsgid \"c\\n\"\n\"d\"\nmsgstr \"\"\n", NULL},
    {HEADER "msgid \"100 % of it\"\nmsgstr \"100 % of that\"\n", NULL},
    {HEADER "msgid \"%.*f\"\nmsgstr \"- %.*f\"\n", NULL},
    {HEADER "msgid \"%zu of %s\"\nmsgstr \"%s: %zu\"\n", ":4: msgstr has other conversions"},
    {HEADER "msgid \"%zu of %s\"\nmsgstr \"%zu\"\n", ":4: msgstr has other conversions"},
    {HEADER "msgid \"%zu of %s\"\nmsgstr \"%2$s: %zu\"\n", ":4: msgstr has other conversions"},
    {HEADER "msgid \"%.4f\"\nmsgstr \"%.3f\"\n", ":4: msgstr has other conversions"},
    {HEADER "msgid \"%s\"\nmsgstr \"%\"\n", ":4: msgstr has other conversions"},
    {HEADER "msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"a\"\nmsgstr \"c\"\n", "this msgid is there twice: a"},
    {HEADER "msgid \"a\"\n\nmsgid \"b\"\nmsgstr \"c\"\n", ":4: a msgid without a msgstr"},
    {HEADER "msgid \"a\nmsgstr \"b\"\n", ":4: expected a string in quotes"},
    {HEADER "msgid \"\\q\"\nmsgstr \"b\"\n", ":4: a backslash stands before"},
    {HEADER "\"a\"\nmsgstr \"b\"\nmsgid_plural \"b\"\n", ":4: expected a comment, msgid"},
    {"msgid \"a\"\nmsgstr \"b\"\n", ":1: the header needs Language and X-Language-Name"},
};

START_TEST(files_are_checked_when_they_are_packed)
{
    scratch_put(scratch_path("x.po"), files[_i].po, strlen(files[_i].po));
    if (files[_i].says)
        expect(PACK "\"$D/x.po\" 2>&1", 1, files[_i].says);
    else
        expect(PACK "\"$D/x.po\" | tr '\\0' '|'", 0, "|xx|X|");
}
END_TEST

/* Each text of the program is in each language, and no other is. */
START_TEST(languages_are_whole)
{
    expect("$PYTHON -B tests/messages.py data/lang/*.po", 0, "; 0 complaints\n");
    expect("sed 's/^msgid \"Dropout\"/msgid \"Dropin\"/' data/lang/zh.po > \"$D/zh.po\"; "
           "$PYTHON -B tests/messages.py \"$D/zh.po\"", 1, "does not have: Dropout\n");
    expect("$PYTHON -B tests/messages.py \"$D/zh.po\"", 1, "no text of the program: Dropin\n");
}
END_TEST

/* What the head of the file says of its marks, spaces and terms: what is put in place of what is right, and what is
 * said of it. */
static const struct { const char *right, *wrong, *says; } slips[] = {
    {"因果掩码\"", "因果掩码,一种掩码\"", "a half-width mark beside a Chinese character: 码,"},
    {"（随机失活）", "(随机失活)", "a half-width bracket beside a Chinese character: (随"},
    {"头 0 的注意力权重：", "头0 的注意力权重：", "no space between Chinese and other letters: 头0"},
    {"单独计算头 %zu：", "单独计算头%zu：", "no space between Chinese and other letters: 头0"},
    {"，其余取%s。", "， 其余取%s。", "a space beside a full-width mark: ， "},
    {"msgstr \"得分\"", "msgstr \"分数\"", "分数: the term is 得分"}};

START_TEST(chinese_keeps_its_rules)
{
    expect(printed("sed 's/%s/%s/' data/lang/zh.po > \"$D/zh.po\"; $PYTHON -B tests/messages.py \"$D/zh.po\"",
                   slips[_i].right, slips[_i].wrong),
           1, slips[_i].says);
}
END_TEST

/* So are the scripts and the templates of pages. */
START_TEST(pages_are_whole)
{
    static const struct { const char *sed, *says; } wrong[] = {
        {"s/^msgid \"All heads\"/msgid \"Each head\"/", "page.html: $D/zh.po does not have: All heads\n"},
        {"s/^msgid \"Queries\"/msgid \"Query\"/", "lines.js: $D/zh.po does not have: Queries\n"},
        {"s/^msgid \"previous\"/msgid \"before\"/", "scores.c: $D/zh.po does not have: previous\n"},
        {"s/^msgstr \"已保存为 %s。\"/msgstr \"已保存。\"/", ": other conversions: 已保存。\n"},
        {"s/^msgstr \"所有头\"/msgstr \"<所有头>\"/", "are markup in a page: <所有头>\n"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect(printed("sed '%s' data/lang/zh.po > \"$D/zh.po\"; $PYTHON -B tests/messages.py \"$D/zh.po\" | "
                       "sed \"s#$D#\\$D#\"",
                       wrong[i].sed), 1, wrong[i].says);
    succeed("cp -r --parents lib/show/picture lib/attn.h lib/engine/ask/scores.c cmd/attn-cli/cmd_run.c "
            "tests/messages.py data/lang $D");
    expect("cd \"$D\" && sed -i 's/tr(\"Lens\")/tr(name)/' lib/show/picture/page/lens.js && "
           "$PYTHON -B tests/messages.py data/lang/zh.po", 1,
           "lens.js: tr( takes a text in quotes");
}
END_TEST

/* ---- looking up ---- */

START_TEST(a_language_is_found_by_its_code)
{
    static const struct { const char *code, *is; } known[] = {
        {"zh", "zh"}, {"zh_CN.UTF-8", "zh"}, {"zh-Hans", "zh"}, {"en", "en"}, {"en_GB", "en"}, {"zhx", NULL},
        {"z", NULL}, {"", NULL}, {"fr", NULL}};
    const struct attn_language *l;
    struct attn_err err = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        ck_assert_msg(attn_language_find(&l, known[i].code) == !!known[i].is, "%s", known[i].code);
        if (known[i].is)
            ck_assert_str_eq(attn_language_code(l), known[i].is);
    }
    ck_assert_int_eq(attn_language_choose(&l, "fr", &err), ATTN_EUSAGE);
    ck_assert_str_eq(err.msg, "unknown language 'fr': there are en (English), zh (中文)");
}
END_TEST

START_TEST(texts_are_looked_up)
{
    const struct attn_language *zh;
    const char *code, *name;
    ck_assert(attn_language_find(&zh, "zh"));
    ck_assert_str_eq(attn_tr(zh, "The causal mask"), "因果掩码");
    ck_assert_str_eq(attn_tr(zh, "The causal mask is here"), "The causal mask is here");
    ck_assert_str_eq(attn_tr(zh, ""), "");
    ck_assert_str_eq(attn_tr(NULL, "The causal mask"), "The causal mask");
    ck_assert(attn_language_row(0, &code, &name) && !strcmp(code, "en"));
    ck_assert(attn_language_row(1, &code, &name) && !strcmp(code, "zh") && !strcmp(name, "中文"));
    ck_assert(!attn_language_row(2, &code, &name) && !code && !name);
}
END_TEST

/* ---- lessons ---- */

/* Three words in a row, which are neither quoted nor a command, are English, and so are the first two headings
 * of a table. */
#define ENGLISH "grep -v '^    attn-cli' | sed 's/“[^”]*”//g' | grep -E '[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}|^[|" \
    "] [a-z -]{3,} [|] [a-z]{3,} [|]'"
#define NUMBERS " | grep -oE -- '-?[0-9]+[.][0-9]+'"
static const char *const lines[] = {
    "lesson life", "lesson heads", "lesson journey", "lesson chicken", "lesson language",
    "lesson list",
    "lesson -m life -s 'Life is short' --blank 5 --seed 3", "lesson -m life -s 'Life is short' --blank 5 --seed 3 --answers",
    "explain -m tiny -s 'Lily lost her red ball' --layer 1", "explain -m life -s 'Life is short' --attention linear",
    "explain -m life -s 'Life is short' --cross 'eat dessert'",
    "explain -m life -s 'Life is short' --attention causal-renorm --dropout 0.5",
    "explain -m life -s 'Life is short' --attention window:2 --scale 2", "explain -m life -s 'Life is short' --attention random:1,1,3",
    "explain -m tiny -s 'Lily lost her red ball' --edit 'L0.scores[pos=2] = -inf'"};

START_TEST(nothing_stays_english)
{
    expect(printed("\"$A\" %s --lang zh --format md | " ENGLISH, lines[_i]), 1, "");
    expect(printed("\"$A\" %s --format md | " ENGLISH, lines[_i]), 0, " ");
}
END_TEST

START_TEST(numbers_are_the_same)
{
    expect_same(printed("\"$A\" %s --lang zh" NUMBERS, lines[_i]),
                printed("\"$A\" %s" NUMBERS, lines[_i]));
}
END_TEST

/* A Chinese character takes two cells of a terminal: diagrams and columns stay in line. */
#define ALIGNED " | $PYTHON -B tests/support/aligned.py"
START_TEST(columns_stay_in_line)
{
    expect(printed("\"$A\" %s --lang zh" ALIGNED, lines[_i]), 0, "; 0 complaints\n");
}
END_TEST

START_TEST(what_is_out_of_line_is_seen)
{
    expect("\"$A\" attend --scores '1 2; 3 4' --names '我 自然语言' --explain --lang zh" ALIGNED, 0,
           "aligned: 6 lines of diagrams, 2 tables; 0 complaints\n");
    expect("\"$A\" attend --scores '1 2; 3 4' --explain --lang zh | sed 's/│ 注意力权重/│ 注意力 权重/'" ALIGNED, 1,
           "strokes that do not meet");
    expect("\"$A\" attend --scores '1 2; 3 4' --explain --lang zh | sed 's/^  键 /  键  /'" ALIGNED, 1,
           "not below the others: ");
    expect("\"$A\" attend --scores '1 2; 3 4' --explain --lang zh | sed 's/^给定的是/给定的是给定的是给定的是/'" ALIGNED, 1,
           " cells: 给定");
}
END_TEST

/* Of the first look on a screen: sentences are in it, names of scores and commands stay. */
START_TEST(a_screen_is_said_in_chinese)
{
    static const char *const texts[] = {"-m tiny -s 'Lily lost her red ball'", "-m life -s 'Life is short'",
                                        "-m life -s 'Life is short' --cross 'eat dessert'",
        "-m tiny -s 'Lily lost her red ball' --words", "-m tiny -s 'Lily lost' --edit 'L0.scores[pos=1] = 0'"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        expect(printed("\"$A\" run --format screen %s --lang zh | grep -v 'attn-cli\\|^词元 \\|^查询 \\|^键 \\|^ *-\\|^  *[a-z ·]*$\\|"
                       "^改动：' | grep -E '[A-Za-z]{2,} [A-Za-z]{2,}'", texts[i]), 1, "");
        expect_same(printed("\"$A\" run --format screen %s --lang zh" NUMBERS, texts[i]),
                    printed("\"$A\" run --format screen %s" NUMBERS, texts[i]));
    }
    expect("\"$A\" run --format screen -m tiny -s Lily --edit 'logits = 1e38' --edit 'logits *= 1e10' --lang zh", 0,
           "\n改动：logits *= 10000000000\n接下来  没有：the logit of token 0 is inf");
    expect("\"$A\" run --format screen -m life -s 'Life is short' --lang zh", 0, "\n然后  attn-cli explain, variants");
    expect("\"$A\" run --format screen -m tiny -s 'Lily lost her red ball' --lang zh", 0, "L2H3    看前一个 ");
    expect_same("\"$A\" run -m life -s 'Life is short' --lang zh --format json",
                "\"$A\" run -m life -s 'Life is short' --format json");
}
END_TEST

/* ---- pages ---- */

#define TEXTS "<script type=\"application/json\" id=\"texts\">"
static const char chinese[] = "<html lang=\"zh\">";

/* What each command writes as a page. */
START_TEST(a_page_is_said_in_chinese)
{
    static const char *const pages[] = {
        "run -m tiny -s 'Lily lost her red ball'", "page -m life -s 'Life is short'",
        "variants -m life -s 'Life is short'",
        "heads -m tiny -s 'Lily lost her red ball'", "lens -m tiny -s 'Lily lost'",
        "attend --q '1 0; 0 2' --k '1 1; 0 1' --v '1 2; 3 4'",
        "patch -m tiny -s 'Lily lost her red' --from 'Lily lost her big' --what v --over layer --metric 'logit(3)'",
        "info -m life --tensor blocks.0.attn.q.weight",
        "generate -m tiny -s 'Lily lost' -n 2", "plot models/life"};
    succeed("\"$A\" run -m tiny -s 'Lily lost' -o $D/run.npz");
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        const char *line = strncmp(pages[i], "plot", 4) ? pages[i] : "plot $D/run.npz";
        expect(printed("\"$A\" %s --lang zh -o $D/zh.html >$D/said && head -2 $D/zh.html", line), 0, chinese);
        succeed(printed("\"$A\" %s -o $D/a.html >$D/said && \"$A\" %s --lang en -o $D/b.html >$D/said && "
                        "cmp $D/a.html $D/b.html", line, line));
        expect("grep -c '" TEXTS "\\|<html lang=\"zh\"' $D/a.html", 1, "0\n");
    }
}
END_TEST

/* Its numbers are the same, and it has the texts of its own scripts, each once, and no others. */
START_TEST(a_page_has_its_own_texts)
{
    static const char read[] = "$PYTHON -B -c 'import json, re, sys; page = open(sys.argv[1]).read(); "
        "of = lambda id: re.search(f\"<script type=.application/json. id=.{id}.>(.*?)</script>\", page, re.S)[1]; "
        "pairs = json.loads(of(\"texts\"), object_pairs_hook=list); print(*eval(sys.argv[2]), sep=\"\\n\")' ";
    succeed("for l in en zh; do \"$A\" run -m tiny -s 'Lily lost' --lang $l -o $D/$l.html; "
            "grep -o 'id=\"data\">.*' $D/$l.html >$D/$l; done; cmp $D/en $D/zh");
    expect_exactly(printed("%s $D/zh.html '[len({english for english, _ in pairs}) == len(pairs) > 90]'", read),
                   "True\n");
    expect_exactly(printed("%s $D/zh.html '[p for p in pairs if p[0] in (\"attention pattern\", \"previous\", "
                           "\"Lens\", \"Let it write\")]'", read),
                   "('attention pattern', '注意力权重')\n('previous', '看前一个')\n");
    size_t n;
    if (!attn_engine_module(&n))        /* nothing computes in pages of this build */
        return;
    succeed("\"$A\" page -m tiny -s 'Lily lost' --show pattern,lens --lang zh -o $D/live.html");
    expect_exactly(printed("%s $D/live.html '[p for p in pairs if p[0] in (\"Lens\", \"Let it write\")]'", read),
                   "('Lens', '透镜')\n('Let it write', '让它续写')\n");
}
END_TEST

/* Options of it are as they are typed. */
START_TEST(a_title_is_said_with_its_note)
{
    succeed("\"$A\" run -m life -s 'Life is' --attention window:2 --lang zh -o $D/w.html && "
            "\"$A\" run -m tiny -s 'Lily lost' --gradient loss --times --lang zh -o $D/g.html");
    expect("cat $D/w.html", 0, "\"attention pattern, window:2\":\"注意力权重, window:2\"");
    expect("cat $D/g.html", 0, "\"attention pattern, gradient of loss times activation\":\"注意力权重，loss 的梯度乘以激活值\"");
}
END_TEST

/* Nor can a token that a title has end the block of texts; names of arrays stay. */
START_TEST(what_comes_from_outside_is_no_markup)
{
    static const char evil[] = "</script><script>hit()</script>",
        vocabulary[] = "{\"</script><script>hit()</script>\": 0, \"a\": 1}";
    char *page;
    size_t len;
    scratch_put(scratch_path("v.json"), vocabulary, sizeof vocabulary - 1);
    succeed("\"$A\" init -o $D/m --vocab $D/v.json --n-layer 1 --n-head 2 --d-model 8 --unembed true");
    succeed("\"$A\" run -m $D/m -s 'a a' --gradient 'logit(\"</script><script>hit()</script>\")' --lang zh -o "
            "$D/p.html");
    page = golden_text(scratch_path("p.html"), &len);
    ck_assert_ptr_nonnull(strstr(page, "logit(\\\"\\u003c/script>\\u003cscript>hit()\\u003c/script>\\\") 的梯度"));
    ck_assert_ptr_null(strstr(page, evil));
    free(page);
    succeed("printf 'token,a,b\\na,1,0\\nb,0,1\\n' >$D/values.csv && \"$A\" plot $D/values.csv --lang zh -o $D/p.html");
    expect("grep -c '\"值\"' $D/p.html", 1, "0\n");
}
END_TEST

START_TEST(a_history_is_said_in_chinese)
{
    succeed("\"$A\" train -f cmd/README.md --vocab-size 300 --n-ctx 32 --n-layer 1 --n-head 2 --d-model 16 --steps 2 "
            "--batch 2 --seed 7 --watch-every 1 -s 'attention heads' --show pattern -q -o $D/m");
    succeed("\"$A\" plot $D/m/watch --lang zh -o $D/h.html");
    expect("cat $D/h.html", 0, chinese);
    expect("cat $D/h.html", 0, "<title>训练过程");
    expect("cat $D/h.html", 0, "\"name\":\"层 0，头 1\"");
    expect("cat $D/h.html", 0, "\"step %s\":\"第 %s 步\"");
}
END_TEST

/* As other options that a format does not use. */
START_TEST(where_nothing_is_said_there_is_a_note)
{
    expect("\"$A\" run -m life -s 'Life is' --lang zh --format csv -o $D/x 2>&1", 0,
           "--lang: only --format screen or html uses it, not csv\n");
    expect("\"$A\" plot $D/x --lang zh 2>&1 >$D/said", 0, "--lang: only --format html uses it, not term\n");
    expect_exactly("\"$A\" run -m life -s 'Life is' --lang zh -o $D/x.html 2>&1", "");
}
END_TEST

/* Of numbers that are given. */
START_TEST(attention_on_given_numbers_is_said_in_chinese)
{
    static const char *const given[] = {"--q '1 0 1; 0 2 2' --k '1 1 0; 0 1 2' --v '1 2; 3 4'",
                                        "--scores '1 2; 3 4' --mask '1 0; 1 1'",
        "--q '1 0; 0 2' --k '1 1; 0 1' --mask '0 -1; 0 0' --key 1"};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        expect(printed("\"$A\" attend %s --explain --lang zh --format md | " ENGLISH, given[i]), 1, "");
        expect_same(printed("\"$A\" attend %s --explain --lang zh" NUMBERS, given[i]),
                    printed("\"$A\" attend %s --explain" NUMBERS, given[i]));
    }
    expect(printed("\"$A\" attend %s --explain --lang zh", given[0]), 0,
           "查询 1 如何关注键 1\n\n给定的是 q [2, 3]，k [2, 3]，v [2, 2]；");
    expect(printed("\"$A\" attend %s --explain --lang zh --names '我 爱'", given[0]), 0, "“爱”（查询 1）如何关注“爱”（键 1）\n");
    expect(printed("\"$A\" attend %s --explain --lang zh --kind causal --scale 2", given[0]), 0,
           "注意力的种类：causal，scale 2。");
}
END_TEST

START_TEST(every_format_has_it)
{
    expect("\"$A\" lesson life --lang zh --format html", 0, "<html lang=\"zh\">");
    expect("\"$A\" lesson life --lang zh --format html", 0, "<mi>点积</mi><mo>=</mo>");
    expect("\"$A\" lesson life --lang zh --format html", 0, "注意力权重 [6,6]</text>");
    expect("\"$A\" lesson life --lang zh --format md", 0, "\n$$\\text{点积} = \\sum_c q_c k_c$$\n");
    expect("\"$A\" lesson life --lang zh", 0, "\n    Attention(Q, K, V) = softmax(");
    expect("\"$A\" lesson life --lang zh --format pdf > \"$D/x.pdf\"; "
           "$PYTHON -B tests/support/pdf_text.py \"$D/x.pdf\"", 0, "因果掩码的两种做法");
    expect("\"$A\" lesson life --lang zh | LC_ALL=C.UTF-8 grep -v '^    attn-cli' | "
           "LC_ALL=C.UTF-8 grep -cP '^.{81,}'", 1, "0\n");
}
END_TEST

/* ---- which language ---- */

static const struct { const char *variables, *lang, *says; } chosen[] = {
    {"LANG=zh_CN.UTF-8", "", "关于注意力的文章"}, {"LANG=en_US.UTF-8 LANGUAGE=zh_CN:en", "", "关于注意力的文章"},
    {"LANG=zh_CN.UTF-8 LANGUAGE=en:zh", "", "Articles on attention"},
    {"LANG=C LANGUAGE=zh", "", "Articles on attention"},
    {"LANG=fr_FR.UTF-8 LANGUAGE=fr:de", "", "Articles on attention"},
    {"LANG=zh_CN.UTF-8", "--lang en", "Articles on attention"},
    {"LC_ALL=zh_TW.UTF-8 LANG=en_US.UTF-8", "", "关于注意力的文章"}, {"LANG=", "--lang zh", "关于注意力的文章"}};

START_TEST(a_terminal_speaks_the_language_of_its_user)
{
    const char *none = "env -u LANGUAGE -u LC_ALL -u LC_MESSAGES TERM=dumb";
    if (!no_terminal())
        ck_assert_ptr_nonnull(strstr(on_terminal(printed("%s %s \"$A\" lesson list %s", none,
                                                         chosen[_i].variables, chosen[_i].lang), 0), chosen[_i].says));
    expect(printed("%s %s \"$A\" lesson list %s", none, chosen[_i].variables, chosen[_i].lang), 0,
           strcmp(chosen[_i].lang, "--lang zh") ? "Articles on attention" : "关于注意力的文章");
}
END_TEST

START_TEST(others_are_refused)
{
    expect("\"$A\" explain --lang zh 2>&1 -s ''", 1, "the sentence is empty");
}
END_TEST

Suite *suite_language(void)
{
    Suite *s = suite_create("language");
    TCase *c = tcase_create("language");
    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_add_loop_test(c, files_are_checked_when_they_are_packed, 0, sizeof files / sizeof *files);
    tcase_add_test(c, languages_are_whole);
    tcase_add_loop_test(c, chinese_keeps_its_rules, 0, sizeof slips / sizeof *slips);
    tcase_add_test(c, pages_are_whole);
    tcase_add_test(c, a_language_is_found_by_its_code);
    tcase_add_test(c, texts_are_looked_up);
    tcase_add_loop_test(c, nothing_stays_english, 0, sizeof lines / sizeof *lines);
    tcase_add_loop_test(c, numbers_are_the_same, 0, sizeof lines / sizeof *lines);
    tcase_add_loop_test(c, columns_stay_in_line, 0, sizeof lines / sizeof *lines);
    tcase_add_test(c, what_is_out_of_line_is_seen);
    tcase_add_test(c, a_screen_is_said_in_chinese);
    tcase_add_test(c, a_page_is_said_in_chinese);
    tcase_add_test(c, a_page_has_its_own_texts);
    tcase_add_test(c, a_title_is_said_with_its_note);
    tcase_add_test(c, what_comes_from_outside_is_no_markup);
    tcase_add_test(c, a_history_is_said_in_chinese);
    tcase_add_test(c, where_nothing_is_said_there_is_a_note);
    tcase_add_test(c, attention_on_given_numbers_is_said_in_chinese);
    tcase_add_test(c, every_format_has_it);
    tcase_add_loop_test(c, a_terminal_speaks_the_language_of_its_user, 0, sizeof chosen / sizeof *chosen);
    tcase_add_test(c, others_are_refused);
    suite_add_tcase(s, c);
    return s;
}

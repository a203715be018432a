/* What a page asks and is told: the numbers of the library's own calls, its lists and its messages. */
#include "suites.h"

#include "answered.h"
#include "answers/question.h"
#include "ask/edit.h"
#include "ask/metric.h"
#include "attn_ask.h"
#include "draw.h"
#include "golden.h"
#include "live/live.h"
#include "scratch.h"
#include "shell.h"
#include "trace/trace.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = "Tom, who was sad, went to the park. Tom gave Lily the ball, and Lily went to";
static struct attn_model *model;
static struct attn_err err;
static struct attn_question asked;

static void set_up(void)
{
    shell_set_up();
    err = (struct attn_err){0};
    ck_assert_msg(!attn_model_open(&model, "tiny", &err), "%s", err.msg);
    asked = (struct attn_question){.model = model, .text = {.text = text}, .plan = "threads=1"};
    answered("{'ask':'open','model':'tiny'}");
}

static void tear_down(void)
{
    attn_model_close(model);
    answered_end();
    scratch_remove();
}

#define OK(call) ck_assert_msg((call) == ATTN_OK, "%s", err.msg)

/* A double of JSON is the same double. */
static void expect_number(const cJSON *x, double expected)
{
    ck_assert(cJSON_IsNumber(x) || (cJSON_IsNull(x) && !isfinite(expected)));
    ck_assert_msg(!isfinite(expected) || x->valuedouble == expected, "%.17g, expected %.17g", x->valuedouble, expected);
}

static void expect_likely(const cJSON *list, const struct attn_likely *of, size_t n)
{
    ck_assert_int_eq(cJSON_GetArraySize(list), (int)n);
    for (size_t i = 0; i < n; i++) {
        const cJSON *x = cJSON_GetArrayItem(list, (int)i);
        ck_assert_int_eq((int)golden_number(x, "id"), of[i].id);
        expect_number(golden_get(x, "p"), of[i].p);
    }
}

/* ---- opening ----------------------------------------------------------------------------- */

START_TEST(lists_are_those_of_the_library)
{
    const cJSON *all = answered("{'ask':'open','model':'tiny'}"), *x = golden_get(all, "kinds")->child;
    char form[ATTN_METRIC_FORM];
    for (const struct attn_kind_row *row = NULL; (row = attn_kind_next(row)); x = x->next) {
        struct attn_kind kind = {0};
        ck_assert_str_eq(golden_string(x, "form"), row->form);
        ck_assert_str_eq(golden_string(x, "help"), row->help);
        OK(attn_kind_parse(&kind, golden_string(x, "example"), &err));
    }
    ck_assert_ptr_null(x);
    x = golden_get(all, "activations")->child;
    for (int act = 0; act < ATTN_ACTS; act++, x = x->next) {
        ck_assert_str_eq(golden_string(x, "name"), attn_act_tail(act));
        ck_assert_str_eq(golden_string(x, "title"), attn_act_title(act));
    }
    ck_assert_ptr_null(x);
    x = golden_get(all, "scores")->child;
    for (const struct attn_head_score *s = NULL; (s = attn_head_score_next(s)); x = x->next)
        ck_assert_str_eq(golden_string(x, "name"), s->name);
    ck_assert_ptr_null(x);
    x = golden_get(all, "metrics")->child;
    for (size_t i = 0; attn_metric_form(form, i); i++, x = x->next)
        ck_assert_str_eq(golden_string(x, "form"), form);
    ck_assert_ptr_null(x);
    x = golden_get(golden_get(all, "edits"), "operators")->child;
    for (size_t i = 0; i < ATTN_EDIT_OPS; i++, x = x->next)
        ck_assert_str_eq(x->valuestring, attn_edit_op_names[i]);
    ck_assert_ptr_null(x);
}
END_TEST

START_TEST(says_what_a_model_is)
{
    const cJSON *tiny = answered("{'ask':'open','model':'tiny'}"), *info = golden_get(tiny, "info");
    ck_assert_str_eq(golden_string(tiny, "tokenizer"), "bpe");
    ck_assert_int_eq((int)golden_number(info, "L"), 6);
    ck_assert_int_eq((int)golden_number(info, "V"), 8192);
    ck_assert(cJSON_IsTrue(golden_get(info, "causal")) && cJSON_IsTrue(golden_get(info, "unembed")));
    ck_assert_int_eq(golden_get(tiny, "ends")->child->valueint, 8191);
    const cJSON *life = answered("{'ask':'open','model':'life'}");
    ck_assert(cJSON_IsFalse(golden_get(golden_get(life, "info"), "unembed")));
    succeed("mkdir $D/bare; cp models/stacked/config.json models/stacked/model.safetensors $D/bare");
    const cJSON *none = answered("{'ask':'open','model':'%s'}", scratch_path("bare"));
    ck_assert(cJSON_IsNull(cJSON_GetObjectItem(none, "tokenizer")));
    const char *why = printed("%s", golden_string(none, "noTokenizer"));
    refused(why, "{'ask':'run','text':'a'}");
    answered("{'ask':'run','ids':'1,2'}");
}
END_TEST

/* ---- running ----------------------------------------------------------------------------- */

START_TEST(edits_move_the_next_token_as_the_library_says)
{
    const char *const edits[] = {"L1H2 = 0", "L3.mlp.out[pos=-1] *= 0.5", NULL};
    struct attn_edits *list = NULL;
    struct attn_editor *editor;
    struct attn_compare *compare;
    struct attn_compared what;
    struct attn_tokenizer *tokenizer;
    struct attn_tokens *tokens;
    int32_t *ids;
    const struct attn_plan plan = {.threads = 1};
    const cJSON *run = answered("{'ask':'run','text':'%s','off':['1,2'],"
                                "'edits':['# a comment','','  L3.mlp.out[pos=-1] *= .5']}", text);
    OK(attn_edits_parse(&list, edits[0], &err));
    OK(attn_edits_parse(&list, edits[1], &err));
    OK(attn_model_tokenizer(&tokenizer, model, &err));
    OK(attn_encode(&tokens, tokenizer, text, strlen(text), &err));
    OK(attn_tokens_to_ids(&ids, tokens, &err));
    OK(attn_editor_new(&editor, &(struct attn_editor_opts){.edits = list, .model = model}, &err));
    OK(attn_editor_text(editor, 0, ids, tokens->n, false, &err));
    OK(attn_editor_start(editor, &err));
    OK(attn_compare_new(&compare, model, &err));
    const struct attn_observer before = attn_compare_before(compare),
        after[] = {attn_editor_observer(editor), attn_compare_after(compare)};
    OK(attn_run_tokens(model, &plan, tokens, NULL, &before, 1, &err));
    OK(attn_run_tokens(model, &plan, tokens, NULL, after, 2, &err));
    OK(attn_compare_result(compare, &what, &err));
    expect_number(golden_get(run, "kl"), what.kl);
    expect_likely(golden_get(run, "before"), what.before, what.n_before);
    expect_likely(golden_get(run, "after"), what.after, what.n_after);
    const cJSON *said = golden_get(run, "edits")->child;
    for (size_t i = 0; i < 2; i++, said = said->next)
        ck_assert_str_eq(said->valuestring, attn_edits_text(list, i));
    ck_assert_int_eq(cJSON_GetArraySize(golden_get(run, "tokens")), (int)tokens->n);
    attn_compare_free(compare);
    attn_editor_free(editor);
    attn_edits_free(list);
    attn_tokens_free(tokens);
    attn_tokenizer_close(tokenizer);
    free(ids);
}
END_TEST

/* "o" and "n" are two tokens, if they come one by one. */
START_TEST(tokens_that_are_appended_stay)
{
    const cJSON *o = answered("{'ask':'tokens','text':'on'}");
    ck_assert_int_eq(cJSON_GetArraySize(golden_get(o, "tokens")), 1);
    const int id = (int)golden_number(answered("{'ask':'tokens','text':'n'}")->child->child, "id");
    const cJSON *run = answered("{'ask':'run','text':'o','append':%d}", id);
    ck_assert_str_eq(golden_string(run, "text"), "on");
    ck_assert_int_eq(cJSON_GetArraySize(golden_get(run, "tokens")), 2);
    const cJSON *last = cJSON_GetArrayItem(golden_get(run, "tokens"), 1);
    ck_assert(golden_number(last, "start") == 1 && golden_number(last, "end") == 2);
    run = answered("{'ask':'run','text':'on','off':['0,0']}");
    ck_assert_int_eq(cJSON_GetArraySize(golden_get(run, "tokens")), 2);
    run = answered("{'ask':'run','text':'on.'}");
    ck_assert_int_eq(cJSON_GetArraySize(golden_get(run, "tokens")), 2);
    run = answered("{'ask':'run','ids':'1, 2','append':7}");
    ck_assert_str_eq(golden_string(run, "ids"), "1, 2,7");
    answered("{'ask':'open','model':'life'}");
    run = answered("{'ask':'run','text':'Life','append':4}");
    ck_assert_str_eq(golden_string(run, "text"), "Life is");
}
END_TEST

START_TEST(a_mask_says_what_is_hidden)
{
    size_t n;
    answered("{'ask':'open','model':'stacked'}");
    const cJSON *run =
        answered("{'ask':'run','ids':'1,2,3,4,5','attention':'window:2','keep':['pattern','scores','q']}"), *sheet;
    cJSON_ArrayForEach(sheet, golden_get(run, "sheets")) {
        if (!strcmp(golden_string(sheet, "kind"), "attn.q")) {
            ck_assert(cJSON_IsNull(cJSON_GetObjectItem(sheet, "mask")));
            continue;
        }
        const float *mask = answered_array(sheet, "mask", &n);
        ck_assert_uint_eq(n, 25);
        for (size_t q = 0; q < 5; q++)
            for (size_t k = 0; k < 5; k++)
                ck_assert((mask[q * 5 + k] > 0) == (k > q || k + 2 <= q));
    }
}
END_TEST

/* ---- looking at it ------------------------------------------------------------------------ */

static void expect_lens(const cJSON *lens, const char *const *edits)
{
    struct attn_dump *d;
    struct attn_dump_array a;
    struct attn_question q = asked;
    const cJSON *row;
    q.edits = edits;
    OK(attn_ask_run(&d, &q, "lens", &err));
    cJSON_ArrayForEach(row, golden_get(lens, "lens")) {
        size_t t = 0;
        const cJSON *at;
        ck_assert(attn_dump_find(d, printed("blocks.%d.lens", (int)golden_number(row, "layer")), &a));
        cJSON_ArrayForEach(at, golden_get(row, "at")) {
            struct attn_likely best[ATTN_COMPARED];
            size_t n;
            OK(attn_logits_top(best, &n, ATTN_COMPARED, a.data + t++ * a.shape[1], a.shape[1], &err));
            expect_likely(at, best, n);
        }
        ck_assert_uint_eq(t, a.shape[0]);
    }
    attn_dump_free(d);
}

START_TEST(the_lens_is_that_of_the_library)
{
    const char *const edits[] = {"L2H1 = 0", NULL};
    answered("{'ask':'run','text':'Tom, who'}");
    answered("{'ask':'lens'}");
    answered("{'ask':'run','text':'%s'}", text);
    expect_lens(answered("{'ask':'lens'}"), NULL);
    answered("{'ask':'run','text':'%s','off':['2,1']}", text);
    expect_lens(answered("{'ask':'lens'}"), edits);
    answered("{'ask':'run','text':'%s'}", text);
    expect_lens(answered("{'ask':'lens'}"), NULL);
}
END_TEST

START_TEST(heads_are_those_of_the_command)
{
    const struct attn_head_score *s;
    answered("{'ask':'run','text':'%s','off':['3,1']}", text);
    OK(attn_ask_write(&(struct attn_question){.model = model, .text = {.text = text},
                                              .edits = (const char *const[]){"L3H1 = 0", NULL}},
                      "heads", NULL, scratch_path("heads.json"), &err));
    cJSON *whole = golden_read(scratch_path("heads.json"));
    const cJSON *all = answered("{'ask':'heads'}"), *row = golden_get(whole, "rows")->child, *head, *name;
    bool punctuation = false;
    cJSON_ArrayForEach(head, golden_get(all, "heads")) {
        int i = 0;
        ck_assert_int_eq((int)golden_number(head, "layer"), (int)golden_number(row, "layer"));
        const cJSON *label = golden_find(row, "label"), *role = golden_find(head, "role");
        ck_assert(!label == !role && (!label || !strcmp(label->valuestring, role->valuestring)));
        cJSON_ArrayForEach(name, golden_get(all, "scores")) {
            s = attn_head_score_find(name->valuestring);
            ck_assert_ptr_nonnull(s);
            expect_number(cJSON_GetArrayItem(golden_get(head, "scores"), i++), golden_number(row, s->name));
            punctuation |= !strcmp(s->name, "punctuation");
        }
        row = row->next;
    }
    ck_assert(!row && punctuation);
    cJSON_Delete(whole);
}
END_TEST

START_TEST(without_a_head_the_same_comes_next)
{
    struct attn_tokens *tokens;
    struct attn_tokenizer *tokenizer;
    struct attn_ablated *heads;
    size_t n;
    OK(attn_model_tokenizer(&tokenizer, model, &err));
    OK(attn_encode(&tokens, tokenizer, text, strlen(text), &err));
    OK(attn_ablate_heads(&heads, &n, model,
                         &(struct attn_ablate_opts){.tokens = tokens, .plan = {.threads = 1}}, &err));
    answered("{'ask':'run','text':'%s'}", text);
    for (size_t i = 0; i < n; i++) {
        const cJSON *x = answered("{'ask':'without','layer':%zu,'head':%zu}", heads[i].layer, heads[i].head);
        expect_number(golden_get(x, "kl"), heads[i].kl);
        expect_likely(golden_get(x, "after"), heads[i].after, heads[i].n);
    }
    free(heads);
    attn_tokens_free(tokens);
    attn_tokenizer_close(tokenizer);
}
END_TEST

static const char *const weighed[] = {"", "window:3", "strided:2,3", "random:2,2,1", "linear", "block:4", "full",
                                      "causal-renorm"};

/* One cell after the other, of models with ALiBi, a cap, groups, and none of these. */
START_TEST(a_weight_comes_from_what_the_run_says)
{
    static const char *const dirs[] = {"tests/golden/checkpoints/bloom-a", "tests/golden/checkpoints/gemma2-a",
                                       "tests/golden/checkpoints/falcon-alibi-a", "stacked"};
    const bool soft = strcmp(weighed[_i], "linear") != 0;
    for (size_t m = 0; m < sizeof dirs / sizeof *dirs; m++) {
        size_t n, ignored;
        answered("{'ask':'open','model':'%s'}", dirs[m]);
        const cJSON *run = answered("{'ask':'run','ids':'1,5,2,7,3,4','attention':'%s','keep':['%s']}", weighed[_i],
                                    soft ? "blocks.1.attn.pattern','blocks.1.attn.scores','blocks.1.attn.dots" :
                                        "blocks.1.attn.pattern");
        float dots[36] = {0}, scores[36] = {0}, pattern[36];
        const cJSON *sheet;
        cJSON_ArrayForEach(sheet, golden_get(run, "sheets")) {
            const char *kind = golden_string(sheet, "kind");
            memcpy(!strcmp(kind, "attn.dots") ? dots : !strcmp(kind, "attn.scores") ? scores : pattern,
                   answered_array(sheet, "array", &n),
                   sizeof dots);
        }
        for (size_t q = 0; q < 6; q++)
            for (size_t k = 0; k < 6; k++) {
                const cJSON *w = answered("{'ask':'weight','layer':1,'head':0,'query':%zu,'key':%zu}", q, k);
                ignored = q * 6 + k;
                ck_assert((float)golden_number(w, "weight") == pattern[ignored]);
                if (!cJSON_IsTrue(golden_get(w, "seen")) || !soft)
                    continue;
                ck_assert((float)golden_number(w, "dot") == dots[ignored] &&
                          (float)golden_number(w, "score") == scores[ignored]);
                double scaled = golden_number(w, "dot") * golden_number(w, "scale") + golden_number(w, "bias"),
                    cap = golden_number(w, "cap");
                ck_assert_double_eq_tol(cap > 0 ? cap * tanh(scaled / cap) : scaled, scores[ignored], 1e-4);
                if (strcmp(weighed[_i], "causal-renorm") != 0)
                    ck_assert_double_eq_tol(exp(scores[ignored]) / golden_number(w, "sum"), pattern[ignored], 1e-5);
            }
    }
}
END_TEST

/* ---- beyond it ---------------------------------------------------------------------------- */

START_TEST(writes_on_as_the_command_does)
{
    const struct attn_sampling how = {.temperature = 0.9, .top_k = 40, .top_p = 0.95, .seed = 11};
    int32_t *ids;
    size_t n, first;
    OK(attn_ask_generate(&ids, &n, &asked, 12, &how, &err));
    const cJSON *run = answered("{'ask':'run','text':'%s'}", text);
    char now[1024] = "";
    first = (size_t)cJSON_GetArraySize(golden_get(run, "tokens"));
    for (size_t i = 0; i < first; i++)
        snprintf(now + strlen(now), sizeof now - strlen(now), "%s%d", i ? "," : "", ids[i]);
    answered("{'ask':'run','ids':'%s'}", now);
    for (size_t i = first; i < n; i++) {
        const cJSON *next = answered("{'ask':'next','temperature':0.9,'top_k':40,'top_p':0.95,'seed':'11','first':%s}",
                                     i == first ? "true" : "false");
        ck_assert_int_eq((int)golden_number(next, "id"), ids[i]);
        run = answered("{'ask':'run','ids':'%s','append':%d}", now, ids[i]);
        snprintf(now, sizeof now, "%s", golden_string(run, "ids"));
    }
    free(ids);
}
END_TEST

static void expect_file(const char *leaf, const char *found)
{
    char *expected = golden_text(scratch_path(leaf), NULL);
    size_t at = 0;
    while (expected[at] && expected[at] == found[at])
        at++;
    ck_assert_msg(expected[at] == found[at],
                  "%s: byte %zu: '%.80s', expected '%.80s'", leaf, at, found + at, expected + at);
    free(expected);
}

START_TEST(measures_and_writes_what_the_library_does)
{
    const char *const edits[] = {"L1H0 = 0", NULL};
    double value, *score;
    size_t n;
    asked.edits = edits;
    answered("{'ask':'run','text':'%s','off':['1,0']}", text);
    OK(attn_ask_metric(&value, &asked, "kl", &err));
    expect_number(golden_get(answered("{'ask':'metric','metric':'kl'}"), "value"), value);
    OK(attn_ask_score(&score, &n, &asked, &err));
    const cJSON *list = golden_get(answered("{'ask':'score'}"), "logprobs");
    ck_assert_int_eq(cJSON_GetArraySize(list), (int)n);
    for (size_t i = 1; i < n; i++)
        expect_number(cJSON_GetArrayItem(list, (int)i), score[i]);
    free(score);
    OK(attn_ask_write(&asked, "lens", (const char *const[]){"top=2", NULL}, scratch_path("lens.json"), &err));
    expect_file("lens.json", golden_string(answered("{'ask':'write','what':'lens','options':['top=2']}"), "text"));
    asked.from =
        (struct attn_input){.text = "Tom, who was glad, went to the park. Tom gave Lily the ball, and Lily went to"};
    OK(attn_ask_write(&asked, "patch",
                      (const char *const[]){"what=context", "over=layer", "metric=logit(5)", "format=csv", NULL},
                      scratch_path("patch.csv"), &err));
    expect_file("patch.csv", golden_string(answered(
        "{'ask':'write','what':'patch','options':['what=context','over=layer','metric=logit(5)','format=csv'],"
        "'from':'%s'}",
        asked.from.text), "text"));
}
END_TEST

/* ---- refusals ----------------------------------------------------------------------------- */

static const struct { const char *question, *message, *in; int at; } wrong[] = {
    {"{'ask':'run'}", "there is neither a text nor token ids", "ids", -1},
    {"{'ask':'run','text':''}", "the sentence is empty: there is no token to run", "text", -1},
    {"{'ask':'run','text':'a','ids':'1'}", "a text and token ids are both given", "text", -1},
    {"{'ask':'run','ids':'1,,2'}", "'1,,2': a comma without an id beside it: ids are as in 5,1,2", "ids", -1},
    {"{'ask':'run','ids':'x'}", "'x' is not a token id: ids are whole numbers, as in 5,1,2", "ids", -1},
    {"{'ask':'run','ids':'1,9999'}",
     "token 1 has id 9999, but model tiny has ids 0 to 8191 (vocab_size 8192)", "ids", -1},
    {"{'ask':'run','text':'a','append':9999}", "has id 9999, but model tiny has ids 0 to 8191", "append", -1},
    {"{'ask':'run','text':'a','attention':'windw:3'}", "--attention 'windw:3' is unknown, expected one of model, full",
     "attention", -1},
    {"{'ask':'run','text':'a','attention':'window:0'}", "--attention 'window:0': 0 is not in 1..2147483647 (window:W)",
     "attention", -1},
    {"{'ask':'run','text':'a','scale':'big'}", "--scale: 'big' is not none, sqrt or a number", "scale", -1},
    {"{'ask':'run','text':'a','scale':'2','attention':'linear'}", "--scale and --attention linear do not go together",
     "scale", -1},
    {"{'ask':'run','text':'a','dropout':1}", "--dropout: 1 is not from 0 to below 1", "dropout", -1},
    {"{'ask':'run','text':'a','off':['0;1']}", "'0;1' is not LAYER,HEAD", "off", 0},
    {"{'ask':'run','text':'a','off':['9,0']}",
     "edit 'L9H0 = 0': layer 9 is not there: tiny has 6 layers, counted from 0", "edits", -1},
    {"{'ask':'run','text':'a','edits':['L0H0 = 0','L1H1 ! 0']}", "--edit 'L1H1 ! 0', column 6: found '!', expected =",
     "edits", 1},
    {"{'ask':'run','text':'a','edits':['L0H0 = from']}", "from", "edits", -1},
    {"{'ask':'run','text':'a','edits':['L0H0[pos=5] = 0']}",
     "position 5 is not there: the text has 1 token, counted from 0", "edits", -1},
    {"{'ask':'run','text':'a','keep':['attn.paterns']}", "attn.pattern", "keep", -1},
    {"{'ask':'run','text':'a','bits':'few'}", "\"bits\" is few, expected default or generic", "bits", -1},
    {"{'ask':'without','layer':6,'head':0}", "there is no layer 6: model tiny has 6", "layer", -1},
    {"{'ask':'without','layer':0,'head':4}", "there is no head 4: model tiny has 4", "head", -1},
    {"{'ask':'weight','layer':0,'head':0,'query':9,'key':0}", "there is no query 9: the text has 5 tokens",
     "query", -1},
    {"{'ask':'next','temperature':-1,'first':true}", "temperature", NULL, -1},
    {"{'ask':'metric','metric':'logit(\\'nowhere near\\')'}", "", "metric", -1},
    {"{'ask':'metric','metric':'x'}", "metric 'x': column 1: expected loss, kl", "metric", -1},
    {"{'ask':'write','what':'lens','options':['depth=2']}",
     "lens: unknown option 'depth', expected one of format, target", NULL, -1},
    {"{'ask':'write','what':'run'}", "run: its formats are files of their own", NULL, -1},
    {"{'ask':'write','what':'tables'}", "there is no answer 'tables', expected one of", NULL, -1},
    {"{'ask':'write','what':'patch'}", "patch: expected from, the other text, and what, over and metric", NULL, -1},
    {"{'ask':'open'}", "question: open without \"model\"", NULL, -1},
    {"{'ask':'opens'}", "question: \"ask\" is opens, expected one of open, run", NULL, -1},
    {"{}", "question: \"ask\" is missing, expected one of", NULL, -1},
    {"[]", "question: is not an object", NULL, -1},
    {"", "question: ", NULL, -1},
    {"{'ask':'run','text':5}", "question: \"text\" is not a text", NULL, -1},
    {"{'ask':'run','text':'a','edits':'L0H0 = 0'}", "question: \"edits\" is not a list of texts", NULL, -1},
    {"{'ask':'run','text':'a','edits':['a',1]}", "question: \"edits\" is not a list of texts", NULL, -1},
    {"{'ask':'run','text':'a','append':-1}", "question: \"append\" is not a whole number", NULL, -1},
    {"{'ask':'run','text':'a','append':1e3}", "question: \"append\" is not a whole number", NULL, -1},
    {"{'ask':'run','text':'a','append':99999999999}", "question: \"append\" is not a whole number", NULL, -1},
    {"{'ask':'run','text':'a','dropout':1e999}", "question: \"dropout\" is not a number", NULL, -1},
    {"{'ask':'run','text':'a','seed':'-3'}", "question: \"seed\" is not a whole number, or one as a text", NULL, -1},
    {"{'ask':'run','text':'a','text':'b'}", "question: \"text\" is there twice", NULL, -1},
    {"{'ask':'run','text':'a','textual':'b'}", "question: there is no member \"textual\"", NULL, -1},
    {"{'ask':'lens','text':'a'}", "question: lens has no member \"text\"", NULL, -1},
    {"{'ask':'run','text':'a'} {}", "question: ", NULL, -1},
    {"{'ask':'next','first':1}", "question: \"first\" is not true or false", NULL, -1},
};

static void expect_still(double kl)
{
    expect_number(golden_get(answered("{'ask':'without','layer':1,'head':1}"), "kl"), kl);
}

START_TEST(what_is_wrong_is_said_and_nothing_is_lost)
{
    answered("{'ask':'run','text':'Tom and Lily went to'}");
    const double kl = golden_number(answered("{'ask':'without','layer':1,'head':1}"), "kl");
    char question[256];
    int code;
    snprintf(question, sizeof question, "%s", wrong[_i].question);
    for (char *at = question; (at = strchr(at, '\'')); )
        *at = '"';
    const cJSON *answer = asked_of(&code, question, strlen(question));
    ck_assert_msg(code && strstr(golden_string(answer, "error"), wrong[_i].message),
                  "%s: '%s', expected '%s'", question,
                  code ? golden_string(answer, "error") : "", wrong[_i].message);
    const cJSON *in = golden_find(answer, "in"), *at = golden_find(answer, "at");
    ck_assert_msg(!in == !wrong[_i].in && (!in || !strcmp(in->valuestring, wrong[_i].in)),
                  "%s: in %s", question, in ? in->valuestring : "");
    ck_assert_int_eq(at ? at->valueint : -1, wrong[_i].at);
    ck_assert_ptr_null(live_array(0));
    expect_still(kl);
}
END_TEST

START_TEST(asks_for_what_is_not_there)
{
    refused("cannot open", "{'ask':'open','model':'./nowhere'}");
    refused("question: no model is open", "{'ask':'run','text':'a'}");
    answered("{'ask':'open','model':'life'}");
    refused("question: nothing was run yet", "{'ask':'heads'}");
    answered("{'ask':'run','text':'Life is'}");
    refused("model 'life' has no output layer: there is nothing to look through", "{'ask':'lens'}");
    refused("model life has no output layer: nothing comes next", "{'ask':'without','layer':0,'head':0}");
    refused("output layer", "{'ask':'next'}");
    refused("Lily", "{'ask':'run','text':'Lily'}");
    ck_assert(cJSON_IsNull(cJSON_GetObjectItem(answered("{'ask':'run','text':'Life is'}"), "kl")));
}
END_TEST

/* ---- whatever comes ----------------------------------------------------------------------- */

static const char whole[] = "{\"ask\":\"run\",\"text\":\"Life \\u0069s\",\"off\":[\"0,0\"],"
                            "\"edits\":[\"L0.q *= 2\"],\"attention\":\"window:2\","
                            "\"scale\":\"0.5\",\"dropout\":0.25,\"seed\":\"7\",\"keep\":[\"attn.pattern\",\"q\"],"
                            "\"append\":5}";

START_TEST(broken_questions_are_answered)
{
    uint32_t seed = 5;
    int code;
    char *copy;
    answered("{'ask':'open','model':'life'}");
    asked_of(&code, whole, sizeof whole - 1);
    ck_assert_msg(!code, "%s", live_answer());
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        copy = malloc(n + 1);
        memcpy(copy, whole, n);
        asked_of(&code, copy, n);
        ck_assert(code);
        free(copy);
    }
    for (int round = 0; round < 4000; round++) {
        const size_t n = sizeof whole - 1;
        copy = malloc(n);
        memcpy(copy, whole, n);
        for (size_t k = 0; k < 1 + draw_below(&seed, 3); k++)
            copy[draw_below(&seed, n)] = (char)(draw_below(&seed, 3) ? whole[draw_below(&seed, n)] :
                                                (char)draw_below(&seed, 256));
        asked_of(&code, copy, n);
        free(copy);
    }
    copy = malloc(200000);
    memset(copy, '[', 200000);
    memcpy(copy, "{\"keep\":", 8);
    asked_of(&code, copy, 200000);
    ck_assert(code);
    free(copy);
    asked_of(&code, whole, sizeof whole - 1);
    ck_assert_msg(!code, "%s", live_answer());
}
END_TEST

/* Files of any kind, good and bad, in place of a model. */
START_TEST(hostile_files_are_refused_or_open)
{
    static const char *const folders[] = {"tests/corpus/gguf", "tests/corpus/course", "tests/corpus/torch",
                                          "tests/corpus/model",
                                          "tests/corpus/safetensors"};
    int code;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        DIR *d = opendir(folders[i]);
        ck_assert_ptr_nonnull(d);
        for (struct dirent *e; (e = readdir(d)); ) {
            if (*e->d_name == '.')
                continue;
            char question[512];
            int n = snprintf(question, sizeof question,
                             "{\"ask\":\"open\",\"model\":\"%s/%s\"}", folders[i], e->d_name);
            asked_of(&code, question, (size_t)n);
            if (!code)
                asked_of(&code, "{\"ask\":\"run\",\"ids\":\"0\",\"keep\":[\"pattern\"]}", 42);
        }
        closedir(d);
    }
    answered("{'ask':'open','model':'life'}");
}
END_TEST

Suite *suite_live(void)
{
    Suite *s = suite_create("live");
    TCase *t = tcase_create("live");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, lists_are_those_of_the_library);
    tcase_add_test(t, says_what_a_model_is);
    tcase_add_test(t, edits_move_the_next_token_as_the_library_says);
    tcase_add_test(t, tokens_that_are_appended_stay);
    tcase_add_test(t, a_mask_says_what_is_hidden);
    tcase_add_test(t, the_lens_is_that_of_the_library);
    tcase_add_test(t, heads_are_those_of_the_command);
    tcase_add_test(t, without_a_head_the_same_comes_next);
    tcase_add_loop_test(t, a_weight_comes_from_what_the_run_says, 0, (int)(sizeof weighed / sizeof *weighed));
    tcase_add_test(t, writes_on_as_the_command_does);
    tcase_add_test(t, measures_and_writes_what_the_library_does);
    tcase_add_loop_test(t, what_is_wrong_is_said_and_nothing_is_lost, 0, (int)(sizeof wrong / sizeof *wrong));
    tcase_add_test(t, asks_for_what_is_not_there);
    tcase_add_test(t, broken_questions_are_answered);
    tcase_add_test(t, hostile_files_are_refused_or_open);
    suite_add_tcase(s, t);
    return s;
}

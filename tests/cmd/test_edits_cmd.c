/* Edits on the command line: in every command that has them, what they do is what an unedited run of another text, or
 * another command, shows; documents record them; what is wrong is said before anything is computed. */
#include "suites.h"

#include "grown.h"
#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>

#define RED "-m tiny -s 'Lily lost her red ball'"
#define BIG "-m tiny -s 'Lily lost her big ball'"
#define FROM_BIG "--from 'Lily lost her big ball'"

/* ---- heads, lens, attribute ---- */

/* A text whose embedding is replaced by that of another is the other text. */
START_TEST(questions_see_the_edited_run)
{
    expect_same("$A lens " RED " --patch embed " FROM_BIG " --target 500 --format csv",
                "$A lens " BIG " --target 500 --format csv");
    expect_same("$A attribute " RED " --patch embed " FROM_BIG " --target 500 --neurons 9 --format csv",
                "$A attribute " BIG " --target 500 --neurons 9 --format csv");
    expect_same("$A heads " RED " --patch embed " FROM_BIG " --format csv", "$A heads " BIG " --format csv");
    expect_same("$A heads " RED " --patch pattern --patch-from 'text(\"Lily lost her big ball\")' --format csv",
                "$A heads " BIG " --format csv");
}
END_TEST

/* Where every pattern is uniform, each head spreads its attention over all keys, and the mean of 1/(q + 1) over rows 1
 * and 2 is 5/12. */
START_TEST(heads_score_edited_patterns)
{
    expect_exactly("$A heads -m tiny --ids 5,6,7 --edit 'pattern = uniform' --format json | jq -c "
                   "'.edits, ([.rows[] | [.previous, .self, .first, .spread | . * 1e6 | round]] | unique)'",
                   "[\"pattern = uniform\"]\n[[416667,416667,416667,1000000]]\n");
    expect_same("$A heads -m tiny --repeat 24 --edit 'L0-4H* *= 0.5' --format csv -t 1",
                "$A heads -m tiny --repeat 24 --edit 'context *= 0.5' --format csv -t 3");
    expect_same("printf 'the cat\\nOne day\\n' | $A heads -m tiny -f - --ablate L0.mlp.out --format csv",
                "printf 'the cat\\nOne day\\n' | $A heads -m tiny -f - --edit 'L0.mlp.out *= 0' --format csv");
    expect("$A heads -m tiny --ids 5,6,7 --ablate L0H0,1.2", 0, "\nedit: L0H0 = 0\nedit: L1H2 = 0\n\nhead ");
    expect("$A heads -m tiny --copying --top 1 --ablate L0H0 --format json | jq '.rows[0].copying != null'", 0, "true");
    expect("printf 'the cat\\nOne day, Tom\\n' | $A heads -m tiny -f - --ablate 'L0H0[pos=3]' 2>&1 >$D/x", 3,
           "1 of 2 records failed");
}
END_TEST

START_TEST(scores_have_no_mean)
{
    expect("$A run " RED " --edit 'L0.dots = mean(from)' --from 'Lily lost her big ball' -q", 0, "");
}
END_TEST

START_TEST(standard_input_is_read_once)
{
    expect("printf 'Life is short' | $A score -m tiny -f - --edits - 2>&1", 2,
           "two options read standard input, which can be read once");
    expect("printf 'Life is' | $A heads -m tiny -f - --edits - 2>&1", 2, "two options read standard input");
    expect("echo L0H1=0 | $A score -m tiny -s 'Life is short' --edits - 2>&1", 0, "");
}
END_TEST

/* A batch is continued only with what the files hold that it began with. */
START_TEST(a_batch_knows_what_its_files_held)
{
    expect_exactly("cd $D; printf 'Lily\nTom\n' >in; printf 'Lily lost' >t; "
                   "b=\"$A batch -q -m tiny -f in --edit L1.resid_post=mean(texts(t)) --show resid_post -o\";"
                   "$b o; $b o --resume; for i in 0 1; do $b s.$i --shard $i/2; done; $A merge s.0 s.1 -o m; cmp o m; "
                   "printf 'Tom had' >t;"
                   "ends 1 $b o --resume 2>&1 | grep -o 'was made with the content of the files it names'; "
                   "$b s.1 --shard 1/2 --force;"
                   "ends 1 $A merge s.0 s.1 -o m2 2>&1 | grep -o 'the content of the files' | head -n 1",
                   "was made with the content of the files it names\nthe content of the files\n");
}
END_TEST

/* A picture or a text that leaves the house says what was edited, in the words that a program gets. */
static const char *const named[][2] = {
    {"run " RED " --layer 3 --ablate L0H0 -o $D/x.svg && cat $D/x.svg",
     "attention pattern, edited: L0H0 = 0 (rows: queries"},
    {"run " RED " --ablate L0H0 --attention window:2 --format term",
     "attention pattern, window:2, edited: L0H0 = 0 (rows: queries"},
    {"run " RED " --ablate L0H0,L0H1,L0H2,L0H3,L1H0,L1H1,L1H2,L1H3,L2H0,L2H1 --format term",
     ", L1H3 = 0 and 2 more (rows: queries"},
    {"run " RED " --layer 3 --format term", "attention pattern (rows: queries"},
    {"run " RED " --show tokens --ablate L0H0,L1H1",
     "\n\nedit: L0H0 = 0\nedit: L1H1 = 0\n\nlikeliest next tokens, before the edits\n"},
    {"run " RED " --ablate L0H0 --format screen", "\nedit: L0H0 = 0\nnext, before the edits"},
    {"score " RED " --ablate L0H0,L1H1",
     "\n\nedit: L0H0 = 0\nedit: L1H1 = 0\n\nlikeliest next tokens, before the edits\n"},
    {"heads " RED " --ablate L0H0 --format term", "share of the attention, edited: L0H0 = 0 (rows: layers"},
    {"heads " RED " --ablate L0H0 -o $D/x.html && cat $D/x.html", "\"edits\":[\"L0H0 = 0\"]"},
    {"lens " RED " --ablate L0H0 -o $D/x.svg && sed -n 's/^<text.*>\\(.*\\)<.*/\\1/p' $D/x.svg | tr '\\n' ' '",
     "coloured by its probability, edited: L0H0 = 0 (rows: "},
    {"lens " RED " --edit 'L0H0 *= 0.5' --ablate L1H1 -o $D/x.html && cat $D/x.html",
     "<p>Edited: L0H0 *= 0.5 · L1H1 = 0</p>"},
    {"patch " RED " " FROM_BIG " --what v --over layer --metric 'logit(3)' --ablate L0H0 --format term",
     "logit(3), edited: L0H0 = 0 (rows: layers"},
    {"patch " RED " " FROM_BIG " --what v --over layer --metric 'logit(3)' --ablate L0H0 -o $D/x.html && cat $D/x.html",
     "\"edits\":[\"L0H0 = 0\"]"},
};

START_TEST(what_was_edited_is_named)
{
    char line[400];
    snprintf(line, sizeof line, "$A %s", named[_i][0]);
    expect(line, 0, named[_i][1]);
}
END_TEST

START_TEST(lens_looks_at_the_edited_stream)
{
    expect_same("$A lens " RED " --ablate L3.attn.out,L3.mlp.out --format csv | grep 2.resid_post | cut -d, -f3-",
                "$A lens " RED " --ablate L3.attn.out,L3.mlp.out --format csv | grep 3.resid_post | cut -d, -f3-");
    expect("$A lens " RED " --ablate L3.attn.out,L3.mlp.out", 0,
           "edit: L3.attn.out = 0\nedit: L3.mlp.out = 0\n\nlikeliest next");
    expect_exactly("$A lens " RED " --edit 'L1.resid_post[pos=\" red\"]=0' --format json | jq -c .edits",
                   "[\"L1.resid_post[pos=\\\" red\\\"] = 0\"]\n");
}
END_TEST

/* An ablated head has no part in the logit, which is that of the edited run; what replaces the stream itself is no
 * part, and remains. */
START_TEST(attribution_is_of_the_edited_run)
{
    expect_exactly("$A attribute " RED " --target 15 --ablate L2H0,L1.mlp.out --format json >$D/x; jq -c '.edits, "
                   "[.rows[] | select(.value == 0) | .name], (.remainder | fabs < 1e-4)' $D/x",
                   "[\"L2H0 = 0\",\"L1.mlp.out = 0\"]\n[\"L1.mlp\",\"L2H0\"]\ntrue\n");
    expect_same("jq '.logit * 1e6 | round' $D/x",
                "$A run " RED " --ablate L2H0,L1.mlp.out --show logits --format json | "
                "jq '.activations[0].data[-1][15] * 1e6 | round'");
    expect("$A attribute " RED " --target 15 --edit 'L0.resid_post = 0' --format json | jq '.remainder | fabs > 0.1'",
           0, "true");
    expect("$A attribute " RED " --target 15 --ablate L2H0", 0, "\nedit: L2H0 = 0\n");
    /* where logits are capped, too, before the cap */
#define CAPPED "-m tests/golden/checkpoints/gemma2-a --ids 5,9,3,5,9,7 --target 9 "
    expect_exactly("$A attribute " CAPPED "--format json >$D/x; $A attribute " CAPPED
                   "--edit 'norm_final *= 2' --format json | "
                   "jq --slurpfile x $D/x '(.logit - 2 * $x[0].logit | fabs < 1e-6), .sum == $x[0].sum'",
                   "true\ntrue\n");
}
END_TEST

/* ---- what is said before, and in place of, a run ---- */

START_TEST(a_dry_run_lists_what_edits_touch)
{
    expect_exactly("$A run " RED " --dry-run --edit 'L0-1H1[pos=-1] = 0' --edit 'pattern[key=0,head=2,pos=1-2] = "
                   "nowhere.npy' 2>&1 || "
                   "$A run " RED " --dry-run --edit 'L0-1H1[pos=-1] = 0' --edit 'L3.pattern[head=2,pos=1-2] = from' "
                   FROM_BIG,
                   "attn-cli run: nowhere.npy: cannot open: No such file or directory\n"
                   "L0-1H1[pos=-1] = 0\n"
                   "  activation              heads   rows         columns             numbers\n"
                   "  blocks.0.attn.context   1       4            32-63                    32\n"
                   "  blocks.1.attn.context   1       4            32-63                    32\n\n"
                   "L3.pattern[head=2,pos=1-2] = from\n"
                   "  activation              heads   rows         keys                numbers\n"
                   "  blocks.3.attn.pattern   2       1-2          0-4                       5\n");
    expect_exactly("$A run -m tests/golden/checkpoints/llama-f --ids 1,2,3 --dry-run --edit 'L1.v[head=2-3,col=0,5] = "
                   "0' | tail -1",
                   "  blocks.1.attn.v         kv 1    0-2          0,5                       6\n");
    expect_exactly("$A run -m tests/golden/checkpoints/gpt2-a --ids 1,2 --dry-run --edit 'L0.context[col=0-1,5,9] = "
                   "0' | tail -1",
                   "  blocks.0.attn.context   0-1     0-1          0-1,5,9                   8\n");
    expect_exactly("$A run -m tests/golden/checkpoints/neo-h --ids 1,2,3,4,5,6,7 --dry-run --edit 'scores = 0' | "
                   "awk 'NR > 2 {print $NF}'",
                   /* 4 heads, 28 cells; a window of 5 hides three of them in odd layers */
                   "112\n100\n112\n100\n");
    expect_exactly("$A run " RED " --dry-run", "no edits: nothing is changed\n");
}
END_TEST

/* Both tables of tokens where rows correspond; the source's where one row is selected that it does not have. */
START_TEST(rows_that_do_not_correspond_are_shown)
{
    expect("$A run " RED " --edit 'L0.resid_post = from' --from \"$(printf 'Lily lost %.0s' $(seq 30))\" 2>&1", 1,
           "| lo..., and Lily| lost| her| red| ball)");
    expect_same("$A run " RED " --edit 'L0.resid_post[pos=\" red\"] = from' --from 'her red' --show resid_post --layer "
                "0 --format json | "
                "jq -c '.activations[0].data[3]'",
                "$A run -m tiny -s 'her red' --show resid_post --layer 0 --format json | "
                "jq -c '.activations[0].data[-1]'");
    expect_same("$A run " RED
                " --edit 'L0.resid_post[pos=-1] = from' --from 'her red' --show resid_post --layer 0 --format json | "
                "jq -c '.activations[0].data[4]'",
                "$A run -m tiny -s 'her red' --show resid_post --layer 0 --format json | "
                "jq -c '.activations[0].data[-1]'");
}
END_TEST

/* How many columns a mean over texts has is known only when they have run. */
START_TEST(columns_that_are_keys_correspond)
{
    static const char *const lines[][2] = {
        {"run --ids 1,2,3 --no-compare --show pattern", "the source has 1, the text 3"},
        {"lens --ids 1,2,3", "the source has 1, the text 3"},
        {"attribute --ids 1,2,3 --target 5", "the source has 1, the text 3"},
        {"generate --ids 1,2,3 -n 2", "the source has 1, the text 3"},
        {"score --ids $(seq -s, 1 64),$(seq -s, 1 64)", "longer than the model's context is read in windows"}};
    succeed("echo '{\"ids\": [5]}' >$D/m.ndjson; echo '{\"ids\": [5, 6, 7]}' >$D/n.ndjson");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect(printed("$A %s -m induction --edit \"L0.pattern = mean(texts($D/m.ndjson))\" 2>&1", lines[i][0]), 1,
               lines[i][1]);
    succeed("$A run -q -m induction --ids 1,2,3 --no-compare --show pattern --edit \"L0.pattern = "
            "mean(texts($D/n.ndjson))\"");
}
END_TEST

/* Where no softmax reads it, -inf could only make NaN. */
START_TEST(infinity_is_for_a_softmax)
{
    static const char *const refused[] = {"L0.mlp.out", "L0.pattern", "embed", "L0H1", "L0.k", "norm_final",
                                          "blocks.0.*"};
    static const char *const taken[] = {"L0.scores[key=1]", "L0.dots[key=1]", "logits[col=5]"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        expect(printed("$A run " RED " --edit '%s = -inf' 2>&1", refused[i]), 1,
               "-inf is for dots, scores and logits, which a softmax reads; in ");
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        succeed(printed("$A run " RED " --edit '%s = -inf' --no-compare --show tokens", taken[i]));
}
END_TEST

START_TEST(the_nearest_name_is_offered)
{
    static const char *const pairs[][2] = {
        {"L0.mlp.oot", "nearest is 'mlp.out'"}, {"patern", "nearest is 'attn.pattern'"},
        {"blocks.1.attn.skores", "nearest is 'attn.scores'"},
        {"v[pos=\"red\"]", "nearest is \" red\""}, {"v[pos=\" bal\"]", "nearest is \" ball\""},
        {"v[pos=\"zebra\"]", "attn-cli tokenize"},
        {"1.2.pattern", "column 4"}, {"1.2-3", "L1H2-3"}, {"L1H2[col=32]", "a head of attn.context has 32 columns"},
        {"zebra", "names: embed"}, {"L1.logits", "'logits' is in no layer: leave out the layer"},
        {"L0.embed", "is in no layer"},
        {"L0.lens", "derived from other activations"},
        {"L1.H2", "before which no full stop stands: in layer 1 it is L1H2"},
        {"l1h2", "a head has capital letters: L1H2"},
        {"attn", "nearest is 'attn.out'"}, {"mlp", "nearest is 'mlp.out'"}, {"L1.mlp", "nearest is 'mlp.out'"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        expect(printed("$A run " RED " --edit '%s = 0' 2>&1", pairs[i][0]), i == 6 || i == 7 ? 2 : 1, pairs[i][1]);
    expect("cd $D; $A run -q " RED " --show resid_pre,mlp.out --layer 0 --format npz -o z.npz; $A run " RED
           " --edit 'L0.resid_post = z.npz' 2>&1", 1,
           "z.npz has no array 'blocks.0.resid_post'; it has blocks.0.resid_pre, blocks.0.mlp.out\n");
    expect_same("$A run " RED
                " --edit 'v[pos=\" red\",\" ball\"] = 0' --no-compare --show logits --format csv | sha256sum",
                "$A run " RED " --edit 'v[pos=3,4] = 0' --no-compare --show logits --format csv | sha256sum");
    expect("$A run " RED " --edit \"$(printf '*z%.0s' {1..300}) = 0\" 2>&1", 1, "': nothing matches '*z*z");
    expect("$A run " RED " --edit \"$(printf '*z%.0s' {1..300}) = 0\" 2>&1", 1, "*z'; names: embed");
}
END_TEST

/* ---- texts that grow ---- */

/* Steps with a cache give each token the probability that one pass over the whole text gives it. */
START_TEST(a_cache_changes_nothing_about_edits)
{
    static const char *const models[] = {"tiny", "tests/golden/checkpoints/gpt2-a", "tests/golden/checkpoints/llama-f",
                                         "tests/golden/checkpoints/neo-h", "tests/golden/checkpoints/neox-i",
                                         "tests/golden/checkpoints/qwen2-j"};
    static const char *const kinds[] = {"model", "window:3", "strided:2,3", "random:2,1,5", "block:2"};
    /* of four tokens of a prompt; of the ten that there are in the end */
    static const char *const edits[][2] = {
        {"L0H1 = 0"}, {"L0.v[pos=-1] = 0", "L0.v[pos=3-9] = 0"}, {"L0.k[pos=2] = 0"}, {"L0.pattern = uniform"},
        {"scores[key=5] = -inf"},
        {"L0.resid_post[pos=new] *= 0.5", "L0.resid_post[pos=4-9] *= 0.5"},
        {"L0.mlp.out[pos=prompt] = 0", "L0.mlp.out[pos=0-3] = 0"},
        {"v += noise(0.3,5)"}, {"L1.pattern[pos=7] = 0"}, {"L0.mlp.out = mean(ids(1,2,3))"}, {"q -= proj(ids(1))"},
        {"L0.resid_post = ids(1,2,3,4)", "L0.resid_post[pos=0-3] = ids(1,2,3,4,1,1,1,1,1,1)"}};
    const char *model = models[_i];
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const char *kind = kinds[(i + (size_t)_i) % (sizeof kinds / sizeof *kinds)];
        grown_expect_same(printed("$A generate -q -m %s --ids 5,6,7,8 -n 6 --ignore-eos --attention %s --edit '%s' "
                                  "--format json",
                                  model, kind, edits[i][0]),
                          printed("$A score -m %s --ids IDS --attention %s --edit '%s' --no-compare --format json",
                                  model, kind, edits[i][edits[i][1] != NULL]), 10);
    }
}
END_TEST

/* Heads that are named together have a component each, in contexts as in queries; a context whose heads are not named
 * is one row. */
START_TEST(heads_are_projected_one_by_one)
{
    static const char *const same[][2] = {
        {"'L0H0-1 -= proj(from)'", "'L0H0 -= proj(from)' --edit 'L0H1 -= proj(from)'"},
        {"'L0.context[head=0,2] -= proj(from)'", "'L0H2 -= proj(from)' --edit 'L0H0 -= proj(from)'"},
        {"'L0H1-2[col=3-9] -= proj(from)'", "'L0H1[col=3-9] -= proj(from)' --edit 'L0H2[col=3-9] -= proj(from)'"},
        {"'L0H* -= proj(from)'", "'L0.context[head=*] -= proj(from)'"}};
    static const char *const shows[] = {"--show context,attn.out", "--show context,v --gradient 'logit(5)'"};
#define PROJ "$A run -q -m tiny --ids 5,6,7 --from-ids 8,9,4 --layer 0 --no-compare --format csv -o $D/%c --edit "
#define BOTH "; for f in $D/a/*.csv; do cmp $f $D/b/${f##*/} && echo same; done | sort | uniq"
    for (size_t i = 0; i < 2 * sizeof same / sizeof *same; i++)
        expect_exactly(printed("rm -rf $D/[ab]; " PROJ "%s %s; " PROJ "%s %s" BOTH, 'a', same[i / 2][0], shows[i % 2],
                               'b', same[i / 2][1], shows[i % 2]),
                       "same\n");
    expect(printed(PROJ "'L0H* -= proj(from)' --show attn.out; " PROJ
                   "'L0.context -= proj(from)' --show attn.out; cmp $D/a/*.csv $D/b/*.csv", 'a', 'b'),
           1, "differ");
}
END_TEST

/* A text of one token is allowed where another length is an error, so it is said. */
START_TEST(one_row_that_serves_all_is_noted)
{
    static const struct { const char *line, *says; } cases[] = {
        {"run " RED " --no-compare --show tokens --edit 'embed = text(\"Tom\")'",
         "edit 'embed = text(\"Tom\")': the source has one row, which serves all 5\n"},
        {"generate -m tiny --ids 5,6,7 -n 2 --edit 'L0-1.mlp.out += 2*ids(1)'",
         "edit 'L0-1.mlp.out += 2*ids(1)': the source has one row, which serves all\n"},
        {"score -m tiny --ids 5,6,7 --edit 'v -= proj(ids(1))'",
         "edit 'v -= proj(ids(1))': the source has one row, which serves all 3\n"},
        {"run " RED " --dry-run --edit 'L0.q[pos=1-2] = ids(3)' --edit 'embed[pos=0] = ids(3)' | grep =",
         "L0.q[pos=1-2] = ids(3)  (one row, which serves all 2)\nembed[pos=0] = ids(3)\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(printed("$A %s 2>&1", cases[i].line), 0, cases[i].says);
    expect_exactly("for e in 'embed[pos=0] = ids(3)' 'embed = ids(1,2,3)' 'embed = mean(ids(3))'; "
                   "do $A run -m tiny --ids 5,6,7 --show tokens --edit \"$e\" 2>&1 >$D/text | { grep serves || "
                   ":; }; done", "");
    /* one look at all edits for each of them would take a minute */
    expect("{ seq -f 'L0H0 = %.0f' 200000; echo 'embed = ids(3)'; } >$D/many; "
           "ulimit -t 30; $A score -m tiny --ids 5,6,7 --edits $D/many 2>&1 >/dev/null", 0,
           "edit 'embed = ids(3)': the source has one row, which serves all 3\n");
}
END_TEST

/* A table of tokens has nothing of what edits do. */
START_TEST(a_comparison_that_is_not_in_the_file_is_told)
{
#define TOKENS "$A run " RED " --ablate L3H0 --show tokens"
    expect_exactly(TOKENS " -o $D/x.csv 2>&1", "edits do not change tokens, which is all that csv shows: what comes "
                   "next before and after them is in --format text, and in json under \"compare\"\n");
    expect(TOKENS " --format json | jq -c '.compare | keys'", 0, "[\"after\",");
    expect_exactly("for o in '-o x.json' '-o x.txt' '-q -o x.csv' '--no-compare -o x.csv' '--show tokens,context -o "
                   "csv/'; do (cd $D && " TOKENS " $o 2>&1); done; "
                   "$A run " RED " --show tokens -o $D/y.csv 2>&1; "
                   "$A run -m life -s Life --ablate L0H0 --show tokens -o $D/z.csv 2>&1", "");
}
END_TEST

/* Of an archive what is asked for must be numbers, and nothing else. */
START_TEST(other_members_do_no_harm)
{
#define BESIDE "tests/corpus/npz/n_int_beside.npz"
    expect_same("$A run -q -m life -s 'Life is' --show embed --format csv --no-compare --edit 'embed = " BESIDE ":x'",
                "printf 'token,0,1,2\\nLife,1,2,3\\nis,1,2,3\\n'");
    expect("$A run -q -m life -s 'Life is' --edit 'embed = " BESIDE ":i' 2>&1", 1,
           BESIDE ": i.npy: holds numbers of type '<i8', expected floats");
    expect("$A diff " BESIDE " " BESIDE " 2>&1", 2, "i.npy: holds numbers of type '<i8'");
}
END_TEST

/* Each array of an archive has a mean of its own. */
START_TEST(means_of_one_archive_are_several)
{
    succeed("$A run -m tiny -s 'Tom ran home' --show mlp.out -o $D/a.npz && cp $D/a.npz $D/b.npz");
#define TWO(second) "$A run -m tiny -s 'Lily was sad' --edit \"L0.mlp.out[pos=0] = mean($D/a.npz:blocks.0.mlp.out)\" " \
    "--edit \"L0.mlp.out[pos=1] = mean($D/" second ".npz:blocks.1.mlp.out)\" --show resid_post --layer 0 --format csv"
    expect_same(TWO("a"), TWO("b"));
}
END_TEST

/* Of what is generated the last token is read only by the pass of -o. */
START_TEST(rows_that_never_come_are_refused)
{
    static const struct { const char *args, *says; } never[] = {
        {"-n 6 --edit 'L0.mlp.out[pos=99] = 0'",
         "position 99 is not there: the model reads at most 9 tokens, counted from 0\n"},
        {"-n 6 --edit 'L0.mlp.out[pos=9] = 0'",
         "position 9 is not there: the model reads at most 9 tokens, counted from 0\n"},
        {"-n 6 --edit 'pattern[key=9] = 0'", "key 9 is not there: the model reads at most 9 tokens, counted from 0\n"},
        {"-n 6 --edit 'L0.mlp.out[pos=new] = ids(1,2,3,4)'",
         "ids(1,2,3,4) acts on the prompt alone, as it has several rows, and nothing of it is "
         "selected: take one row, or mean(...), for the rows after it\n"},
        {"-n 6 --edit 'L0.mlp.out[pos=7] = ids(1,2)'", "ids(1,2) acts on the prompt alone, as it has several rows"},
        {"-n 6 --edit 'pattern[pos=new] = ids(5)'",
         "ids(5) acts on the prompt alone, as its columns are keys, and nothing of it is selected\n"},
        {"-n 6 --edit 'pattern[key=4] = ids(1,2,3,4)'",
         "ids(1,2,3,4) acts on the prompt alone, as its columns are keys"},
        {"-n 0 --edit 'L0.mlp.out[pos=new] = 0'",
         "there will be no new rows: the model reads the 4 tokens of the prompt alone\n"},
        {"-n 1 --edit 'L0.mlp.out[pos=new] = 0'", "there will be no new rows"},
        {"-n 1 --edit 'L0.mlp.out[pos=\" dog\"] = 0'", "no token of the text is \" dog\""}};
    static const char *const some[] = {"-n 6 --edit 'L0.mlp.out[pos=8] = 0'",
                                       "-n 6 --edit 'L0.mlp.out[pos=9] = 0' -o $D/x.npz",
                                       "-n 1 --edit 'L0.mlp.out[pos=new] = 0' -o $D/x.npz",
                                       "-n 0 --edit 'L0.mlp.out[pos=-1] = 0'",
                                       "-n 6 --edit 'L0.mlp.out[pos=new] = ids(1)'",
                                       "-n 6 --edit 'L0.mlp.out[pos=new] = mean(ids(1,2))'",
                                       "-n 6 --edit 'L0.mlp.out[pos=3-8] = ids(1,2,3,4)'",
                                       "-n 2 --edit 'L0.mlp.out[pos=\" dog\"] = 0'"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        expect(printed("$A generate -q -m tiny --ids 5,6,7,8 %s 2>&1", never[i].args), 1, never[i].says);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        expect(printed("$A generate -q -m tiny --ids 5,6,7,8 --ignore-eos %s 2>&1 >$D/text | wc -c", some[i]), 0,
               "0\n");
}
END_TEST

/* The file has what the steps had: the last row of the prompt is that of the source, which has more rows, and new ones
 * are their own. */
START_TEST(a_grown_text_is_written_as_it_was_edited)
{
    expect_same("$A generate -q -m tiny --ids 5,6,7,8 -n 3 --show resid_post --layer 0 -o $D/g.json --edit "
                "'L0.resid_post[pos=-1] = ids(1,2,3,4,5,6)' >$D/text && jq -c '.activations[0].data[3]' $D/g.json",
                "$A run -m tiny --ids 1,2,3,4,5,6 --show resid_post --layer 0 --format json | "
                "jq -c '.activations[0].data[5]'");
    expect_same("$A generate -q -m tiny --ids 5,6,7,8 -n 3 --show scores -o $D/h.json --edit 'scores[pos=-1,key=0-2] = "
                "-inf' >$D/text; "
                "jq -c '[.tokens[].id, .activations[].data]' $D/h.json",
                "$A run -m tiny --ids $(jq -r '[.tokens[].id] | "
                "join(\",\")' $D/h.json) --show scores --edit 'scores[pos=3-6,key=0-2] = -inf' "
                "--format json | jq -c '[.tokens[].id, .activations[].data]'");
    expect_exactly("ends 1 $A generate -m tiny --ids 5,6 -n 3 --show scores -o $D/x.json --edit 'scores[key=-1] = 0' "
                   "2>&1; test ! -e $D/x.json",
                   "attn-cli generate: edit 'scores[key=-1] = 0': in a pass over the whole text the last key is not "
                   "what it was when each row was computed: count keys from the start\n");
}
END_TEST

/* A token whose logit is -inf never comes. */
START_TEST(an_edit_can_rule_a_token_out)
{
    expect("$A generate -q -m tiny --ids 5,6,7,8 -n 9 --edit 'logits[col=198] = -inf' --format json | "
           "jq -e '[.tokens[4:][].id] | index(198) | not'",
           0, "true");
    expect("$A score -m tiny --ids 5,198 --edit 'logits[col=198] = -inf' --no-compare", 0,
           "logprob     -inf\nperplexity  inf\n");
    expect("$A generate -m tiny --ids 5 --edit 'logits = -inf' 2>&1", 1, "or an edit made it so");
}
END_TEST

/* Where a text grows, the token an edit names may come yet, or never; what no token is can never come. */
START_TEST(an_edit_waits_for_its_token)
{
    static const char *const generate =
        "$A generate -q -m tiny -s 'Once upon a time' -n 10 --ignore-eos %s --format json | jq -c "
                                        "'[.tokens[].text] | (index(\" girl\") + 1) as $n | %s'";
    const char *dog = "--edit 'resid_post[pos=\" dog\"] *= 0'", *girl = "--edit 'resid_post[pos=\" girl\"] *= 0'";
    expect_same(printed(generate, dog, "."), printed(generate, "", "."));
    expect_same(printed(generate, girl, ".[:$n]"), printed(generate, "", ".[:$n]"));
    char *edited = strdup(succeed(printed(generate, girl, ".[$n:]"))->text);
    ck_assert_str_ne(edited, succeed(printed(generate, "", ".[$n:]"))->text);
    free(edited);
}
END_TEST

START_TEST(notes_say_that_a_run_is_edited)
{
    expect("$A generate -m tiny --ids 5 -n 1 --ablate L0H0,L1H0 2>&1 >$D/text", 0, "edited: L0H0 = 0 and more\n");
    expect_exactly("$A generate -q -m tiny --ids 5 -n 1 --ablate L0H0 2>&1 >$D/text | wc -c", "0\n");
    expect("$A diff -m tiny --with tiny --ids 5,6 --ablate L0H0", 1,
           "\nA       tiny\nedited  L0H0 = 0\nB       tiny\n");
    expect("$A explain -m tiny --ids 5,6 --edit 'L0.pattern = uniform'", 0, "\n    L0.pattern = uniform\n");
}
END_TEST

Suite *suite_edits_cmd(void)
{
    Suite *s = suite_create("edits_cmd");
    TCase *c = tcase_create("edits_cmd");
    tcase_add_checked_fixture(c, shell_set_up, scratch_remove);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, questions_see_the_edited_run);
    tcase_add_test(c, heads_score_edited_patterns);
    tcase_add_test(c, scores_have_no_mean);
    tcase_add_test(c, standard_input_is_read_once);
    tcase_add_test(c, a_batch_knows_what_its_files_held);
    tcase_add_loop_test(c, what_was_edited_is_named, 0, (int)(sizeof named / sizeof *named));
    tcase_add_test(c, lens_looks_at_the_edited_stream);
    tcase_add_test(c, attribution_is_of_the_edited_run);
    tcase_add_test(c, a_dry_run_lists_what_edits_touch);
    tcase_add_test(c, rows_that_do_not_correspond_are_shown);
    tcase_add_test(c, columns_that_are_keys_correspond);
    tcase_add_test(c, the_nearest_name_is_offered);
    tcase_add_test(c, infinity_is_for_a_softmax);
    tcase_add_loop_test(c, a_cache_changes_nothing_about_edits, 0, 6);
    tcase_add_test(c, heads_are_projected_one_by_one);
    tcase_add_test(c, one_row_that_serves_all_is_noted);
    tcase_add_test(c, a_comparison_that_is_not_in_the_file_is_told);
    tcase_add_test(c, other_members_do_no_harm);
    tcase_add_test(c, means_of_one_archive_are_several);
    tcase_add_test(c, rows_that_never_come_are_refused);
    tcase_add_test(c, a_grown_text_is_written_as_it_was_edited);
    tcase_add_test(c, an_edit_can_rule_a_token_out);
    tcase_add_test(c, an_edit_waits_for_its_token);
    tcase_add_test(c, notes_say_that_a_run_is_edited);
    suite_add_tcase(s, c);
    return s;
}

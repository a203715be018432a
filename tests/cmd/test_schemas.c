/* test_schemas.c - attn-cli help --json: what it says of commands and options, and that everything the program writes
 * as JSON is as the schemas there say. */
#include "suites.h"

#include "schema.h"
#include "scratch.h"
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *help;

static void set_up(void)
{
    shell_set_up();
    succeed("$A help --json >$D/help.json");           /* longer than what a line returns */
    FILE *f = fopen(scratch_path("help.json"), "rb");
    static char text[1 << 19];
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    ck_assert(f && n > 0 && n < sizeof text - 1);
    fclose(f);
    text[n] = '\0';
    help = cJSON_Parse(text);
    ck_assert_ptr_nonnull(help);
}

static void tear_down(void)
{
    cJSON_Delete(help);
    scratch_remove();
}

static const cJSON *schema_of(const char *name)
{
    const cJSON *s = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(help, "schemas"), name);
    ck_assert_msg(s, "there is no schema %s", name);
    return s;
}

static void check(const char *name, const char *text, const cJSON *schema, const char *line)
{
    char why[SCHEMA_WHY];
    cJSON *value = cJSON_Parse(text);
    ck_assert_msg(value, "%s: no JSON: %.200s", line, text);
    ck_assert_msg(schema_fits(value, schema, schema_of(name), why), "%s: %s", line, why);
    cJSON_Delete(value);
}

/* ---- what is written ---- */

#define TRAINED "\"$A\" train -q -f data/small-world.txt -o $D/t --vocab-size 270 --n-layer 1 --n-head 1 --d-model 8 " \
    "--n-ctx 8 --steps 2 -s 'the cat' --watch-every 1 2>/dev/null && "
#define TWO "printf 'Life is\\nnope\\n' >$D/two.txt && ends 3 \"$A\" batch -q -m life -f $D/two.txt "
#define GPT2 "tests/golden/checkpoints/gpt2-a"
#define PATCH "-m tiny -s 'Lily lost her red' --from 'Lily lost her big' --metric 'logit(\" ball\")' "

/* Lines that print JSON: one document, or one in each line. */
static const struct { const char *schema, *line; bool lines; } written[] = {
    {"run", "\"$A\" run -m life -s 'Life is' --show '*' --format json", false},
    {"run", "\"$A\" run -m life --ids 0,4 --layer 0 --attention window:2 --scale 0.5 --dropout 0.1 --seed 2 "
     "--format json", false},
    {"run", "\"$A\" run -m tiny -s 'Tom and' --show logits,pattern --ablate L0H0 --format json", false},
    {"run", "\"$A\" run -m life -s 'Life is' --cross 'eat first' --format json", false},
    {"run", "\"$A\" run -m tiny -s 'Lily lost her red' --words --show pattern --format json", false},
    {"run", "\"$A\" run -m tiny -s 'Tom and' --gradient loss --show context --format json", false},
    {"measured", "\"$A\" run -m tiny -s 'Tom and' --ablations --head 0 --layer 0,1 --format json", false},
    {"measured", "\"$A\" run -m tiny -s 'Tom and' --metric loss --format json", false},
    {"measured", "\"$A\" run -m tiny -s 'Tom and' --metric loss --metric kl --ablate L0H0 --format json", false},
    {"measured", "\"$A\" run -m tiny -s 'Tom and' --ablations --head 0,1 --metric loss --format json", false},
    {"record", TWO "--format ndjson 2>/dev/null", true},
    {"record", "\"$A\" run -m life -s 'Life is' --format json | jq -c '{id: 7, text}' | "
               "\"$A\" batch -q -m life -f - --input ndjson --format ndjson --edit 'L0H0 = 0' --show '*'", true},
    {"grid", "printf '{\"text\":\"Life is\",\"from\":\"Life eat\"}\\n{\"text\":\"Life\",\"from\":\"Life eat\"}\\n' "
             ">$D/p.ndjson && ends 3 \"$A\" batch -q -m tiny -f $D/p.ndjson --patch resid_pre --over layer,pos "
             "--metric kl --format ndjson 2>/dev/null", true},
    {"journal", TWO "-o $D/o.ndjson 2>/dev/null; cat $D/o.ndjson.json", false},
    {"journal", TWO "-o $D/o.csv --format tidy --shard 1/2 --summary $D/s.csv 2>/dev/null; cat $D/o.csv.json", false},
    {"manifest", "\"$A\" run -q -m life -s 'Life is' --show '*' --format npy -o $D/m && cat $D/m/manifest.json", false},
    {"manifest",
     "\"$A\" run -q -m life -s 'Life is' --format csv -o $D/m --cross 'eat first' && cat $D/m/manifest.json", false},
    {"manifest", "\"$A\" run -q -m tiny -s 'Lily lost' --words --show pattern --edit 'L0H0 = 0' --format npy -o $D/m "
     "&& cat $D/m/manifest.json", false},
    {"manifest", TRAINED "cat $D/t/watch/manifest.json", false},
    {"settings", TRAINED "cat $D/t/train.json", false},
    {"config", TRAINED "cat $D/t/config.json", false},
    {"config", "\"$A\" init -q -o $D/n --vocab models/life/vocab.json --unknown is --n-layer 1 --n-head 1 --d-model 4 "
               "--d-mlp 4 --mlp relu2 --norm rmsnorm --norm-weight false --norm-embed true --final-norm false && "
               "cat $D/n/config.json", false},
    {"vocabulary", TRAINED "cat $D/t/vocab.json", false},
    {"tokenize", "\"$A\" tokenize -m tiny -s 'Tom and' --format json", false},
    {"tokenize", "\"$A\" tokenize -m tiny -s '' --format json", false},
    {"many", "printf 'Life is\\n\\nnope\\n' >$D/l.txt; \"$A\" tokenize -q -m life -f $D/l.txt --format json "
     "2>/dev/null || true", false},
    {"generate", "\"$A\" generate -m tiny -s Tom -n 3 --ablate L0H1 --temperature 1 --seed 2 --format json", false},
    {"generate", "\"$A\" generate -m " GPT2 " --ids 1,2 -n 2 --format json 2>/dev/null", false},
    {"score", "\"$A\" score -m tiny -s 'Tom and Lily' --format json", false},
    {"score", "\"$A\" score -m tiny -s 'Tom' --attention window:2 --ablate L0H1 --format json", false},
    {"score", "\"$A\" score -m " GPT2 " --ids 1,2,3 --format json", false},
    {"heads", "\"$A\" heads -m tiny -s 'Tom and Tom' --copying --format json", false},
    {"heads", "\"$A\" heads -m induction --repeat 6 --samples 2 --ablate L0H0 --top 2 --format json", false},
    {"lens", "\"$A\" lens -m tiny -s 'Tom and' --format json --points all", false},
    {"lens", "\"$A\" lens -m tiny -s 'Tom' --target ' and' --edit 'L1.mlp.out = 0' --format json", false},
    {"attribute", "\"$A\" attribute -m tiny -s 'Tom' --target ' and' --foil 3 --neurons 3 --format json", false},
    {"attribute", "\"$A\" attribute -m " GPT2 " --ids 1,5 --target 4 --pos 0 --ablate L0H0 --format json", false},
    {"patch", "\"$A\" patch " PATCH "--what resid_pre --over layer,pos --format json", false},
    {"patch",
     "\"$A\" patch " PATCH "--what context --over layer,head --method gradient --edit 'L0H0 = 0' --format json", false},
    {"patch", "\"$A\" patch " PATCH "--what embed --over pos --format json", false},
    {"variants", "\"$A\" variants -m tiny -s 'Tom and' --format json", false},
    {"diff", "\"$A\" diff -m tiny --with tiny -s 'Tom and' --edit 'L0H0 = 0' --all --format json || true", false},
    {"diff", "\"$A\" diff -m life --with life -s 'Life is' --exact --format json", false},
    {"diff", "\"$A\" diff journey journey-causal --format json || true", false},
    {"diff",
     "\"$A\" run -m life -s 'Life is' --show '*' -o $D/a.npz; \"$A\" run -m life -s 'Life is short' -o $D/b.npz; "
             "\"$A\" diff $D/a.npz $D/b.npz --format json || true", false},
    {"info", "\"$A\" info -m life --format json", false},
    {"info", "\"$A\" info -m tiny -s 'Tom and' --check --digest full --format json", false},
    {"info", "\"$A\" info -m " GPT2 " --format json 2>/dev/null", false},
    {"tensor", "\"$A\" info -m life --tensor blocks.0.attn.k.weight --format json", false},
    {"run", "\"$A\" attend -q --q '1 0; 0 1' --k '1 1; 0 2' --v '1 2 3; 4 5 6' --names 'x y' --format json", false},
    {"run", "\"$A\" run -m tiny -s 'Lily unbelievably lost, her' --words --show tokens --format json", false},
    {"cosines", "\"$A\" attend --x '0 0; 3 4' --cosines x --names 'a b' --format json", false},
    {"models", "ATTN_MODEL_PATH=\"$PWD\"/tests/golden/checkpoints \"$A\" models --format json", false},
    {"vocabulary", "\"$A\" vocab -q -f data/life.txt --drop ,", false},
    {"bench", "\"$A\" bench -q -m tiny --seconds 0 -t 1 --format json", false},
    {"help", "\"$A\" help run --json", false},
    {"help", "\"$A\" help --json | jq -c 'del(.schemas)+{schemas:{}}'", false},
};
enum { WRITTEN = sizeof written / sizeof *written };

START_TEST(what_is_written_is_as_its_schema_says)
{
    const char *name = written[_i].schema, *line = written[_i].line;
    char *text = strdup(succeed(line)->text);
    ck_assert_msg(*text, "%s: prints nothing", line);
    for (char *at = written[_i].lines ? strtok(text, "\n") : text; at;
         at = written[_i].lines ? strtok(NULL, "\n") : NULL)
        check(name, at, schema_of(name), line);
    free(text);
}
END_TEST

/* A table's lines of JSON are what the schema points to. */
static const struct { const char *schema, *line; } rows[] = {
    {"measured", "\"$A\" run -m tiny -s 'Tom and' --metric loss --metric kl --ablate L0H0 --format ndjson"},
    {"measured", "\"$A\" run -m tiny -s 'Tom and' --ablations --head 0 --format ndjson"},
    {"score", "\"$A\" score -m tiny -s 'Tom and Lily' --format ndjson"},
    {"heads", "\"$A\" heads -m tiny -s 'Tom and Tom' --top 3 --format ndjson"},
    {"lens", "\"$A\" lens -m tiny -s 'Tom and' --format ndjson"},
    {"attribute", "\"$A\" attribute -m tiny -s 'Tom' --target ' and' --format ndjson"},
    {"patch", "\"$A\" patch " PATCH "--what resid_pre --over layer,pos --format ndjson"},
    {"variants", "\"$A\" variants -m tiny -s 'Tom and' --kinds 'causal window:2' --format ndjson"},
    {"diff", "\"$A\" diff -m tiny --with tiny -s 'Tom and' --edit 'L0H0 = 0' --format ndjson || true"},
    {"diff", "\"$A\" diff journey journey-causal --format ndjson || true"},
    {"info", "\"$A\" info -m life --format ndjson"},
    {"cosines", "\"$A\" attend --x '0 0; 3 4' --cosines x --format ndjson"},
    {"models", "\"$A\" models --format ndjson"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool fits_one(const char *text, const cJSON *schema, char why[SCHEMA_WHY])
{
    const cJSON *pointer;
    cJSON *value = cJSON_Parse(text);
    bool one = false;
    cJSON_ArrayForEach(pointer, cJSON_GetObjectItemCaseSensitive(schema, "ndjson")) {
        const cJSON *row = schema_at(schema, pointer->valuestring);
        one = one || (row && schema_fits(value, row, schema, why));
    }
    cJSON_Delete(value);
    return one;
}

START_TEST(lines_of_a_table_are_as_its_schema_says)
{
    char why[SCHEMA_WHY] = "", *text = strdup(succeed(rows[_i].line)->text);
    ck_assert_msg(*text, "%s: prints nothing", rows[_i].line);
    for (char *at = strtok(text, "\n"); at; at = strtok(NULL, "\n"))
        ck_assert_msg(fits_one(at, schema_of(rows[_i].schema), why), "%s: %.200s: %s", rows[_i].line, at, why);
    free(text);
}
END_TEST

/* ---- what is described ---- */

START_TEST(every_schema_is_that_of_a_command_and_is_tried)
{
    const cJSON *schema, *c, *name;
    cJSON_ArrayForEach(schema, cJSON_GetObjectItemCaseSensitive(help, "schemas")) {
        bool named = false, tried = false;
        cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(help, "commands"))
            cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(c, "schemas"))
                named = named || !strcmp(name->valuestring, schema->string);
        for (size_t i = 0; i < WRITTEN; i++)
            tried = tried || !strcmp(written[i].schema, schema->string);
        ck_assert_msg(named && tried, "schema %s", schema->string);
    }
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(help, "commands"))
        cJSON_ArrayForEach(name, cJSON_GetObjectItemCaseSensitive(c, "schemas"))
            schema_of(name->valuestring);
}
END_TEST

/* Commands and options are those of the help for readers. */
START_TEST(it_lists_what_the_help_does)
{
    expect_same("$A help --json | jq -r '.commands[].name'",
                "$A help | sed -n '/^Commands:/,/^$/p' | sed -n 's/^  \\([a-z][a-z]*\\) .*/\\1/p'");
    expect_same("$A help --json | jq -r '(.shared | map({(.name): [.options[].name]}) | add) as $s | .commands[] | "
                "(.options[].name, $s[.shared[]][])' | sort",
                "for c in $($A help --json | jq -r '.commands[].name'); do $A help $c --all; done | "
                "sed -n 's/^  \\(-., \\|    \\)--\\([a-z0-9-]*\\).*/\\2/p' | sort");
    expect_exactly("$A help --json | jq -c '.shared[] | select(.name == \"threads\") | .options[] | "
                   "[.letter, .argument, .type, .minimum, .repeats]'", "[\"t\",\"N\",\"number\",1,false]\n");
    expect_exactly("$A help --json | jq '[.shared[].options[].name] | (unique | length) == length'", "false\n");
    expect_exactly("$A help lens --json | jq -c '[.commands[].name], (.schemas | keys)'", "[\"lens\"]\n[\"lens\",\"many\"]\n");
    expect_exactly("$A help --json | jq -c '[.topics[] | {name, n: (.terms | length > 3)}]'",
                   "[{\"name\":\"texts\",\"n\":true},{\"name\":\"places\",\"n\":true},{\"name\":\"activations\",\"n\":true},"
                   "{\"name\":\"edits\",\"n\":true},{\"name\":\"kinds\",\"n\":true},{\"name\":\"tables\",\"n\":true}]\n");
    expect_exactly("$A help --json | jq -r '.formats[] | select(.ending == \".pdf\") | .of | join(\",\")'",
                   "run,batch,pictures\n");
}
END_TEST

/* The validator itself: what is wrong is found, and where. */
static const struct { const char *schema, *value, *why; } faults[] = {
    {"models", "{}", ": expected array"},
    {"models", "[{\"name\":\"x\",\"path\":null}]", "/0: lacks where"},
    {"models", "[{\"name\":1,\"path\":null,\"where\":\"\"}]", "/0/name: expected string"},
    {"models", "[{\"name\":\"x\",\"path\":null,\"where\":\"\",\"bytes\":-1}]", "/0/bytes: -1 is below 0"},
    {"models", "[{\"name\":\"x\",\"path\":null,\"where\":\"\",\"bytes\":0.5}]", "/0/bytes: is of none of 2 types"},
    {"models", "[{\"name\":\"x\",\"path\":null,\"where\":\"\",\"more\":1}]", "/0: more is not declared"},
    {"vocabulary", "{\"a\":1.5}", "/a: expected integer"},
    {"tokenize",
     "{\"version\":\"\",\"text\":\"\",\"ids\":[],\"tokens\":[{\"id\":1,\"text\":null,\"raw\":null,\"no\":1}]}",
     "/tokens/0: no is not declared"},
    {"generate",
     "{\"version\":\"\",\"model\":{\"name\":\"\",\"family\":\"\",\"digest\":\"\"},\"tokens\":[],\"n_prompt\":0,"
                 "\"text\":null,\"stop\":\"never\"}", "/stop: is none of the 4 values listed"},
    {"many", "{\"records\":[{\"error\":\"\"}]}", "/records/0: lacks record"},
};

START_TEST(faults_are_found)
{
    char why[SCHEMA_WHY];
    cJSON *value = cJSON_Parse(faults[_i].value);
    const cJSON *schema = schema_of(faults[_i].schema);
    ck_assert_ptr_nonnull(value);
    ck_assert(!schema_fits(value, schema, schema, why));
    ck_assert_str_eq(why, faults[_i].why);
    cJSON_Delete(value);
}
END_TEST

Suite *suite_schemas(void)
{
    Suite *s = suite_create("schemas");
    TCase *t = tcase_create("schemas");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, what_is_written_is_as_its_schema_says, 0, WRITTEN);
    tcase_add_loop_test(t, lines_of_a_table_are_as_its_schema_says, 0, ROWS);
    tcase_add_test(t, every_schema_is_that_of_a_command_and_is_tried);
    tcase_add_test(t, it_lists_what_the_help_does);
    tcase_add_loop_test(t, faults_are_found, 0, (int)(sizeof faults / sizeof *faults));
    suite_add_tcase(s, t);
    return s;
}

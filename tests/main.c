/* main.c - runs all suites, or those named on the command line; the exit status is the verdict.
 *
 * CK_FORK=no runs everything in one process, for debuggers and sanitizers. */
#include "suites.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name; Suite *(*make)(void); } suites[] = {
    {"base", suite_base}, {"num", suite_num}, {"map", suite_map}, {"out", suite_out}, {"team", suite_team}, {"json", suite_json}, {"safetensors", suite_safetensors},
    {"config", suite_config}, {"family", suite_family}, {"index", suite_index}, {"vocab", suite_vocab}, {"malformed", suite_malformed}, {"tokens", suite_tokens}, {"pretoken", suite_pretoken}, {"bpe", suite_bpe}, {"tokenizer_json", suite_tokenizer_json}, {"rng", suite_rng}, {"boxmuller", suite_boxmuller},
    {"layout", suite_layout}, {"recipe", suite_recipe}, {"init", suite_init}, {"learn", suite_learn}, {"init_family", suite_init_family}, {"models", suite_models}, {"vec", suite_vec}, {"gemm", suite_gemm}, {"attention", suite_attention}, {"heads", suite_heads},
    {"names", suite_names}, {"select", suite_select}, {"sinks", suite_sinks}, {"outdir", suite_outdir}, {"text", suite_text}, {"lines", suite_lines}, {"zip", suite_zip}, {"collect", suite_collect}, {"picture", suite_picture}, {"term", suite_term}, {"html", suite_html}, {"model", suite_model}, {"shards", suite_shards},
    {"run", suite_run}, {"writers", suite_writers}, {"reference", suite_reference}, {"seeds", suite_seeds}, {"families", suite_families}, {"checkpoints", suite_checkpoints}, {"trained", suite_trained}, {"predict", suite_predict}, {"dump", suite_dump}, {"evidence", suite_evidence}, {"diff", suite_diff},
    {"compare", suite_compare}, {"cmd", suite_cmd},
    {"generate", suite_generate}, {"derivation", suite_derivation}, {"explain", suite_explain}, {"bench", suite_bench},
};

static int asked(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);           /* as the program does */
    SRunner *runner = srunner_create(suite_create("attn-cli"));
    int n = 0;
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        if (asked(suites[i].name, argc, argv)) {
            srunner_add_suite(runner, suites[i].make());
            n++;
        }
    if (n == 0) {
        fprintf(stderr, "no suite of that name\n");
        return EXIT_FAILURE;
    }
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* cmd_page.c - a page to explore a text in, which computes on. */
#include "run_page.h"

#include "input.h"
#include "opts_attention.h"
#include "opts_edits.h"
#include "opts_language.h"
#include "opts_picture.h"
#include "say.h"
#include "texts.h"

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct { const char *path; bool still; } o = {.path = "page.html"};

/* What each of our pages begins with, and no other. */
static const char ours[] = "content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-";

/* A page is replaced by a new one; anything else of that name is somebody's work. */
static int check_replaced(struct attn_err *err)
{
    char head[512] = "";
    struct stat st;
    if (!strcmp(o.path, "-") || stat(o.path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
        return ATTN_OK;
    FILE *f = fopen(o.path, "r");
    size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;
    if (f)
        fclose(f);
    head[n] = '\0';
    return strstr(head, ours) ? ATTN_OK
                              : attn_fail(err, ATTN_EUSAGE, "%s: is there, and no page of attn-cli: give another "
                                          "name with -o FILE", o.path);
}

static void say_size(void)
{
    struct stat st;
    if (strcmp(o.path, "-") && !stat(o.path, &st) && S_ISREG(st.st_mode))
        say_note("%s: %.1f MB; open it in a browser", o.path, (double)st.st_size / 1e6);
}

static int page(struct attn_err *err)
{
    int code = check_replaced(err);
    if (!code)
        code = run_page(&page_command, o.path, !o.still, err);
    if (!code)
        say_size();
    return code;
}

static const struct option options[] = {
    {'o', "output", OPT_FILE, &o.path, "FILE", "write to this file, - is standard output (default: page.html); what "
     "is no page of attn-cli is not replaced", .section = OF_OUTPUT, .flags = OPT_OUTPUT | OPT_USUAL},
    {0, "still", OPT_FLAG, &o.still, NULL, "a page that only shows what was computed, which is smaller, and the same "
     "as that of run -o x.html", .section = OF_OUTPUT, .flags = OPT_COUNTS | OPT_USUAL},
    {.name = NULL},
};

const struct command page_command = {
    .name = "page",
    .run = page,
    .texts = TEXTS,
    .one = true,
    .usage = "page TEXT [-m DIR|NAME] [--show LIST] [--still] [-o FILE]",
    .section = IN_SENTENCE,
    .summary = "a page to explore a text in: type, switch heads off, see what follows",
    .about = "Writes one file that a browser opens without a network.  It holds the model, of at most 64 MB of "
             "weights, its tokenizer and the program's own code, compiled to WebAssembly: type another text, take "
             "heads away, change weights, and every number follows.  --still leaves all that out and shows what was "
             "computed, as a larger model does, of which a note tells.",
    .examples = (const struct pair[]){
        {"attn-cli page \"Tom and Lily went to the park. Tom gave the ball to\"", "page.html, of the built-in model"},
        {"attn-cli page \"Lily lost her red ball\" --show pattern,lens --ablate L2H0 -o ball.html",
         "without a head, and with what comes next after each layer"},
        {"attn-cli page -m ./gpt2 -f note.txt --nth 0 --still", "of a larger model, as it was computed"},
        {"attn-cli page \"Lily lost her red ball\" --lang zh -o ball.html", "in Chinese"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){model_options, text_options, record_options, nth_options, encode_options,
                                             ids_options, label_options, cross_options, select_options, options,
                                             run_page_options, page_language_options, edit_options, from_options,
                                             compare_options, picture_options, key_picture_options, attention_options,
                                             dropout_seed_options, compute_options, thread_options, general_options,
                                             NULL},
};

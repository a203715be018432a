/* cmd_plot.c - draws saved matrices. */
#include "attn_tools.h"
#include "input.h"
#include "opts_language.h"
#include "opts_output.h"
#include "opts_picture.h"
#include "say.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

static struct { const char *format, *path, *show, *labels; struct number frames; bool words; } o;

static int read_labels(struct attn_labels **out, struct attn_err *err)
{
    char *text;
    size_t len;
    if (!o.labels)
        return ATTN_OK;
    if (file_read(&text, &len, o.labels, err))
        return err->code;
    int code = attn_labels_read(out, text, len, strcmp(o.labels, "-") ? o.labels : "standard input", SIZE_MAX, err);
    free(text);
    return code;
}

static int plot(struct attn_err *err)
{
    struct attn_labels *labels = NULL;
    struct attn_dump *d = NULL;
    bool terminal = terminal_is(o.path);
    char note[ATTN_PLOT_NOTE] = "";
    struct attn_plot_opts opts = {
        .path = o.path, .title = common.word, .show = o.show, .layers = selection.layer, .heads = selection.head,
        .width = terminal_columns(terminal), .frames = (size_t)o.frames.n, .picture = picture_look(terminal),
        .note = note, .words = o.words};
    if (!common.word)
        return attn_fail(err, ATTN_EUSAGE, "which matrices? give a .npy, .npz, .csv or .json file, or a directory that "
                                           "run wrote");
    int code = output_choose_format(&o.format, o.path, &plot_command, err);
    opts.format = o.format ? o.format : "term";
    if (!code)
        code = open_dump(&d, common.word, &plot_command, err);
    if (!code)
        code = read_labels(&labels, err);
    opts.labels = labels;
    if (!code)
        code = attn_plot(d, &opts, err);
    if (!code && *note)
        say_note("%s", note);
    attn_dump_free(d);
    attn_labels_free(labels);
    return code;
}

static const char *format_choice(size_t i)
{
    return format_name(i, ATTN_FORMAT_PICTURE);
}

static const struct option options[] = {
    {0, "format", OPT_CHOICE, &o.format, "F", "term (heat maps on the terminal), png, svg, pdf or html, a page to "
                                              "explore (default: by the ending of the -o path, else term)",
     .choice = format_choice,
     .section = OF_OUTPUT, .flags = OPT_USUAL},
    {'o', "output", OPT_FILE, &o.path, "PATH", "write to this file (default: -, standard output)", .section = OF_OUTPUT,
     .flags = OPT_OUTPUT | OPT_USUAL},
    {0, "show", OPT_TEXT, &o.show, "LIST", "only these, separated by commas: names as in the dump, wildcards "
                                           "(blocks.*.attn.*), short names (scores) (default: pattern, or everything "
                                           "where there is none)",
     .section = OF_SHOWN, .flags = OPT_USUAL},
    {0, "labels", OPT_FILE, &o.labels, "FILE", "names of tokens, or of rows and columns: the lines of a file, one for "
                                               "each, in place of what the dump says",
     .section = OF_SHOWN, .flags = OPT_USUAL},
    {0, "words", OPT_FLAG, &o.words, NULL, "merge the tokens of each word, as run --words does: patterns are summed "
                                           "over the tokens of a key's word and averaged over those of a query's",
     .section = OF_SHOWN, .flags = OPT_USUAL},
    {0, "frames", OPT_NUMBER, &o.frames, "N", "draw at most this many steps of a train --watch-every history, side by "
                                              "side or in a page, evenly spread (default: 8; in a page 100)",
     .min = 1, .max = 10000, .section = OF_SHOWN, .flags = 0},
    {.name = NULL},
};

const struct command plot_command = {
    .name = "plot",
    .run = plot,
    .usage = "plot PATH [--show LIST] [--layer SPEC] [--head SPEC] [--format F] [-o PATH]",
    .section = IN_SENTENCE,
    .summary = "draw saved matrices",
    .about = "Draws what a run wrote, or any matrices: PATH is an .npy, .npz, .csv or .tidy file, the JSON document of "
             "run, manifest.json or the directory it is in.  Labels come from the manifest, the document or the table; "
             "if there are none, rows and columns are numbered.  Numbers may be float16, float32 or float64; arrays "
             "are [rows,columns] or [heads,rows,columns].  A directory that train --watch-every wrote is drawn as a "
             "history, one row per head, from the first step to the last, and in a page (.html) by a slider.  NaN "
             "has a colour of its own and is counted.",
    .examples = (const struct pair[]){
        {"attn-cli run -s \"Life is short\" -o out.npz && attn-cli plot out.npz", "on the terminal"},
        {"attn-cli plot out.npz --layer 3 --head 0-3 --color-scale log -o heads.png", "some heads, for a slide"},
        {"attn-cli plot out/manifest.json --show scores --palette balance -o scores.svg", "for a paper"},
        {"attn-cli plot ./tiny/watch --head 0-3 -o history.png", "how heads formed while a model was trained"},
        {"attn-cli plot ./tiny/watch -o history.html", "the same with a slider over the steps"},
        {"attn-cli plot attention.npy --labels words.txt -o attention.png",
         "a matrix of your own, with the words of its rows"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){options, place_options, page_language_options, picture_options,
                                             key_picture_options, general_options, NULL},
    .word = "PATH",
    .paths = true,
    .plain = "term",
    .report = true,
};

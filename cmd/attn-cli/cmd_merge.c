/* cmd_merge.c - joins the shards of a batch into one output. */
#include "attn_tools.h"
#include "table.h"

#include "base/err.h"

static struct { const char *output, *summary; } o;

static int merge(struct attn_err *err)
{
    struct attn_merge_opts opts = {.shard = common.words, .n = common.n_words, .path = o.output, .summary = o.summary};
    if (!opts.n)
        return attn_fail(err, ATTN_EUSAGE, "what to merge? give the outputs of all shards: attn-cli merge OUT.* -o "
                                           "OUT");
    return attn_merge(&opts, err);
}

static const struct option options[] = {
    {'o', "output", OPT_FILE, &o.output, "PATH",
     "write to this file, or to this new directory for formats that are directories "
     "(default: standard output)", .flags = OPT_OUTPUT},
    {0, "summary", OPT_FILE, &o.summary, "PATH", "also join their summaries, in this file", .flags = OPT_OUTPUT},
    {.name = NULL},
};

const struct command merge_command = {
    .name = "merge",
    .schemas = (const char *const[]){"record", "grid", "journal", "manifest", NULL},
    .run = merge,
    .product = true,
    .usage = "merge SHARD... [-o PATH] [--summary PATH]",
    .section = IN_MANY,
    .summary = "join the shards of a batch into what one process would have written",
    .about = "Takes the outputs of batch --shard i/n, in any order, and writes what batch would have written without "
             "--shard, byte for byte: streams (ndjson, tidy, summary) as well as directories (csv, npy, npz, png, svg, "
             "pdf, stack).  SHARD.json beside each shows whether they belong together: each must be finished, all must "
             "be made by the same version with the same model, options, kind of processor and input, and each of the n "
             "shards must be there once; if not, the error says what differs or is missing.  Files are linked, not "
             "copied, where the file system can; the shards stay as they are.",
    .examples = (const struct pair[]){
        {"attn-cli merge part.*.ndjson -o all.ndjson", "the shards of a stream"},
        {"attn-cli merge part.?.ndjson | jq -r .text", "or on standard output"},
        {"attn-cli merge arrays.0 arrays.1 arrays.2 -o arrays --summary heads.csv", "directories, and their summaries"},
        {NULL, NULL}},
    .groups = (const struct option *const[]){options, general_options, NULL},
    .word = "SHARD",
    .paths = true,
    .many = true,
};

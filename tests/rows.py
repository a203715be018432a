#!/usr/bin/env python3
"""rows.py - whether a row is all that it takes: for a kind of attention, a format, a family, a container of models, a
score, an activation, an activation function, a command and a language.

Adds one of each to a copy of the tree, in the files that the row is made of and in no other, builds the program there,
without optimisation, and looks for it in help, completions, refusals, sweeps and pages; and builds what computes in
pages, and asks that for it.  What a row does is what a row beside it does: that is not the question here.  See also
tests/cmd/test_additions.c."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
# Of each addition: in which files, after which text (or with "<", before it) what is added.
ROWS = {
    "kind": [
        ("lib/attn.h", "<    ATTN_MASKED  ", "    ATTN_PROBE,\n"),
        ("lib/engine/model/kind.c", '        METHOD("{mask}, {B} at a time, with rescaled sums", &B)},\n',
         '    [ATTN_PROBE] = {"probe-kind:W", "a note on kinds", "help on kinds", METHOD("{W} probes", &W)},\n'),
        ("lib/engine/compute/mask.c", "    [ATTN_BLOCK] = {IF_CAUSAL, NULL},\n", "    [ATTN_PROBE] = {ALWAYS, NULL},\n"),
    ],
    "format": [
        ("lib/show/sinks/formats.h", '"a page to explore", NULL, RUN | MAP | ABLATED | SAYS, &attn_html_methods) \\\n',
         '    ROW("probe-format", ".probe", "help on formats", NULL, RUN | PICTURE, &attn_svg_methods) \\\n'),
    ],
    "family": [
        ("lib/engine/model/family.c", "each(bloom) each(falcon)", " each(probe)"),
        ("lib/engine/model/family_llama.c", "</* ---- Mistral: ", '''const struct attn_family attn_probe = {
    .name = "probe_family", .keys = llama_keys, LLAMA_NAMES,
    .defaults = &(const struct attn_config){LLAMA_DEFAULTS(10000, 1e-6), .V = 32000, .n_ctx = 2048, .m = 11008},
    .part = {LLAMA_ATTENTION(ATTN_BIAS_ASKED, ATTN_BIAS_ASKED), LLAMA_MLP(ATTN_BIAS_ASKED), LLAMA_NORMS, LLAMA_ENDS}
};

'''),
        ("cmd/attn-cli/families.c", '    {"llama", NULL, "LlamaForCausalLM", SILU ", " RMS("1e-06"), LLAMA_SIZES},\n',
         '    {"probe_family", "a note on families", "ProbeForCausalLM", SILU ", " RMS("1e-06"), LLAMA_SIZES},\n'),
    ],
    "container": [
        ("lib/engine/model/source.c", "each(gguf) each(course) each(mlx)", " each(probe)"),
        ("lib/engine/model/container_probe.c", "", '''#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/format.h"
#include "io/safetensors.h"
#include "model/container.h"
#include "model/shards.h"

/* A line with "PROBE", one with config.json, and a file of safetensors. */
extern const struct attn_container attn_container_probe;
struct probe { struct attn_map map, config, weights; };

static int open_probe(struct attn_source *s, const char *path, struct attn_map *file, const struct attn_lacking *given,
                      struct attn_err *err)
{
    const unsigned char *end = file->len > 6 && !memcmp(file->data, "PROBE\\n", 6) ?
                               memchr(file->data + 6, '\\n', file->len - 6) : NULL;
    struct probe *p = end ? calloc(1, sizeof *p) : NULL;
    (void)given;
    if (!p)
        return end ? attn_no_memory(err, path, "to open it") : ATTN_OK;
    *p = (struct probe){.map = *file, .config = {.data = file->data + 6, .len = (size_t)(end - file->data) - 6},
                        .weights = {.data = end + 1, .len = file->len - 1 - (size_t)(end - file->data)}};
    *file = (struct attn_map){0};
    return attn_source_is(s, &attn_container_probe, p, path, false, err);
}

static void close_probe(void *of) { attn_map_close(&((struct probe *)of)->map); free(of); }
static bool has(const struct attn_source *s, const char *file) { (void)s; return !strcmp(file, "config.json"); }

static char *path_of(const struct attn_source *s, const char *file)
{
    char *path = NULL;
    return attn_asprintf(&path, "%s, as %s", s->path, file) < 0 ? NULL : path;
}

static int read_file(const struct attn_source *s, const char *file, size_t limit, struct attn_map *out,
                     struct attn_err *err)
{
    (void)limit;
    if (!has(s, file))
        return attn_fail(err, ATTN_EIO, "%s: has no %s", s->path, file);
    *out = ((const struct probe *)s->of)->config;
    return ATTN_OK;
}

static int open_tensors(struct attn_shards *out, const struct attn_source *s, struct attn_err *err)
{
    const struct attn_map *m = &((const struct probe *)s->of)->weights;
    out->shard = calloc(1, sizeof *out->shard);
    if (!out->shard || !(out->shard->path = strdup(s->path)))
        return attn_no_memory(err, s->path, "for its tensors");
    out->n = 1;
    out->bytes = m->len;
    out->shard->map = *m;
    int rc = attn_st_open(&out->shard->st, m->data, m->len, s->path, err);
    return rc ? rc : attn_shards_count(out, out->shard, false, NULL, err);
}

const struct attn_container attn_container_probe = {
    .name = "probe", .what = "is a probe", .says = "which says", .config = "its second line",
    .endings = (const char *const[]){".probe", NULL}, .open = open_probe, .close = close_probe, .path = path_of,
    .has = has, .read = read_file, .tensors = open_tensors};
'''),
    ],
    "score": [
        ("lib/engine/ask/scores.c", "     ATTN_SCORE_SHARE, induction},\n",
         '    {"probe-score", "probed", "help on scores", ATTN_SCORE_SHARE, self},\n'),
    ],
    "activation": [
        ("lib/attn.h", '"MLP after its nonlinearity", NULL) \\\n',
         '    ROW(MLP_PROBE, "blocks.*.mlp.probe", NONE, T, M, GATE, "a title", "help on activations") \\\n'),
        ("lib/engine/compute/block.c", "attn_pass_announce(p, ATTN_ACT_MLP_POST, &hidden, 0);\n",
         "        attn_pass_announce(p, ATTN_ACT_MLP_PROBE, &hidden, 0);\n"),
        ("lib/study/compare/rounding.c", "READ(MLP_LINEAR), TIMES_MOST) \\\n",
         "    ROW(MLP_PROBE, READ(MLP_POST), TIMES) \\\n"),
    ],
    "function": [
        ("lib/engine/compute/mlp.h", 'PLAIN(RELU, relu, "relu", OWN, NULL) \\\n',
         '    PLAIN(PROBE, relu, "probe_act", OWN, "a note on functions") \\\n'
         '    GATED(PROBED, silu_mul, "probe_gate", OWN, NULL) \\\n'),
    ],
    "language": [
        ("data/lang/xp.po", "", '''msgid ""
msgstr ""
"Language: xp\\n"
"X-Language-Name: Probian\\n"

msgid "The causal mask"
msgstr "Probed mask"
'''),
    ],
    "command": [
        ("cmd/attn-cli/table.h", "each(train) each(bench)", " each(probe)"),
        ("cmd/attn-cli/probe.c", "", '''#include "table.h"

#include <stdio.h>

static struct number often;
static int probe(struct attn_err *err) { return puts("a probe ran") < 0 ? err->code : ATTN_OK; }
static const struct option options[] = {
    {0, "often", OPT_NUMBER, &often, "N", "help on an option", .min = 2, .max = 9}, {.name = NULL}};
const struct command probe_command = {
    .name = "probe", .run = probe, .usage = "probe [--often N]", .summary = "help on commands", .about = "About it.",
    .examples = (const struct pair[]){{"attn-cli probe", "an example of a probe"}, {NULL, NULL}},
    .groups = (const struct option *const[]){options, general_options, NULL}};
'''),
    ],
}
TOGETHER = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
ASK = "node tests/engine/ask.mjs $E"
TINY = ASK + """ models/tiny '{"ask":"open","model":"models/tiny"}'"""
TEXT = "-s 'Lily lost her red ball and Lily lost her red ball'"
SMALL = "--n-layer 1 --n-head 2 --d-model 8 --vocab-size 9 --n-ctx 8 --seed 1"
# Command lines, and what each must print or write, by addition.
SEEN = [
    ("kind", "$A help kinds", "probe-kind:W .*help on kinds"),
    ("kind", "$A help run", r"probe-kind:W \(a note on kinds\)"),
    ("kind", "$A run -s a --attention nonsense", r"expected one of .*block:B, probe-kind:W"),
    ("kind", "$A run -s a --attention probe-kind:0", r"0 is not in 1\.\..*\(probe-kind:W\)"),
    ("kind", f"$A run -m tiny {TEXT} --attention probe-kind:2 --format json", '"attention":"probe-kind:2"'),
    ("kind", "$A variants -m life -s 'Life is short'", "probe-kind:[0-9] *[0-9] probes"),
    ("kind", "$A variants -m life -s 'Life is short' --format html", "probe-kind:"),
    ("kind", "$A help --man", "probe.*kind:W"),
    ("kind", TINY, r'"kinds":\[.*"form":"probe-kind:W".*"help":"help on kinds"'),
    ("kind", TINY + """ '{"ask":"run","text":"Life is short","attention":"probe-kind:2"}' | tail -n 1""",
     '^{"text":"Life'),
    ("format", "$A help run", "probe-format.*help on formats"),
    ("format", "$A help heads", "each score: .*html, probe-format"),
    ("format", "$A run -s a --format nonsense", r"\(text, .*probe-format\)"),
    ("format", f"$A run -m tiny {TEXT} -o $D/x.probe && head -c 200 $D/x.probe", "<svg"),
    *(("format", f"$A help --completion {shell}", "html.*probe-format") for shell in ("bash", "zsh", "fish")),
    ("family", "$A help init", r"probe_family \(a note on families\)"),
    ("family", "$A help train", r"probe_family \(a note on families\)"),
    ("family", "$A init --family nonsense -o $D/n", r"\(gpt2, .*probe_family"),
    ("family", "$A init -q --family probe_family -o $D/m && $A info -m $D/m", "probe_family"),
    ("family", "$A run -m $D/m --ids 1,2", "attention pattern"),
    ("family", ASK + """ $D/m '{"ask":"open","model":"'$D/m'"}' '{"ask":"run","ids":"1,2"}'""",
     r'"family":"probe_family".*"tokens":\[{"id":1,'),
    *(("family", f"$A help --completion {shell}", "llama.*probe_family") for shell in ("bash", "zsh", "fish")),
    ("container", "{ echo PROBE; tr -d '\\n' <models/life/config.json; echo; cat models/life/model.safetensors; } "
     ">$D/m.probe && $A info -m $D/m.probe", r"model *m\.probe .*embed"),
    ("container", "cmp <($A run -m life --ids 1,2 --show pattern --format csv) <($A run -m $D/m.probe --ids 1,2 "
     "--show pattern --format csv) && echo same", "^same"),
    ("container", "$A run -m $D/m.probe -s Life", r"m\.probe: there is neither tokenizer.json nor"),
    ("container", "$A run -m $D/m.probe --as gpt2 --ids 1", r"m\.probe: is a probe, which says itself what --as would"),
    ("container", "$A run -m ./none.probe --ids 1", r"none\.probe: cannot open"),
    ("container", "sed s/vocab_size/vocab_sizes/ $D/m.probe >$D/n.probe; $A info -m $D/n.probe",
     r"n\.probe, as config\.json: .*vocab_size"),
    ("container", "$A convert -q -m $D/m.probe -o $D/p && $A diff life $D/p", "the models differ: the tokenizer A"),
    ("container", "$A diff life $D/m.probe --format json", '"name": "embed.weight", "status": "same"'),
    ("container", ASK + """ $D/m.probe '{"ask":"open","model":"'$D/m.probe'"}' """
     """'{"ask":"run","ids":"1,2"}'""", r'"tokens":\[{"id":1,'),
    ("score", "$A help heads", "probe-score.*help on scores"),
    ("score", "$A help heads", "one of previous, .*induction, probe-score"),
    ("score", "$A heads -m tiny --by nonsense", r"\(previous, .*probe-score, entropy"),
    ("score", f"$A heads -m tiny {TEXT} --by probe-score --top 2", "probed"),
    ("score", f"$A heads -m tiny {TEXT} --format csv", ",probe-score,"),
    ("score", f"$A heads -m tiny {TEXT} --format html", "probe-score"),
    ("score", f"$A run -m tiny {TEXT} --format html", r'"name":"probe-score","brief":"probed","help":"help on scores"'),
    ("score", TINY + """ '{"ask":"run","text":"Life is short"}' '{"ask":"heads"}' | tail -n 1""", '"probe-score"'),
    ("score", TINY, '"name":"probe-score","brief":"probed","help":"help on scores"'),
    ("score", "echo Lily lost her ball | $A batch -m tiny -f - --format summary --summary-form tidy -o -",
     "probe-score"),
    *(("score", f"$A help --completion {shell}", "induction.*probe-score") for shell in ("bash", "zsh", "fish")),
    ("function", "$A help init --all", r"gelu_new \(tanh\), .*probe_act \(a note on functions\), .*probe_gate"),
    ("function", "$A help train --all", r"4 d_model, with probe_gate or swiglu 3 d_model"),
    ("function", f"$A init {SMALL} --mlp nonsense -o $D/n", r"\(none, .*probe_act, probe_gate.*, swiglu\)"),
    ("function", f"$A init -q {SMALL} --mlp probe_act --d-mlp 8 -o $D/a && $A info -m $D/a", "mlp  *probe_act"),
    ("function", f"$A init -q {SMALL} --mlp probe_gate --d-mlp 8 -o $D/g && $A info -m $D/g", "blocks.0.mlp.gate"),
    ("function", "$A run -m $D/g --ids 1,2 --show linear,post --format json", "blocks.0.mlp.linear"),
    ("function", ASK + """ $D/g '{"ask":"open","model":"'$D/g'"}'"""
     """ '{"ask":"run","ids":"1,2","keep":["mlp.linear"]}'""", r'"mlp":"probe_gate".*"kind":"mlp.linear"'),
    ("function", "sed -i s/probe_act/nonsense/ $D/a/config.json; $A info -m $D/a",
     'expected "none", .*"probe_act", "probe_gate".* or'),
    ("function", "$A train -q -f LICENSE -o $D/t --vocab-size 300 --steps 1 --batch 1 --n-ctx 8 --n-layer 1 "
     "--n-head 1 --d-model 8 --mlp probe_gate; cat $D/t/config.json", '"d_mlp": 24'),
    *(("function", f"$A help --completion {shell}", "gelu.*probe_act.*probe_gate")
      for shell in ("bash", "zsh", "fish")),
    ("activation", "$A help run", r"probe  *\[T,m\] help on activations"),
    ("activation", "$A run -s a --show prob", "unknown activation 'prob'; nearest: mlp.probe"),
    ("activation", "$A help run --all", "pattern, .*probe"),
    ("activation", "$A run -m $D/g --ids 1,2 --show probe", "a title *blocks.0.mlp.probe"),
    ("activation", "$A run -m life -s Life --show probe", "model 'life' has no 'probe'"),
    ("activation", "$A run -m $D/m --ids 1,2 --show probe --gradient 'logit(1)'", "mlp.probe has no gradient"),
    ("activation", "$A run -m $D/g --ids 1,2 --edit 'L0.probe = 0' --show probe --format json", "blocks.0.mlp.probe"),
    ("activation", ASK + """ $D/g '{"ask":"open","model":"'$D/g'"}'"""
     """ '{"ask":"run","ids":"1,2","keep":["mlp.probe"]}'""",
     r'"name":"mlp.probe","brief":"probe","title":"a title".*"kind":"mlp.probe"'),
    *(("activation", f"$A help --completion {shell}", "post.*probe") for shell in ("bash", "zsh", "fish")),
    ("language", "$A help explain", "explanations: en, xp, zh"),
    ("language", "$A lesson journey --lang xp", r"5\. Probed mask .*A model that predicts"),
    ("language", "$A lesson list --lang nonsense", r"\(en, xp, zh\)"),
    ("language", "LANG=xp_XP LANGUAGE= LC_ALL= $A lesson list", "Articles on attention"),
    *(("language", f"$A help --completion {shell}", "en xp zh|en.*xp.*zh") for shell in ("bash", "zsh", "fish")),
    ("command", "$A probe", "a probe ran"),
    ("command", "$A help", "probe  *help on commands"),
    ("command", "$A help probe", "--often N  *help on an option"),
    ("command", "$A probe --often 10", r"10.*2\.\.9"),
    ("command", "$A probr", "the nearest is 'probe'"),
    ("command", "$A help --man", "help on commands"),
    *(("command", f"$A help --completion {shell}", "(?s)probe.*often") for shell in ("bash", "zsh", "fish")),
]


def add(tree, file, at, text):
    path = tree / file
    if not at:
        path.write_text(text)
        return
    before, at = at[0] == "<", at.lstrip("<")
    old = path.read_text()
    if old.count(at) != 1:
        sys.exit(f"rows: {file} has {old.count(at)} places where a row can go: {at.strip()}")
    path.write_text(old.replace(at, text + at if before else at + text))


def look(tree, program, line):
    """What a command line prints and writes, lines joined as a reader joins them."""
    env = dict(os.environ, A=str(program), E=str(program.with_name("engine.wasm")), D=str(tree), COLUMNS="80")
    p = subprocess.run(["bash", "-c", line], cwd=REPO, env=env, **TOGETHER)
    return re.sub(r"\s*\n\s*", " ", p.stdout.decode(errors="replace"))


def main():
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "WERROR")}
        for what in ("Makefile", "lib", "cmd", "models", "data/engine", "data/fonts", "data/lang", "data/packaging",
                     "tests/checks.mk", "tests/need.sh"):
            (tree / what).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (REPO / what).is_dir() else shutil.copy2)(REPO / what, tree / what)
        for rows in ROWS.values():
            for row in rows:
                add(tree, *row)
        built = subprocess.run(["make", "flavour=rows", "flags_rows=-O0", "CFLAGS=-g0", "build/rows/attn-cli",
                                "build/rows/engine.wasm"],
                               cwd=tree, env=env, **TOGETHER)
        if built.returncode:
            sys.exit(built.stdout.decode(errors="replace") + "\nrows: the tree with more rows does not build")
        missed = [(what, line, want, said) for what, line, want in SEEN
                  if not re.search(want, said := look(tree, tree / "build/rows/attn-cli", line))]
    for what, line, want, said in missed:
        print(f"rows: a new {what} is not seen: {line}\n  expected {want}\n  found {said[:300]}")
    files = ", ".join(f"{what} {len(rows)}" for what, rows in ROWS.items())
    print(f"rows: {len(SEEN)} places, {len(missed)} without a new row; files that a row takes: {files}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())

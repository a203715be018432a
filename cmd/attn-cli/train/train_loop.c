/* train_loop.c - trains a model on a text: from the options to the last checkpoint. */
#include "attn_tools.h"
#include "train/cmd_train.h"

#include "families.h"
#include "input.h"
#include "process.h"
#include "say.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/format.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    const char *path, *from, *also, *against, *vocab, *config, *settings, *draw, *family;
    struct number vocab_size, save_every, max_seconds, watch_every;
    bool resume, progress;
} o;

enum { VOCAB_SIZE = 4096, SAVE_EVERY = 250, FEW_STEPS = 100 };           /* defaults of --vocab-size and --save-every */

/* Paths and the files' contents, collected before the training is opened. */
struct source {
    char *dir, *vocab;                  /* contain a slash, so that they never name a built-in model */
    char *text, *also, *against, *config, *settings, *changes;
    size_t text_len, also_len, against_len, config_len, settings_len, changes_len;
};

static void source_free(struct source *in)
{
    char *all[] = {in->dir, in->vocab, in->text, in->also, in->against, in->config, in->settings, in->changes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* ---- what to train ----------------------------------------------------------------------- */

/* What a model to begin with decides itself. */
static int check_from(struct attn_err *err)
{
    const struct option *row = train_config_given();
    const char *other = row ? row->name : o.config ? "config" : o.family ? "family" : o.draw ? "draw" : o.vocab ?
                        "vocab" : o.vocab_size.given ? "vocab-size" : NULL;
    if (!o.from || !other)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "--model and --%s do not go together: a training that begins with a model has "
                                       "its configuration, tokenizer and weights", other);
}

static int check_usage(const char *corpus, struct attn_err *err)
{
    const struct option *row = train_config_given();
    if (!corpus)
        return attn_fail(err, ATTN_EUSAGE, "nothing to train on: give a text with -f PATH, or, for the gradients of a "
                                           "model that is there, --gradients FILE");
    if (!o.path)
        return attn_fail(err, ATTN_EUSAGE, "where to? give a directory with -o DIR");
    if (o.config && row)
        return attn_fail(err, ATTN_EUSAGE, "--config and --%s do not go together: the file says it all", row->name);
    if (o.config && o.family)
        return attn_fail(err, ATTN_EUSAGE, "--config and --family do not go together: the file says it all");
    if (o.draw && o.family)
        return attn_fail(err, ATTN_EUSAGE, "--draw and --family do not go together: recipes draw models of our own "
                                           "format");
    if (o.vocab && o.vocab_size.given)
        return attn_fail(err, ATTN_EUSAGE,
                         "--vocab and --vocab-size do not go together: a vocabulary that is given has its own size");
    if (!o.watch_every.given != !common.sentence)
        return attn_fail(err, ATTN_EUSAGE, "--watch-every N and -s TEXT go together: how often to look, and at which "
                                           "sentence");
    if (!o.watch_every.given && (selection.show || selection.layer || selection.head))
        return attn_fail(err, ATTN_EUSAGE, "--show, --layer and --head are for --watch-every: without it nothing is "
                                           "shown");
    if (!o.watch_every.given && (common.special || common.bos))
        return attn_fail(err, ATTN_EUSAGE,
                         "--%s is for the sentence of --watch-every: without it there is none", common.special ?
                         "special" : "bos");
    int code = train_check_shares(o.also != NULL, o.against != NULL, err);
    return code ? code : check_from(err);
}

/* The path with a slash in it; malloc'd.  NULL: no memory, or path is NULL. */
static char *directory(const char *path)
{
    char *dir = NULL;
    if (!path || attn_asprintf(&dir, "%s%s", strchr(path, '/') ? "" : "./", path) < 0)
        return NULL;
    return dir;
}

/* The directory of a vocabulary, where a file in it was given; malloc'd.  NULL: no memory, or path is NULL. */
static char *vocabulary_directory(const char *path)
{
    static const char *const files[] = {"vocab.json", "tokenizer.json"};
    struct stat st;
    char *dir = directory(path);
    bool file = dir && stat(dir, &st) == 0 && S_ISREG(st.st_mode);
    for (size_t i = 0; file && i < sizeof files / sizeof *files; i++)
        if (!strcmp(strrchr(dir, '/') + 1, files[i]))
            strrchr(dir, '/')[1] = '\0';
    return dir;
}

/* Whether a text is a file that the training writes. */
static int check_text(const char *dir, const char *path, struct attn_err *err)
{
    static const char *const written[] = {"config.json", "vocab.json", "merges.txt", "model.safetensors",
                                          "checkpoint.safetensors",
                                          "train.json", "loss.csv", "loss.png"};
    struct stat text, file;
    bool is = false;
    if (!path || stat(path, &text))
        return ATTN_OK;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        char *name = NULL;
        if (attn_asprintf(&name, "%s/%s", dir, written[i]) < 0)
            return attn_no_memory(err, NULL, "for a path");
        is |= stat(name, &file) == 0 && file.st_dev == text.st_dev && file.st_ino == text.st_ino;
        free(name);
    }
    return is ? attn_fail(err, ATTN_EUSAGE, "%s: is the text to read, and would be written to (-o): choose another "
                                            "directory", path)
              : ATTN_OK;
}

/* A text without what editors put in front of it.  Its last line end stays, as a token like those between lines. */
static int read_text(char **text, size_t *len, const char *path, struct attn_err *err)
{
    if (file_read(text, len, path, err))
        return err->code;
    size_t skip = common.raw ? 0 : attn_utf8_mark(*text, *len);
    memmove(*text, *text + skip, (*len -= skip) + 1);
    return ATTN_OK;
}

static int read_files(struct source *in, const char *corpus, struct attn_err *err)
{
    in->dir = directory(o.path);
    in->vocab = vocabulary_directory(o.vocab);
    if (!in->dir || (o.vocab && !in->vocab))
        return attn_no_memory(err, NULL, "for a path");
    if (check_text(in->dir, corpus, err) || check_text(in->dir, o.also, err) || check_text(in->dir, o.against, err))
        return err->code;
    if (read_text(&in->text, &in->text_len, corpus, err) ||
        (o.also && read_text(&in->also, &in->also_len, o.also, err)) ||
        (o.against && read_text(&in->against, &in->against_len, o.against, err)) ||
        (o.config && file_read(&in->config, &in->config_len, o.config, err)) ||
        (o.settings && file_read(&in->settings, &in->settings_len, o.settings, err)))
        return err->code;
    return train_settings(&in->changes, &in->changes_len, err);
}

static struct attn_train_opts opts_of(const struct source *in)
{
    return (struct attn_train_opts){
        .text = in->text, .text_len = in->text_len, .also = in->also, .also_len = in->also_len,
        .against = in->against, .against_len = in->against_len, .from = o.from, .given = given_of(false),
        .tokenizer = in->vocab, .config = in->config, .config_len = in->config_len, .config_name = o.config ? o.config :
                     "options",
        .draw = o.draw, .settings = in->settings, .settings_len = in->settings_len, .settings_name = o.settings,
        .changes = in->changes, .changes_len = in->changes_len, .resume = o.resume, .threads = (int)common.threads.n};
}

/* Checks what can be checked of the options before a vocabulary is learned, which may take a while. */
static int check_options(const struct source *in, size_t size, struct attn_err *err)
{
    struct source here = *in;
    here.config = NULL;
    if (o.config)
        here.config = in->config;
    else if (train_config(&here.config, &here.config_len, o.family, size, "bpe", err))
        return err->code;
    struct attn_train_opts opts = opts_of(&here);
    int code = attn_train_check(&opts, err);
    if (!o.config)
        free(here.config);
    return code;
}

/* Unless --vocab is given, a new training learns its vocabulary from the text. */
static int find_vocabulary(struct source *in, struct attn_err *err)
{
    size_t tokens, size = o.vocab_size.given ? (size_t)o.vocab_size.n : VOCAB_SIZE;
    if (o.vocab)
        return ATTN_OK;
    if (check_options(in, size, err))
        return err->code;
    if (attn_bpe_learn(in->dir, &tokens, in->text, in->text_len, size, err))
        return err->code;
    in->vocab = directory(in->dir);
    return in->vocab ? ATTN_OK : attn_no_memory(err, NULL, "for a path");
}

/* A training that goes on may have fewer tokens than --vocab-size, if its text had no more, but not more. */
static int check_size(const struct source *in, struct attn_err *err)
{
    struct attn_tokenizer *t = NULL;
    if (!o.resume || !o.vocab_size.given)
        return ATTN_OK;
    if (attn_tokenizer_open(&t, in->dir, err))
        return err->code;
    size_t tokens = attn_tokenizer_size(t);
    attn_tokenizer_close(t);
    if (tokens <= o.vocab_size.n)
        return ATTN_OK;
    return attn_fail(err, ATTN_EFORMAT, "%s: the training there has %zu tokens, but --vocab-size %s was asked for; "
                                        "leave it out to go on, or choose another directory", in->dir, tokens,
                     o.vocab_size.given);
}

/* Makes the config for the vocabulary that was given or learned or, when a training goes on, for the one it has. */
static int build_config(struct source *in, struct attn_err *err)
{
    struct attn_tokenizer *t = NULL;
    if (attn_tokenizer_open(&t, in->vocab ? in->vocab : in->dir, err))
        return err->code;
    const char *kind = attn_tokenizer_kind(t);
    bool own = !strcmp(kind, "bpe") || !strcmp(kind, "char");
    int code = train_config(&in->config, &in->config_len, o.family, attn_tokenizer_size(t), own ? kind : "word", err);
    attn_tokenizer_close(t);
    return code;
}

/* What is odd about the model that a training begins with, and what was assumed of it, is said once. */
static int say_first(struct attn_err *err)
{
    struct attn_model *m;
    int code = open_model(&m, &train_command, err);
    if (!code)
        close_model(m);
    return code;
}

static int open_training(struct attn_train **out, struct source *in, bool there, struct attn_err *err)
{
    if (!there && o.resume)
        say_note("%s: there is no training yet: a new one begins", o.path);
    if (there ? check_size(in, err) : attn_train_may_begin(in->dir, err) || (!o.from && find_vocabulary(in, err)))
        return err->code;
    if (!o.config && !o.from && (!there || o.family || train_config_given()) && build_config(in, err))
        return err->code;
    if (o.from && !there && say_first(err))
        return err->code;
    struct attn_train_opts opts = opts_of(in);
    return attn_train_open(out, in->dir, &opts, err);
}

/* ---- progress ---------------------------------------------------------------------------- */

struct progress_line {
    bool on, terminal, often;           /* often: every ten seconds, and each held-out loss; else a line now and then */
    double first;                       /* loss of the first step of this process */
    double start, last;                 /* seconds; `last`: when a line was last printed */
    size_t step, tokens;                /* their values when this process began */
    int shown;                          /* columns of the line that the next one overwrites */
};

static void say_plan(const struct attn_train_state *s)
{
    fprintf(stderr, "%zu parameters; %zu tokens to train on, %zu held out", s->parameters,
            s->text_tokens + s->also_tokens, s->held_out_tokens);
    if (s->step > 0)
        fprintf(stderr, "; continuing after step %zu of %zu", s->step, s->steps);
    fputc('\n', stderr);
}

/* asked: show it even if standard error is no terminal. */
static void progress_line_start(struct progress_line *p, bool asked, const struct attn_train_state *s)
{
    bool terminal = isatty(STDERR_FILENO);
    *p = (struct progress_line){.on = !common.quiet, .terminal = terminal, .often = asked || terminal, .first = NAN,
                                .start = attn_clock_now(), .step = s->step, .tokens = s->tokens};
    if (p->on && p->often)
        say_plan(s);
}

static void put_line(char *buf, size_t size, const struct progress_line *p, const struct attn_train_state *s,
                     double seconds)
{
    char time[32], held_out[64] = "";
    double done = (double)(s->step - p->step), left = (double)(s->steps - s->step);
    if (!isnan(s->held_out))
        snprintf(held_out, sizeof held_out, "  held out %.4f (%.4f bits a byte)", s->held_out, s->bits_per_byte);
    put_duration(time, sizeof time, left * seconds / done);
    snprintf(buf, size, "step %zu of %zu  loss %.4f%s  %.0f tokens/s  %s left", s->step, s->steps, s->loss, held_out,
             (double)(s->tokens - p->tokens) / seconds, time);
}

/* Lines with a measured held-out loss, and the last line, stay; on a terminal all others are overwritten. */
static void progress_line_show(struct progress_line *p, const struct attn_train_state *s)
{
    const double often = p->terminal ? 0.2 : p->often ? 10 : 60;        /* seconds */
    char line[256];
    double t = attn_clock_now();
    bool stays = p->often && (!isnan(s->held_out) || s->step == s->steps);
    p->first = isnan(p->first) ? s->loss : p->first;
    if (!p->on || (!stays && t - p->last < often))
        return;
    p->last = t;
    erase_line(&p->shown);
    put_line(line, sizeof line, p, s, t - p->start);
    if (stays || !p->terminal)
        say_note("%s", line);
    else
        p->shown = fprintf(stderr, "%s", line);
}

static void progress_line_end(struct progress_line *p)
{
    if (p->shown > 0)
        fputc('\n', stderr);
    p->shown = 0;
}

/* ---- training ---------------------------------------------------------------------------- */

static size_t save_every(void)
{
    return o.save_every.given ? (size_t)o.save_every.n : SAVE_EVERY;
}

static int watch(struct attn_train *t, struct attn_err *err)
{
    struct attn_train_watch_opts opts = {
        .text = common.sentence, .len = strlen(common.sentence), .show = selection.show, .layers = selection.layer,
        .heads = selection.head, .every = (size_t)o.watch_every.n, .threads = (int)common.threads.n,
        .encode = input_encode_opts()};
    return attn_train_watch(t, &opts, err);
}

/* How the number of steps that fits the time is told: it repeats the training. */
static void say_fitted(size_t steps, uint64_t warmup, double step)
{
    uint64_t seconds = o.max_seconds.n;
    char repeats[64];
    snprintf(repeats, sizeof repeats, train_warmup_given() ? "--steps %zu" : "--steps %zu --warmup %" PRIu64, steps,
             warmup);
    if (steps == 1)
        say_note("--steps 1: one takes about %.3g s, and no more fit into %" PRIu64 " second%s; the same command with "
                 "%s repeats this training", step, seconds, seconds == 1 ? "" : "s", repeats);
    else
        say_note("--steps %zu: as many take about %" PRIu64 " second%s, at %.3g s each; the same command with "
                 "%s repeats this training", steps, seconds, seconds == 1 ? "" : "s", step, repeats);
    if (warmup > 0 && steps < warmup + 2)
        say_note("the learning rate does not fall: it rises for %" PRIu64 " steps (--warmup); give more time or a "
                 "shorter warm-up, such as --warmup %zu", warmup, steps / 10);
    else if (steps < FEW_STEPS && !o.from)
        say_note("after so few steps a model predicts little: a smaller one takes more of them in this time, such as "
                 "--n-layer 1 --d-model 32 --batch 4");
}

/* A new training whose time is given and whose length is not gets the steps that fit. */
static int fit(struct attn_train *t, struct attn_err *err)
{
    struct attn_train_state s;
    double step;
    if (attn_train_fit(t, (double)o.max_seconds.n, save_every(), &step, err))
        return err->code;
    attn_train_get(t, &s);
    say_fitted(s.steps, s.warmup, step);
    return ATTN_OK;
}

/* Says which step is saved, so that a training that ended early can go on from there. */
static void say_saved(size_t step, size_t steps, const char *losses)
{
    if (step > 0)
        say_note("step %zu of %zu is saved in %s: the same command with --resume continues from there%s", step, steps,
                 o.path, losses);
}

/* Where --steps was given only the saved step matters; else it needs saying why not all steps are taken. */
static void say_stopped(size_t step, size_t steps, const char *losses)
{
    if (step > 0 && !train_steps_given() && stop_by_time())
        say_note("the time is up at step %zu of %zu, which is saved in %s: the same command with --resume continues "
                 "from there%s", step, steps, o.path, losses);
    else
        say_saved(step, steps, losses);
}

/* A time in which not one step fits still gets one. */
static bool goes_on(const struct attn_train_state *s)
{
    bool only = s->steps == 1 && !train_steps_given() && stop_by_time();
    return s->step < s->steps && (!stop_asked() || only);
}

static int take_steps(struct attn_train *t, struct progress_line *p, struct attn_err *err)
{
    size_t every = save_every(), saved;
    struct attn_train_state s;
    attn_train_get(t, &s);
    for (saved = s.step; goes_on(&s);) {
        int code = attn_train_step(t, err);
        attn_train_get(t, &s);
        if (!code)
            progress_line_show(p, &s);
        if (!code && s.step % every == 0 && s.step < s.steps && !(code = attn_train_save(t, err)))
            saved = s.step;
        if (code) {
            progress_line_end(p);
            say_saved(saved, s.steps, "");
            return code;
        }
    }
    progress_line_end(p);
    return attn_train_save(t, err);
}

static int train_on(struct attn_train *t, struct attn_err *err)
{
    struct progress_line p;
    struct attn_train_state s;
    attn_train_get(t, &s);
    progress_line_start(&p, o.progress, &s);
    if (take_steps(t, &p, err))
        return err->code;
    attn_train_get(t, &s);
    char losses[96] = "";
    if (s.step > p.step && s.step < s.steps)
        snprintf(losses, sizeof losses, "; its loss is now %.4f; it was %.4f at step %zu", s.loss, p.first, p.step + 1);
    else if (s.step > p.step)
        snprintf(losses, sizeof losses, "; loss %.4f, at %s %.4f", s.loss, p.step ? "the resumed step" : "first",
                 p.first);
    if (s.step < s.steps) {
        say_stopped(s.step, s.steps, losses);
        common.status = STOP_STATUS;
    } else {
        say_note("%sthe model is in %s%s. To continue a text: attn-cli generate -m %s%s -s TEXT",
                 s.step > p.step ? "" : "all steps were taken before: there was nothing to resume; ", o.path, losses,
                 strchr(o.path, '/') ? "" : "./", o.path);
    }
    return ATTN_OK;
}

int train_loop(const char *corpus, const char *from, struct attn_err *err)
{
    struct source in = {0};
    struct attn_train *t = NULL;
    o.from = from;
    int code = check_usage(corpus, err);
    if (!code)
        code = read_files(&in, corpus, err);
    bool there = !code && attn_train_exists(in.dir);
    if (!code)
        code = open_training(&t, &in, there, err);
    if (!code)
        stop_watch(o.max_seconds.given ? (double)o.max_seconds.n : 0);
    if (!code && !there && o.max_seconds.given && !train_steps_given() && !o.settings)
        code = fit(t, err);
    if (!code && o.watch_every.given)
        code = watch(t, err);
    if (!code)
        code = train_on(t, err);
    attn_train_close(t);
    source_free(&in);
    return code;
}

static void explain_families(char help[OPTION_HELP])
{
    char names[OPTION_HELP / 2];
    family_list(names, sizeof names);
    snprintf(help, OPTION_HELP, "train a model of this family, in Hugging Face's layout, instead of one of our own "
                                "format: %s; sizes that are not given are those of init --family", names);
}

const struct option train_file_options[] = {
    {'o', "output", OPT_DIR, &o.path, "DIR", "the model directory to train in: a new one, or one where a training "
     "began", .section = OF_OUTPUT, .flags = OPT_USUAL},
    {0, "also", OPT_FILE, &o.also, "PATH",
     "another text to train on, of which nothing is held out", .section = OF_INPUT},
    {0, "against", OPT_FILE, &o.against, "PATH",
     "texts that go round in circles, as small models write them: where four tokens come again in a document it learns "
     "not to say the last one (unlikelihood, of which one counts as ten other tokens in the loss), and from the rest "
     "of them nothing", .section = OF_INPUT},
    {0, "vocab", OPT_DIR, &o.vocab, "DIR", "a directory with vocab.json and, for BPE, merges.txt (default: BPE learned "
                                           "from the text, as vocab --bpe does)", .section = OF_INPUT},
    {0, "vocab-size", OPT_NUMBER, &o.vocab_size, "N", "how many tokens to learn (default: 4096)", .min = ATTN_BPE_LEAST,
     .max = ATTN_BPE_MOST, .section = OF_INPUT, .flags = OPT_USUAL},
    {0, "family", OPT_CHOICE, &o.family, "NAME", NULL, .choice = family_choice, .explain = explain_families,
     .section = OF_NEW, .flags = OPT_USUAL},
    {0, "config", OPT_FILE, &o.config, "FILE", "a whole config.json, of any family, in place of the options for the "
                                               "model",
     .section = OF_NEW},
    {0, "settings", OPT_FILE, &o.settings, "FILE",
     "a train.json, as a training leaves it in its directory; options override it",
     .flags = 0},
    {0, "draw", OPT_TEXT, &o.draw, "RECIPE", "recipe for the first weights of a model of our own format, as for init "
                                             "(default: normal(0,0.02), less for what a branch adds)",
     .section = OF_NEW},
    {.name = NULL},
};

const struct option train_run_options[] = {
    {0, "resume", OPT_FLAG, &o.resume, NULL, "continue from the checkpoint in -o DIR, if there is one: the result is "
                                             "that of a training that never stopped", .section = OF_OUTPUT,
     .flags = OPT_USUAL},
    {0, "save-every", OPT_NUMBER, &o.save_every, "N",
     "steps between checkpoints (default: 250)", .min = 1, .max = INT32_MAX,
     .section = OF_OUTPUT},
    {0, "max-seconds", OPT_NUMBER, &o.max_seconds, "N", "stop at a checkpoint after this many seconds, with status 75; "
     "a new training without --steps and --settings first tries some steps and then takes as many as fit into the "
     "time, so that the learning rate falls to its end, and says how many", .min = 1, .max = INT32_MAX,
     .section = OF_PROCESS},
    {0, "watch-every", OPT_NUMBER, &o.watch_every, "N",
     "every N steps record activations (--show; default: pattern) of the sentence -s in DIR/watch: NAME.npy, whose "
     "first axis is time, and steps.npy; plot DIR/watch draws them side by side",
     .min = 1, .max = INT32_MAX, .section = OF_SHOWN},
    {0, "progress", OPT_FLAG, &o.progress, NULL, "report progress even where standard error is no terminal",
     .section = OF_PROCESS},
    {.name = NULL},
};

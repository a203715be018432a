/* test_batch_kill.c - batches are ended at random moments by signals and full disks, and resumed until they are
 * complete: the result must be what an undisturbed run writes, byte for byte.
 *
 * $ATTN_KILLS is the number of times; `make test-kill` uses 200. */
#include "suites.h"
#include "draw.h"

#include "scratch.h"
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILLS = 24, STOPPED = 75, LONGEST_US = 40000, DISK_FULL = 0 };

static const struct kind { const char *name, *args; } kinds[] = {
    {"ndjson", "--show pattern --summary $D/%s.csv"}, {"npy", "--format npy --show pattern"},
    {"stack", "--format stack --show pattern,context"}, {"tidy", "--format tidy --show context"},
    {"grid",
     "--format tidy -m tiny --input ndjson --patch v --over layer,pos --metric 'logit({answer})' --summary $D/%s.csv"},
};

/* ---- one run, disturbed ---------------------------------------------------------------- */

static void command(char *line, size_t size, const struct kind *k, const char *out, const char *more)
{
    snprintf(line, size, "exec $A batch -q -f $D/%s.txt %s -o $D/%s %s", k->name, printed(k->args, out), out, more);
}

/* Until exec, the child must not have the test runner's signal handlers, which would pass a signal on:
 * signals are blocked. */
static pid_t start(const char *line, rlim_t bytes)
{
    static const int ends[] = {SIGINT, SIGTERM};
    sigset_t held, before;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaddset(&held, ends[i]);
    sigprocmask(SIG_BLOCK, &held, &before);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !pid; i++)
        signal(ends[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid)
        return pid;
    if (bytes)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
    int said = open(scratch_path("said"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(said, STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

static int end(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        ck_assert_int_eq(errno, EINTR);
    return status;
}

/* since the output was begun: then a temporary file may be left, as the documents say */
static bool killed;

/* Runs a batch and ends it early; returns whether it was complete all the same. */
static bool disturb(const struct kind *k, int how, unsigned us, rlim_t bytes)
{
    char line[512];
    command(line, sizeof line, k, "out", "--resume");
    pid_t pid = start(line, how == DISK_FULL ? bytes : 0);
    killed |= how == SIGKILL;
    if (how != DISK_FULL) {
        nanosleep(&(struct timespec){.tv_nsec = us * 1000L}, NULL);
        kill(pid, how);
    }
    int status = end(pid);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    bool expected = how == DISK_FULL ? code == 0 || code == 1 : code == 0 || code == STOPPED ||
        (code < 0 && WTERMSIG(status) == how);
    if (!expected)
        ck_abort_msg("%s\nended with status 0x%x after signal %d: %s", line, (unsigned)status, how,
                     sh("cat $D/said")->text);
    return code == 0;
}

/* ---- until it is whole ----------------------------------------------------------------- */

static void check_whole(const struct kind *k)
{
    char line[512];
    command(line, sizeof line, k, "out", "--resume");
    expect(line, 0, "");
    if (killed)
        expect("cd $D; rm -f .attn-????????????????.tmp", 0, "");
    killed = false;
    expect_exactly("cd $D; ls -A . out | ends 1 grep -E 'part|tmp'; diff -r good out && "
                   "sed 's/good.csv/out.csv/' good.json | cmp - out.json &&if test -e good.csv; "
                   "then cmp good.csv out.csv; fi && echo same", "same\n");
    expect("cd $D; rm -rf out out.*", 0, "");
}

static unsigned seed;

static unsigned draw_upto(unsigned below)
{
    return (unsigned)draw_below(&seed, below);
}

/* Ends and resumes a batch `times` times; whenever it is complete it starts anew. */
static void kill_often(const struct kind *k, int times)
{
    static const int how[] = {SIGKILL, SIGTERM, SIGINT, DISK_FULL};
    char line[512];
    expect("cd $D; rm -rf good good.*", 0, "");
    command(line, sizeof line, k, "good", "");
    expect(line, 0, "");
    for (int i = 0; i < times; i++)
        if (disturb(k, how[draw_upto(4)], draw_upto(LONGEST_US), 1 + draw_upto(300000)))
            check_whole(k);
    check_whole(k);
}

START_TEST(nothing_is_lost_and_nothing_twice)
{
    const char *kills = getenv("ATTN_KILLS");
    seed = 6;
    expect("for i in 1 2 3 4 5 6; do echo Life is short; echo eat dessert first; echo dessert is short; done >$D/six;"
           "for i in $(seq 60); do cat $D/six; done >$D/stack.txt;"
           "for i in $(seq 60); do cat $D/six; echo Life is short eat dessert first; echo; done >$D/ndjson.txt;"
           "cp $D/ndjson.txt $D/tidy.txt; head -40 $D/ndjson.txt >$D/npy.txt;"
           "for i in $(seq 30); do echo '{\"ids\": [634,1084,324,'$i'], \"from\": [634,1084,'$i',500], \"answer\": "
           "'$i'}'; done >$D/grid.txt", 0, "");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        kill_often(&kinds[i], (kills ? atoi(kills) : KILLS) / 4);
}
END_TEST

/* ---- what resuming refuses ------------------------------------------------------------- */

#define PART "cd $D; ends 75 $A batch -f ndjson.txt --show pattern -o o --max-seconds 1e-9 2>/dev/null;"

static void put_input(void)
{
    shell_set_up();
    expect("for i in 1 2 3; do echo Life is short; echo eat dessert first; done >$D/ndjson.txt", 0, "");
}

START_TEST(a_job_in_the_background_hears_who_means_it)
{
    expect_exactly("cd $D; mkfifo in; $A batch -f - -o o <in 2>/dev/null & exec 3>$D/in; echo Life >&3;"
                   "until test -s o.part; do sleep 0.01; done; kill -INT $!; ends 75 wait $!; wc -l <o.part", "1\n");
}
END_TEST

START_TEST(an_output_is_not_begun_twice)
{
    expect(PART "$A batch -f ndjson.txt --show pattern -o o 2>&1", 1, "attn-cli batch: ");
    expect("cd $D; $A batch -f ndjson.txt --show pattern -o o 2>&1", 1,
           "continue it with --resume, or start anew with --force");
    expect_exactly("cd $D; $A batch -q -f ndjson.txt --show dots -o o --force && ls", "ndjson.txt\no\no.json\n");
}
END_TEST

START_TEST(only_what_was_asked_for_alike_goes_on)
{
    expect(PART "$A batch -f ndjson.txt --show dots -o o --resume 2>&1", 1,
           "was made with --show pattern, not with --show dots");
    expect("cd $D; $A batch -f ndjson.txt --show pattern --layer 0 -o o --resume 2>&1", 1,
           "was made without --layer, not with --layer 0");
    expect("m=$PWD/models/life-full; cd $D; $A batch -m \"$m\" -f ndjson.txt --show pattern -o o --resume 2>&1", 1,
           "was made with the model of digest sampled:");
    expect("cd $D; $A batch -f ndjson.txt --show pattern --format tidy -o o --resume 2>&1", 1,
           "made with --format ndjson, not with --format tidy");
    expect("cd $D; $A batch -f ndjson.txt --shard 0/2 --show pattern -o o --resume 2>&1", 1,
           "holds shard 0/1, not 0/2");
    expect_exactly("cd $D; echo torn >>o.part; $A batch -q -f ndjson.txt --show pattern -o o --resume -t 1 && wc -l <o",
                   "6\n");
}
END_TEST

START_TEST(only_the_same_input_goes_on)
{
    expect_exactly("cd $D; sed '3s/.*/bad/' ndjson.txt >bad.txt; "
                   "ends 1 $A batch -f bad.txt -o o --fail-fast 2>/dev/null; wc -l <o.part", "2\n");
    expect("cd $D; sed 1d bad.txt >other.txt; $A batch -f other.txt -o o --resume 2>&1", 1,
           "other.txt: is not the input that");
    expect("cd $D; head -1 bad.txt | $A batch -f - -o o --resume 2>&1", 1, "standard input: is not the input that");
    expect_exactly("cd $D; ends 3 $A batch -q -f - -o o --resume <bad.txt; wc -l <o", "6\n");
}
END_TEST

START_TEST(what_is_complete_stays)
{
    expect_exactly("cd $D; $A batch -f ndjson.txt -o o && ls -i o >ino; $A batch -f ndjson.txt -o o --resume; "
                   "ls -i o | cmp - ino", "");
    expect("cd $D; echo Life >>ndjson.txt; $A batch -f ndjson.txt -o o --resume 2>&1", 1, "is not the input that");
    expect("cd $D; $A batch -f ndjson.txt -o o --shard 0/2 2>&1", 1, "holds shard 0/1, not 0/2");
    expect("cd $D; echo '{}' >p.json; ends 1 $A batch -f ndjson.txt -o p 2>&1; cat p.json; test ! -e p.part", 0,
           "is no file that a batch left beside its output: take another name, or --force to replace it\n{}\n");
}
END_TEST

/* The batch was killed after everything was written but before all files had their final names. */
START_TEST(an_end_is_finished)
{
    expect_exactly("cd $D; $A batch -f ndjson.txt --summary s.csv -o o; cp o good; mv o.json o.part.json; mv o o.part;"
                   "$A batch -f ndjson.txt --summary s.csv -o o --resume; cmp o good && ls",
                   "good\nndjson.txt\no\no.json\ns.csv\n");
}
END_TEST

/* After a loss of power the disk may hold less than the journal says. */
START_TEST(after_a_loss_of_power_it_goes_on_from_what_the_disk_had)
{
    expect_exactly("cd $D; $A batch -f ndjson.txt -o good;" PART
                   "sed -i 's/\"records\":0/\"records\":9/; s/\"bytes\":0/\"bytes\":99999/' o.part.json; grep -c 99999 "
                   "o.part.json; $A batch -f ndjson.txt --show pattern -o o --resume && wc -l <o", "1\n6\n");
}
END_TEST

/* Nobody knows how much of arrays and of the directories of records has reached it. */
START_TEST(after_a_loss_of_power_arrays_are_as_long_as_they_were)
{
    expect_exactly("cd $D; for i in 1 2 3; do echo Life is short; done >in; "
                   "B=\"$A batch -q -f in --format stack --show pattern\"; $B -o good;"
                   "ends 75 $B -o o --max-seconds 1e-9 2>/dev/null; sed -i 's/\"records\":0/\"records\":2/; "
                   "s/\"tokens\":0/\"tokens\":3/; s/\"bytes\":0/\"bytes\":99/' o.part.json;"
                   "grep -c '\"records\":2.*\"tokens\":3' o.part.json; $B -o o --resume; diff -r o good", "1\n");
}
END_TEST

Suite *suite_batch_kill(void)
{
    Suite *s = suite_create("batch_kill");
    TCase *kills = tcase_create("kills"), *resuming = tcase_create("resuming");
    tcase_add_checked_fixture(kills, shell_set_up, scratch_remove);
    tcase_set_timeout(kills, 300);
    tcase_add_test(kills, nothing_is_lost_and_nothing_twice);
    suite_add_tcase(s, kills);
    tcase_add_checked_fixture(resuming, put_input, scratch_remove);
    tcase_add_test(resuming, a_job_in_the_background_hears_who_means_it);
    tcase_add_test(resuming, an_output_is_not_begun_twice);
    tcase_add_test(resuming, only_what_was_asked_for_alike_goes_on);
    tcase_add_test(resuming, only_the_same_input_goes_on);
    tcase_add_test(resuming, what_is_complete_stays);
    tcase_add_test(resuming, an_end_is_finished);
    tcase_add_test(resuming, after_a_loss_of_power_it_goes_on_from_what_the_disk_had);
    tcase_add_test(resuming, after_a_loss_of_power_arrays_are_as_long_as_they_were);
    suite_add_tcase(s, resuming);
    return s;
}

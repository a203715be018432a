/* checked.c - attn-cli, whose JSON is compared with the schemas that it prints, while others test it.
 *
 * Lies beside attn-cli and schemas/COMMAND.json, which is what `attn-cli help COMMAND --json` prints, and runs
 * attn-cli with the words and the status of its own.  What attn-cli writes as JSON then, to standard output or to
 * files that the words name, is to be as one of the schemas of the command says.  Each document, or line of one, adds
 * a line to checked.log.
 *
 *     checked ...             as attn-cli
 *     checked --report        prints what fits no schema, and counts; ends with 1 if anything does not fit, or if there
 *                             was nothing to compare
 *
 * Where a run cannot write JSON, or its test is about the process (it ends it, or looks into it), attn-cli takes the
 * place of this program, so that nothing stands between. */
#include "../support/schema.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 128, MOST_FILES = 8 * MOST_WORDS, BROKEN = 70 };

static char beside[PATH_MAX];           /* the directory of this program */

static const char *neighbour(const char *name)
{
    static char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", beside, name);
    return path;
}

static void broken(const char *what)
{
    fprintf(stderr, "checked: %s: %s\n", what, strerror(errno));
    exit(BROKEN);
}

/* ---- text ---------------------------------------------------------------------------------- */

struct text { char *at; size_t len, room; };

static void append(struct text *t, const char *from, size_t len)
{
    if (t->len + len + 1 > t->room) {
        t->room = 2 * (t->len + len + 1);
        t->at = realloc(t->at, t->room);
        if (!t->at)
            broken("memory");
    }
    memcpy(t->at + t->len, from, len);
    t->len += len;
    t->at[t->len] = '\0';
}

static struct text read_from(int fd, off_t skip)
{
    struct text t = {0};
    char part[1 << 16];
    append(&t, "", 0);
    for (ssize_t n; fd >= 0 && (n = pread(fd, part, sizeof part, skip)) > 0; skip += n)
        append(&t, part, (size_t)n);
    if (fd >= 0)
        close(fd);
    return t;
}

/* ---- what is written about it -------------------------------------------------------------- */

/* One write to a file that is appended to is whole, however many run side by side. */
static void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void log_line(const char *fmt, ...)
{
    char line[4096];
    va_list args;
    va_start(args, fmt);
    size_t n = (size_t)vsnprintf(line, sizeof line - 1, fmt, args);
    va_end(args);
    n = n < sizeof line - 1 ? n : sizeof line - 2;
    for (char *p = line; p < line + n; p++)
        *p = *p == '\n' ? ' ' : *p;
    line[n++] = '\n';
    signal(SIGXFSZ, SIG_IGN);           /* a test may have limited the size of files, ours included */
    int fd = open(neighbour("checked.log"), O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (fd < 0 || (write(fd, line, n) != (ssize_t)n && errno != EFBIG))
        broken("checked.log");
    close(fd);
}

/* ---- which schema it is of ----------------------------------------------------------------- */

static struct { cJSON *help; const cJSON *names; const char *command, *words; } of;

static void read_help(void)
{
    char name[64];
    snprintf(name, sizeof name, "schemas/%.32s.json", of.command);
    struct text t = read_from(open(neighbour(name), O_RDONLY | O_CLOEXEC), 0);
    of.help = cJSON_Parse(t.at);
    free(t.at);
    if (!of.help)
        broken(name);
    const cJSON *only = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(of.help, "commands"), 0);
    of.names = cJSON_GetObjectItemCaseSensitive(only, "schemas");
}

static const cJSON *schema_of(const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(of.help, "schemas"), name);
}

/* A line of a table is what the schema points to. */
static bool fits_a_line(const cJSON *value, const cJSON *schema, char why[SCHEMA_WHY])
{
    const cJSON *pointer;
    cJSON_ArrayForEach(pointer, cJSON_GetObjectItemCaseSensitive(schema, "ndjson")) {
        const cJSON *row = schema_at(schema, pointer->valuestring);
        if (row && schema_fits(value, row, schema, why))
            return true;
    }
    return false;
}

/* A config.json of a family is not ours, but its library's. */
static bool of_others(const cJSON *value)
{
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(value, "model_type");
    return cJSON_IsString(type) && strcmp(type->valuestring, "attn-decoder") != 0;
}

static void check_value(const cJSON *value, const char *where)
{
    const cJSON *name;
    char whys[2048] = "", why[SCHEMA_WHY];
    if (of_others(value))
        return;
    if (!of.help)
        read_help();
    cJSON_ArrayForEach(name, of.names) {
        const cJSON *schema = schema_of(name->valuestring);
        if (schema_fits(value, schema, schema, why) || fits_a_line(value, schema, (char[SCHEMA_WHY]){0})) {
            log_line("fits %s", name->valuestring);
            return;
        }
        size_t n = strlen(whys);
        snprintf(whys + n, sizeof whys - n, "; not %s%s", name->valuestring, why);
    }
    log_line("MISFIT %s: %s%s", of.words, where, *whys ? whys : "; the command has no schema");
}

static cJSON *parse_whole(const char *text)
{
    return cJSON_ParseWithOpts(text, NULL, true);
}

/* One document, or one in each line.  What ended too early may end within one. */
static void check_text(char *text, const char *where, bool whole)
{
    text += strspn(text, " \t\r\n");
    if (*text != '{' && *text != '[')
        return;
    cJSON *value = parse_whole(text);
    if (value)
        check_value(value, where);
    bool lines = !value;
    cJSON_Delete(value);
    for (char *end; lines && *text; text = end) {
        end = text + strcspn(text, "\n");
        end += *end ? (*end = '\0', 1) : 0;
        value = parse_whole(text);
        if (value)
            check_value(value, where);
        else if (whole)
            log_line("MISFIT %s: %s: neither JSON nor a line of it: %.60s", of.words, where, text);
        lines = value;
        cJSON_Delete(value);
    }
}

/* ---- files --------------------------------------------------------------------------------- */

/* What a file was before attn-cli ran; ino 0: it was not there. */
static struct { char *path; struct stat was; } files[MOST_FILES];
static size_t n_files;

static size_t find_file(const char *path)
{
    size_t i = 0;
    while (i < n_files && strcmp(files[i].path, path) != 0)
        i++;
    return i;
}

static void look_at(const char *path)
{
    if (find_file(path) < n_files || n_files == MOST_FILES)
        return;
    if (stat(path, &files[n_files].was))
        files[n_files].was.st_ino = 0;
    files[n_files++].path = strdup(path);
}

/* A word may be a file, which a journal lies beside, or a directory, with a manifest. */
static void for_files_of(const char *word, void (*use)(const char *path))
{
    char path[PATH_MAX];
    static const char *const after[] = {"", ".json", ".part.json", "/manifest.json", "/config.json", "/vocab.json",
        "/train.json", "/watch/manifest.json"};
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        if ((size_t)snprintf(path, sizeof path, "%s%s", word, after[i]) < sizeof path)
            use(path);
}

static void for_files_of_words(char *const *argv, void (*use)(const char *path))
{
    for (size_t i = 2; argv[i] && i < MOST_WORDS; i++) {
        const char *value = argv[i][0] == '-' ? strchr(argv[i], '=') : argv[i] - 1;
        if (value && value[1])
            for_files_of(value + 1, use);
    }
}

static bool exited_well;

static void check_file(const char *path)
{
    struct stat is;
    size_t i = find_file(path);
    if (i == n_files || stat(path, &is) || !S_ISREG(is.st_mode))
        return;
    const struct stat *was = &files[i].was;
    if (is.st_ino == was->st_ino && is.st_size == was->st_size && is.st_mtim.tv_sec == was->st_mtim.tv_sec &&
        is.st_mtim.tv_nsec == was->st_mtim.tv_nsec)
        return;
    struct text t = read_from(open(path, O_RDONLY | O_CLOEXEC), 0);
    check_text(t.at, path, exited_well);
    free(t.at);
    files[i].was = is;
}

/* ---- running it ---------------------------------------------------------------------------- */

static pid_t child;

static void pass_on(int signal, siginfo_t *from, void *context)
{
    (void)context;
    if (from->si_code <= 0)             /* a terminal's reaches both of us */
        kill(child, signal);
}

static void pass_signals_on(void)
{
    static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    struct sigaction on = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART}, old;
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (!sigaction(passed[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(passed[i], &on, NULL);
}

static void start(const char *program, char **argv, int out)
{
    sigset_t all, before;
    pid_t parent = getpid();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    child = fork();
    if (child < 0)
        broken("fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(BROKEN);
        if (out >= 0)
            dup2(out, STDOUT_FILENO);
        sigprocmask(SIG_SETMASK, &before, NULL);
        execv(program, argv);
        _exit(127);
    }
    pass_signals_on();
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Copies what attn-cli writes to standard output; false: nobody reads it there any more. */
static bool copy(int from, struct text *t)
{
    char part[1 << 16];
    for (ssize_t n; (n = read(from, part, sizeof part)) != 0;) {
        if (n < 0 && errno == EINTR)
            continue;
        for (ssize_t at = 0, w; at < n; at += w) {
            w = write(STDOUT_FILENO, part + at, (size_t)(n - at));
            if (w < 0 && errno != EINTR)
                return false;
            w = w < 0 ? 0 : w;
        }
        append(t, part, (size_t)(n > 0 ? n : 0));
    }
    return true;
}

static int wait_for_child(void)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            broken("waitpid");
    return status;
}

static bool same_file(int a, int b)
{
    struct stat s, t;
    return !fstat(a, &s) && !fstat(b, &t) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

static int run(const char *program, char **argv, bool prints)
{
    struct stat s;
    struct text t = {0};
    int ends[2] = {-1, -1}, status;
    off_t began = 0;
    bool all = true, apart = prints && !fstat(STDOUT_FILENO, &s) && !same_file(STDOUT_FILENO, STDERR_FILENO);
    bool piped = apart && S_ISFIFO(s.st_mode), filed = apart && S_ISREG(s.st_mode);
    if (piped && pipe2(ends, O_CLOEXEC))
        broken("pipe");
    if (filed)
        began = fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND ? s.st_size : lseek(STDOUT_FILENO, 0, SEEK_CUR);
    for_files_of_words(argv, look_at);
    start(program, argv, ends[1]);
    append(&t, "", 0);
    if (piped) {
        signal(SIGPIPE, SIG_IGN);
        close(ends[1]);
        all = copy(ends[0], &t);
        close(ends[0]);
    }
    status = wait_for_child();
    if (filed)
        t = read_from(open("/proc/self/fd/1", O_RDONLY | O_CLOEXEC), began);
    /* diff ends with 1 if they differ, batch with 3 if records failed and with 75 if it was asked to end. */
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    exited_well = all && (code == 0 || code == 3 || code == 75);
    check_text(t.at, "standard output", exited_well);
    for_files_of_words(argv, check_file);
    return status;
}

static void end_as(int status)
{
    if (!WIFSIGNALED(status))
        exit(WEXITSTATUS(status));
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    exit(128 + WTERMSIG(status));
}

/* ---- the report ---------------------------------------------------------------------------- */

static int report(void)
{
    FILE *f = fopen(neighbour("checked.log"), "r");
    char line[4096];
    size_t fits = 0, misfits = 0;
    cJSON *schemas = cJSON_CreateObject();
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        bool fit = !strncmp(line, "fits ", 5);
        if (fit && !cJSON_HasObjectItem(schemas, line))
            cJSON_AddTrueToObject(schemas, line);
        else if (!fit)
            puts(line);
        *(fit ? &fits : &misfits) += 1;
    }
    printf("test-schemas: %zu documents and lines of JSON fit %d schemas, %zu fit none\n", fits,
           cJSON_GetArraySize(schemas), misfits);
    return misfits || !fits ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- the words ----------------------------------------------------------------------------- */

/* The line of the test, as tests/support/shell.c says it.  What is preloaded makes calls fail, ours too. */
static bool about_the_process(void)
{
    static const char *const parts[] = {"kill ", "/proc/", "exec "};
    const char *line = getenv("LINE");
    if (getenv("LD_PRELOAD"))
        return true;
    for (size_t i = 0; line && i < sizeof parts / sizeof *parts; i++)
        if (strstr(line, parts[i]))
            return true;
    return false;
}

/* Whether words ask for JSON on standard output, or may have it written to files. */
static bool any_word(char *const *argv, const char *part)
{
    for (size_t i = 1; argv[i]; i++)
        if (strstr(argv[i], part))
            return true;
    return false;
}

static bool may_write(char *const *argv)
{
    for (size_t i = 2; argv[i]; i++)
        if (!strncmp(argv[i], "-o", 2) || !strncmp(argv[i], "--o", 3))
            return true;
    return false;
}

static char *joined(char *const *argv)
{
    struct text t = {0};
    for (size_t i = 1; argv[i]; i++) {
        append(&t, i > 1 ? " " : "", i > 1);
        append(&t, argv[i], strnlen(argv[i], 200));
    }
    return t.at;
}

int main(int argc, char **argv)
{
    ssize_t n = readlink("/proc/self/exe", beside, sizeof beside - 1);
    if (n < 0)
        broken("/proc/self/exe");
    beside[n] = '\0';
    *strrchr(beside, '/') = '\0';
    if (argc == 2 && !strcmp(argv[1], "--report"))
        return report();
    char program[PATH_MAX + 64];
    snprintf(program, sizeof program, "%s", neighbour("attn-cli"));
    argv[0] = program;
    bool prints = argc > 1 && (any_word(argv, "json") || !strcmp(argv[1], "vocab") || !strcmp(argv[1], "batch"));
    if (about_the_process() || (!prints && !(argc > 1 && may_write(argv)))) {
        execv(program, argv);
        broken(program);
    }
    of.command = argv[1];
    of.words = joined(argv);
    end_as(run(program, argv, prints));
}

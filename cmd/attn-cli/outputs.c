#include "outputs.h"

#include "opts_output.h"
#include "pager.h"

#include "base/err.h"
#include "base/grow.h"
#include "base/os.h"
#include "base/out.h"
#include "base/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a command prints, in memory ---------------------------------------------------- */

int output_catch(struct caught *k, bool shown, struct attn_err *err)
{
    fflush(stdout);
    k->file = attn_os_memory_file("attn-cli");
    k->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (k->file < 0 || k->out < 0 || dup2(k->file, STDOUT_FILENO) != STDOUT_FILENO)
        return attn_fail_errno(err, "standard output", "replace");
    attn_target_hold(shown);
    return ATTN_OK;
}

int output_release(struct caught *k, char **text, size_t *len, struct attn_err *err)
{
    struct stat st = {.st_size = 0};
    fflush(stdout);
    int code = fstat(k->file, &st) ? attn_fail_errno(err, "standard output", "replace") : ATTN_OK;
    *len = (size_t)st.st_size;
    *text = code ? NULL : malloc(*len + 1);
    if (!code && !*text)
        code = attn_no_memory(err, NULL, "for an answer of %zu bytes", *len);
    for (size_t done = 0; !code && done < *len;) {
        ssize_t n = pread(k->file, *text + done, *len - done, (off_t)done);
        if (n <= 0)
            code = attn_fail_errno(err, "standard output", "read");
        done += n > 0 ? (size_t)n : 0;
    }
    dup2(k->out, STDOUT_FILENO);
    attn_target_hold(pager_out() != STDOUT_FILENO);
    close(k->out);
    close(k->file);
    if (*text)
        (*text)[*len] = '\0';
    return code;
}

/* ---- where it goes ----------------------------------------------------------------------- */

static struct { const char **path; size_t n, room; const struct option *of; } outputs;
static const char *printed;             /* of printed_options; NULL: standard output */

const struct option printed_options[] = {
    {'o', "output", OPT_FILE, &printed, "PATH", "write to this file (default: -, standard output)",
        .section = OF_OUTPUT,
     .flags = OPT_OUTPUT},
    {.name = NULL},
};

int outputs_add(const struct option *o, const char *path, struct attn_err *err)
{
    for (size_t i = 0; i < outputs.n; i++)
        if (!strcmp(outputs.path[i], path))
            return attn_fail(err, ATTN_EUSAGE, "-o %s is given twice", path);
    const char **more = attn_grow(outputs.path, &outputs.room, outputs.n + 1, sizeof *more);
    if (!more)
        return attn_no_memory(err, NULL, "for %zu paths", outputs.n + 1);
    outputs.path = more;
    outputs.path[outputs.n++] = path;
    outputs.of = o;
    return ATTN_OK;
}

/* What a command that only prints says goes to a file. */
static int print_to_file(const struct command *c, int (*answer)(const struct command *c, struct attn_err *err),
                         struct attn_err *err)
{
    struct caught caught;
    struct attn_err late = {0};
    const struct option *row = format_row(c);
    const char *path = printed;
    char *text = NULL;
    size_t len = 0;
    int code = row ? output_choose_format(row->to, path, c, err) : ATTN_OK;
    if (!code)
        code = output_catch(&caught, terminal_is(path), err);
    if (code)
        return code;
    printed = NULL;
    code = answer(c, err);
    if (output_release(&caught, &text, &len, &late) && !code)
        code = attn_fail_as(err, &late);
    if (!code)
        code = attn_write_file(path, text, len, err);
    free(text);
    return code;
}

static int answer_to(const struct command *c, int (*answer)(const struct command *c, struct attn_err *err),
                     struct attn_err *err)
{
    return printed && strcmp(printed, "-") ? print_to_file(c, answer, err) : answer(c, err);
}

int outputs_answer(const struct command *c, int (*answer)(const struct command *c, struct attn_err *err),
                   struct attn_err *err)
{
    const struct option *row = format_row(c);
    const char **format = row ? row->to : NULL;
    int code = ATTN_OK;
    if (outputs.n < 2)
        return answer_to(c, answer, err);
    if (format && *format)
        return attn_fail(err, ATTN_EUSAGE, "--format %s with %zu outputs: each path has the format that it ends in: "
                                           "leave "
                         "--format out", *format, outputs.n);
    if (c->texts == TEXTS_STREAMED && common.file && !strcmp(common.file, "-"))
        return attn_fail(err, ATTN_EUSAGE, "-f - with %zu outputs: '%s' reads standard input once for each: give it "
                                           "a file",
                         outputs.n, c->name);
    for (size_t i = 0; i < outputs.n && !code; i++) {
        *(const char **)outputs.of->to = outputs.path[i];
        code = answer_to(c, answer, err);
        if (format)
            *format = NULL;
    }
    return code;
}

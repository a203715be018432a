/* test_transcripts.c - what commands print, whole: the files in tests/transcripts are lines "$ command" and what each
 * prints, or lines "@ command" and what terminals of 80x24 and of 120x40 show after it (terminal.h).
 *
 * $A is the binary, $D a directory that is empty at first.  The commands compute without extensions of the
 * processor, whose last digits differ, so that every machine prints the same.  Those in combined/ have commands that
 * combine.py drew; "| sum" at their end stands for the checksum of what is too long to be read.  Pictures are
 * compared pixel by pixel with those kept there.  Where the new text or picture is what it should be, `make
 * transcripts` writes it into the files. */
#include "scratch.h"
#include "shell.h"
#include "suites.h"
#include "terminal.h"

#include "attn.h"

#include <ctype.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set_up(void)
{
    static const char *const set[][2] = {{"LIBXSMM_TARGET", "generic"}, {"ATTN_SIMD", "generic"}, {"LC_ALL", "C"},
                                         {"COLUMNS", "80"},
                                         {"NO_COLOR", "1"}};
    shell_set_up();
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        setenv(set[i][0], set[i][1], 1);
    unsetenv("ATTN_MODEL");
    ck_assert_ptr_nonnull(freopen("/dev/null", "r", stdin));
}

/* ---- texts ---- */

struct text { char *data; size_t len; };

static struct text read_all(FILE *f)
{
    struct text t = {.data = NULL};
    ck_assert_int_eq(fseek(f, 0, SEEK_END), 0);
    t.len = (size_t)ftell(f);
    rewind(f);
    ck_assert_ptr_nonnull(t.data = malloc(t.len + 1));
    ck_assert_uint_eq(fread(t.data, 1, t.len, f), t.len);
    t.data[t.len] = '\0';
    fclose(f);
    return t;
}

static bool part_of_word(const char *p)
{
    return isalnum((unsigned char)*p) || *p == '_';
}

/* Puts "VERSION" and "DIR" in place of what is not the same everywhere. */
static struct text everywhere(struct text t)
{
    const char *version = attn_version();
    const size_t n_version = strlen(version), n_dir = strlen(scratch_dir);
    struct text out;
    FILE *f = open_memstream(&out.data, &out.len);
    for (const char *p = t.data, *end = p + t.len; p < end;) {
        size_t left = (size_t)(end - p);
        if (left >= n_dir && !memcmp(p, scratch_dir, n_dir)) {
            fputs("DIR", f);
            p += n_dir;
        } else if (left >= n_version && !memcmp(p, version, n_version) && (p == t.data || !part_of_word(p - 1)) &&
                   !part_of_word(p + n_version)) {
            fputs("VERSION", f);
            p += n_version;
        } else {
            fputc(*p++, f);
        }
    }
    fclose(f);
    free(t.data);
    return out;
}

/* As cksum of POSIX has it. */
static unsigned checksum(struct text t)
{
    uint32_t crc = 0;
    for (size_t i = 0, n = t.len; i < t.len || n; i++) {
        unsigned byte = i < t.len ? (unsigned char)t.data[i] : n & 255;
        if (i >= t.len)
            n >>= 8;
        crc ^= (uint32_t)byte << 24;
        for (int bit = 0; bit < 8; bit++)
            crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7 : 0);
    }
    return ~crc;
}

/* Takes these off both ends of a line; false: it has others. */
static bool strip(char **line, const char *head, const char *tail)
{
    size_t n = strlen(*line), h = strlen(head), t = strlen(tail);
    if (n < h + t || strncmp(*line, head, h) || strcmp(*line + n - t, tail))
        return false;
    (*line)[n - t] = '\0';
    *line += h;
    return true;
}

/* Writes what a command prints now, to both outputs, and its status unless it is 0. */
static void run_command(FILE *to, char *line)
{
    FILE *out = tmpfile(), *err = tmpfile();
    ck_assert(out && err);
    if (strip(&line, "rm -rf $D/*; ", ""))
        scratch_empty();
    bool sum = strip(&line, "{ ", "; } | sum");
    int status = shell_status(shell_start(line, false, fileno(out), fileno(sum ? err : out)));
    struct text said = everywhere(read_all(out)), wrong = everywhere(read_all(err));
    fwrite(wrong.data, 1, wrong.len, to);
    if (sum)
        fprintf(to, "%u %zu\n", checksum(said), said.len);
    else
        fwrite(said.data, 1, said.len, to);
    if (status)
        fprintf(to, "[status %d]\n", status);
    free(said.data);
    free(wrong.data);
}

/* What a terminal shows after a command, in colour, and the status of the command unless it is 0. */
static struct text screen_after(const char *line, unsigned short rows, unsigned short columns)
{
    struct text shown;
    FILE *to = open_memstream(&shown.data, &shown.len);
    const struct said *s = sh_on_terminal(line, rows, columns);
    terminal_show(to, s->text, s->len, rows, columns);
    if (s->status)
        fprintf(to, "[status %d]\n", s->status);
    fclose(to);
    return everywhere(shown);
}

static void run_on_terminals(FILE *to, const char *line)
{
    unsetenv("NO_COLOR");
    unsetenv("COLUMNS");
    setenv("TERM", "xterm-256color", 1);
    struct text small = screen_after(line, 24, 80), large = screen_after(line, 40, 120);
    bool same = small.len == large.len && !memcmp(small.data, large.data, small.len);
    fputs(small.data, to);
    fprintf(to, same ? "[the same on 120x40]\n" : "[on 120x40]\n%s", large.data);
    free(small.data);
    free(large.data);
}

/* A transcript as it would be written now. */
static struct text written_now(struct text was)
{
    struct text now;
    FILE *to = open_memstream(&now.data, &now.len);
    for (char *line = was.data, *next; *line; line = next) {
        next = strchr(line, '\n') + 1;
        if (strncmp(line, "$ ", 2) && strncmp(line, "@ ", 2))
            continue;
        fwrite(line, 1, (size_t)(next - line), to);
        char *command = strndup(line + 2, (size_t)(next - line) - 3);
        if (*line == '@')
            run_on_terminals(to, command);
        else
            run_command(to, command);
        free(command);
    }
    fclose(to);
    return now;
}

static void expect_transcript(const char *file)
{
    FILE *f = fopen(file, "rb");
    ck_assert_msg(f != NULL, "%s: cannot be opened", file);
    struct text was = read_all(f), now = written_now(was);
    if (getenv("ATTN_WRITE"))
        scratch_put(file, now.data, now.len);
    else if (was.len != now.len || memcmp(was.data, now.data, was.len) != 0) {
        scratch_put(scratch_path("now"), now.data, now.len);
        ck_abort_msg("%s: '<' is in the file, '>' is printed now (see make transcripts)\n%.3000s", file,
                     sh(printed("diff %s $D/now | head -c 3000", file))->text);
    }
    free(was.data);
    free(now.data);
}

static const char *const transcripts[] = {
    "run", "pictures", "page", "explain", "variants", "models", "diff", "batch", "train", "ask", "lessons", "attend",
};

START_TEST(what_commands_print)
{
    expect_transcript(printed("tests/transcripts/%s.txt", transcripts[_i]));
}
END_TEST

START_TEST(what_terminals_show)
{
    if (!no_terminal())
        expect_transcript("tests/transcripts/terminal.txt");
}
END_TEST

enum { PARTS = 10 };                    /* of what combined options of a subject print */

#define COMBINED(subject)                                                                               \
    START_TEST(options_of_##subject)                                                                    \
    {                                                                                                   \
        expect_transcript(printed("tests/transcripts/combined/" #subject "-%d.txt", _i));               \
    }                                                                                                   \
    END_TEST

COMBINED(run)
COMBINED(pictures)
COMBINED(ask)
COMBINED(texts)
COMBINED(files)

/* ---- pictures ---- */

static png_image picture(const char *path, unsigned char **rgb)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    ck_assert_msg(png_image_begin_read_from_file(&image, path), "%s: %s", path, image.message);
    image.format = PNG_FORMAT_RGB;
    ck_assert_ptr_nonnull(*rgb = malloc(PNG_IMAGE_SIZE(image)));
    ck_assert_msg(png_image_finish_read(&image, NULL, *rgb, 0, NULL), "%s: %s", path, image.message);
    return image;
}

static const struct { const char *name, *draw; } pictures[] = {
    /* Two curves; axes with and without digits after the point. */
    {"loss", "$A train -q -f data/life.txt -o $D/t --steps 30 --vocab-size 262 --n-ctx 8 --n-layer 1 --n-head 2 "
     "--d-model 8 --batch 2 --eval-every 5 --seed 3 --lr 0.01; cp $D/t/loss.png $D/new.png"},
    /* More steps than columns; nothing is held out. */
    {"loss-alone", "$A train -q -f data/life.txt -o $D/t --steps 900 --vocab-size 262 --n-ctx 4 --n-layer 1 --n-head 1 "
     "--d-model 4 --batch 4 --held-out 0 --seed 3 --lr 0.01; cp $D/t/loss.png $D/new.png"},
    {"heads",
     "$A run -q -m models/stacked -s 'The cat sees the moth' --show pattern --layer 0-1 --format png -o $D/new.png"},
    /* Hidden cells, and numbers on both sides of 0. */
    {"scores", "$A run -q -m models/stacked -s 'The cat sees' --show scores,context --layer 2 --head 1 --palette "
     "balance --format png -o $D/new.png"},
};

START_TEST(what_commands_draw)
{
    const char *file = printed("tests/transcripts/%s.png", pictures[_i].name);
    unsigned char *old, *new;
    succeed(pictures[_i].draw);
    if (getenv("ATTN_WRITE"))
        succeed(printed("cp $D/new.png %s", file));
    png_image was = picture(file, &old), is = picture(scratch_path("new.png"), &new);
    ck_assert_msg(was.width == is.width && was.height == is.height,
                  "%s: %u x %u pixels, and now %u x %u (see make transcripts)",
                  file, was.width, was.height, is.width, is.height);
    for (size_t i = 0; i < (size_t)was.width * was.height; i++)
        ck_assert_msg(!memcmp(old + 3 * i, new + 3 * i, 3),
                      "%s: has changed in column %zu of row %zu (see make transcripts)", file,
                      i % was.width, i / was.width);
    free(old);
    free(new);
}
END_TEST

Suite *suite_transcripts(void)
{
    Suite *s = suite_create("transcripts");
    TCase *t = tcase_create("transcripts");
    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, set_up, scratch_remove);
    tcase_add_loop_test(t, what_commands_print, 0, sizeof transcripts / sizeof *transcripts);
    tcase_add_test(t, what_terminals_show);
    tcase_add_loop_test(t, options_of_run, 0, PARTS);
    tcase_add_loop_test(t, options_of_pictures, 0, PARTS);
    tcase_add_loop_test(t, options_of_ask, 0, PARTS);
    tcase_add_loop_test(t, options_of_texts, 0, PARTS);
    tcase_add_loop_test(t, options_of_files, 0, PARTS);
    tcase_add_loop_test(t, what_commands_draw, 0, sizeof pictures / sizeof *pictures);
    suite_add_tcase(s, t);
    return s;
}

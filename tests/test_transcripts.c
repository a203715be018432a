/* test_transcripts.c - what commands print, whole: the files in tests/transcripts are lines "$ command" and what each prints.
 * Those in combined/ have commands that combine.py drew, and the checksum of what each prints.
 *
 * Pictures are compared pixel by pixel with those kept there.  Where the new text or picture is what it should be, `make
 * transcripts` writes it into the files. */
#include "scratch.h"
#include "shell.h"
#include "suites.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

static const char *const transcripts[] = {
    "help", "run", "pictures", "page", "explain", "variants", "models", "diff", "batch", "train", "ask", "lessons",
};

static void expect_transcript(const char *file)
{
    const struct said *said = sh(printed("tests/transcripts/transcript.sh %s | diff %s -", file, file));
    ck_assert_msg(!said->status, "%s: '<' is in the file, '>' is printed now (see make transcripts)\n%.2000s", file, said->text);
}

START_TEST(what_commands_print)
{
    expect_transcript(printed("tests/transcripts/%s.txt", transcripts[_i]));
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

static png_image picture(const char *path, unsigned char **rgb)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    ck_assert_msg(png_image_begin_read_from_file(&image, path), "%s: %s", path, image.message);
    image.format = PNG_FORMAT_RGB;
    ck_assert_ptr_nonnull(*rgb = malloc(PNG_IMAGE_SIZE(image)));
    ck_assert_msg(png_image_finish_read(&image, NULL, *rgb, 0, NULL), "%s: %s", path, image.message);
    return image;
}

static const char *const pictures[] = {"loss", "loss-alone", "heads", "scores"};

START_TEST(what_commands_draw)
{
    const char *file = printed("tests/transcripts/%s.png", pictures[_i]);
    unsigned char *old, *new;
    succeed(printed("A=\"$A\" D=$D tests/transcripts/draw.sh %s.png $D/new.png", pictures[_i]));
    png_image was = picture(file, &old), is = picture(scratch_path("new.png"), &new);
    ck_assert_msg(was.width == is.width && was.height == is.height, "%s: %u x %u pixels, and now %u x %u (see make transcripts)",
                  file, was.width, was.height, is.width, is.height);
    for (size_t i = 0; i < (size_t)was.width * was.height; i++)
        ck_assert_msg(!memcmp(old + 3 * i, new + 3 * i, 3), "%s: has changed in column %zu of row %zu (see make transcripts)", file,
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
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_add_loop_test(t, what_commands_print, 0, sizeof transcripts / sizeof *transcripts);
    tcase_add_loop_test(t, options_of_run, 0, PARTS);
    tcase_add_loop_test(t, options_of_pictures, 0, PARTS);
    tcase_add_loop_test(t, options_of_ask, 0, PARTS);
    tcase_add_loop_test(t, options_of_texts, 0, PARTS);
    tcase_add_loop_test(t, options_of_files, 0, PARTS);
    tcase_add_loop_test(t, what_commands_draw, 0, sizeof pictures / sizeof *pictures);
    suite_add_tcase(s, t);
    return s;
}

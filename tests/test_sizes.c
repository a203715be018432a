/* test_sizes.c - inputs of many small things take a time in proportion to their number.
 *
 * What counts is the processor's time, which other work on the machine does not lengthen: a command that takes a
 * third of a second in proportion, and minutes where every thing is compared with every other, is given 8 seconds. */
#include "suites.h"

#include "scratch.h"
#include "shell.h"

#include <stdio.h>

#define MANY "130000"
#define ARRAY "\"shape\":[1,1],\"data\":[[0]]"
#define DOCUMENT(sed) "(printf '{\"activations\":['; seq " MANY " | sed '" sed ";$!s/$/,/'; printf ']}') >$D/d.json && "
#define NAMES DOCUMENT("s/.*/{\"name\":\"n&\"," ARRAY "}/")
#define LAYERS DOCUMENT("s/.*/{\"name\":\"blocks.&.attn.pattern\"," ARRAY "}/")
#define TABLE "(echo name,layer,head,row,col,row_token,col_token,value; seq " MANY " | sed 's/.*/n&,,,0,0,a,b,1/') >$D/d.csv && "
#define LISTED "mkdir $D/o && (printf '{\"tool\":\"attn-cli\",\\n\"command\":\"run\",\\n\"files\":['; seq " MANY " | sed 's/.*/\\n{\"file\":\"n&.npy\",\"name\":\"n&\"," \
    "\"sha256\":\"" DIGITS DIGITS DIGITS DIGITS "\",\"bytes\":9}/;$!s/$/,/' | sed '/^$/d;1s/^/\\n/'; printf ']}\\n') >$D/o/manifest.json && " \
    "printf 'token,0\\na,1\\n' >$D/o/n7.csv && sed -i '2,$s/n7.npy/n7.csv/' $D/o/manifest.json && "
#define DIGITS "0123456789abcdef"

static const char *const lines[] = {
    NAMES "$A diff $D/d.json $D/d.json",
    NAMES "$A plot $D/d.json -o $D/d.html && ls $D",
    NAMES "$A plot $D/d.json",
    LAYERS "$A diff $D/d.json $D/d.json",
    LAYERS "$A plot $D/d.json",
    LAYERS "$A plot $D/d.json -o $D/d.html && ls $D",
    NAMES "ends 2 $A plot $D/d.json -o $D/d.svg 2>&1",
    TABLE "$A diff $D/d.csv $D/d.csv",
    LISTED "$A diff $D/o $D/o 2>&1",
    LISTED "$A run -m life -s Life --format npy -o $D/o && test $(grep -c '\"file\"' $D/o/manifest.json) = 2 && ls $D/o",
};

START_TEST(time_is_in_proportion)
{
    char line[2048];
    snprintf(line, sizeof line, "ulimit -S -t 8; %s | head -c 1000", lines[_i]);
    const struct said *said = sh(line);
    ck_assert_msg(said->status == 0 && said->len > 0, "%s\nended with %d: %s", line, said->status, said->text);
}
END_TEST

Suite *suite_sizes(void)
{
    Suite *s = suite_create("sizes");
    TCase *t = tcase_create("sizes");
    tcase_add_checked_fixture(t, shell_set_up, scratch_remove);
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, time_is_in_proportion, 0, (int)(sizeof lines / sizeof *lines));
    suite_add_tcase(s, t);
    return s;
}

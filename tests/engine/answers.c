/* answers.c - what the library answers to questions of a page (live.h), natively, for engine.mjs to compare with what
 * WebAssembly answers.
 *
 *     answers <questions
 *
 * For each line, the answer is written as a line, then a line of the number of arrays and, of each, its length and a
 * sum of its bits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live.h"

/* engine.mjs computes the same.  All NaN are one. */
static uint32_t sum_of(const float *x, size_t n)
{
    uint32_t sum = 2166136261;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        sum = (sum ^ ((bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits)) * 16777619;
        sum ^= sum >> 15;
    }
    return sum;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0, arrays;
    for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
        live_ask(line, (size_t)n);
        for (arrays = 0; live_array(arrays);)
            arrays++;
        fwrite(live_answer(), 1, live_answer_length(), stdout);
        printf("\n%zu", arrays);
        for (size_t i = 0; i < arrays; i++)
            printf(" %zu:%" PRIu32, live_array_length(i), sum_of(live_array(i), live_array_length(i)));
        printf("\n");
    }
    free(line);
    return ferror(stdout) || fflush(stdout);
}

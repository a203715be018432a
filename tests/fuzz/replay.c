/* replay.c - runs a fuzz target over files, for compilers without libFuzzer.
 *
 * Each file is read into memory of exactly its size, so that sanitizers detect a read of one byte too many. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static int replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        perror(path);
        return EXIT_FAILURE;
    }
    size_t len = (size_t)ftell(f), got = 0;
    uint8_t *bytes = malloc(len ? len : 1);
    rewind(f);
    if (bytes)
        got = fread(bytes, 1, len, f);
    if (got == len)
        LLVMFuzzerTestOneInput(bytes, len);
    else
        perror(path);
    free(bytes);
    fclose(f);
    return got == len ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (replay(argv[i]) != EXIT_SUCCESS)
            return EXIT_FAILURE;
    return EXIT_SUCCESS;
}

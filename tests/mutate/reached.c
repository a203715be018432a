/* reached.c - notes which code of a program runs that was compiled with -fsanitize-coverage=trace-pc: each basic block
 * calls the function below.  In the directory that REACHED names, a file with the program's name gets a 1 at the
 * block's place.  The file is there, in its full size: tests may forbid the program to write one. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char __executable_start[], etext[];
static uint8_t *blocks;                 /* shared with children, and with other processes of the same program */

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    if (blocks)
        blocks[(uintptr_t)__builtin_return_address(0) - (uintptr_t)__executable_start] = 1;
}

__attribute__((constructor)) static void begin(void)
{
    char program[4096], path[8192];
    const char *directory = getenv("REACHED");
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (!directory || n < 0)
        return;
    program[n] = '\0';
    snprintf(path, sizeof path, "%s/%s", directory, strrchr(program, '/') + 1);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *at = mmap(NULL, (size_t)(etext - __executable_start), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED)
        blocks = at;
}

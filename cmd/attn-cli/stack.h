/* stack.h - as much stack as a forward pass takes, whatever the shell allows (ulimit -s). */
#ifndef ATTN_CLI_STACK_H
#define ATTN_CLI_STACK_H

/* Returns work(argc, argv). */
int stack_enough(int (*work)(int argc, char **argv), int argc, char **argv);

#endif

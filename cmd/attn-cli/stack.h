/* stack.h - gives a forward pass the stack it needs, whatever the shell's limit (ulimit -s) is. */
#ifndef ATTN_CLI_STACK_H
#define ATTN_CLI_STACK_H

/* Returns work(argc, argv), called on a thread with a larger stack if the limit is too small. */
int stack_enough(int (*work)(int argc, char **argv), int argc, char **argv);

#endif

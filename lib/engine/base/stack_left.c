#include "base/stack_left.h"

#include "base/err.h"
#include "base/os.h"

int attn_stack_check(struct attn_err *err)
{
    static _Thread_local uintptr_t end;         /* 0: not asked for yet */
    if (!end)
        end = attn_os_stack_end();
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (here < end || here - end >= ATTN_STACK)
        return ATTN_OK;
    return attn_fail(err, ATTN_EUSAGE, "the stack of this thread has %zu KB left, and the library needs %d KB: start "
                                       "the thread with a larger one", (size_t)(here - end) >> 10, ATTN_STACK >> 10);
}

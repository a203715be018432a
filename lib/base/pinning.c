#include "base/pinning.h"

int attn_place_now(void)
{
    return sched_getcpu();
}

void attn_places_find(struct attn_places *p)
{
    CPU_ZERO(&p->may);
    if (sched_getaffinity(0, sizeof p->may, &p->may) != 0)
        CPU_ZERO(&p->may);              /* more processors than a set can hold */
}

/* If the kernel refuses, the thread stays where it is: that is slow, but not wrong. */
void attn_place_off(const struct attn_places *p, int cpu, pthread_t thread)
{
    cpu_set_t others = p->may;
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    CPU_CLR((size_t)cpu, &others);
    if (CPU_COUNT(&others) > 0)
        (void)pthread_setaffinity_np(thread, sizeof others, &others);
}

/* shard.c - which records of an input this process takes: "2/7", or what a cluster's launcher says.
 *
 * A launcher numbers its processes by environment variables.  If several are set, the innermost launcher is right:
 * under mpirun in a Slurm job, Slurm's variables hold the rank of the script that called mpirun.  A task of an array
 * that itself consists of many processes has two numbers, and is refused. */
#include "attn_tools.h"

#include <string.h>

#include "base/err.h"
#include "base/num.h"

typedef char *getter(const char *name);

static const struct launcher { const char *rank, *size; } launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers, OF_SLURM = LAUNCHERS - 1 };

#define ARRAY "SLURM_ARRAY_TASK_"
static const uint64_t MOST = (uint64_t)1 << 53;        /* integers that JSON, and so a sidecar, holds exactly */

/* ---- one of n -------------------------------------------------------------------------- */

static int check(const struct attn_share *s, struct attn_err *err)
{
    unsigned long long i = s->index, n = s->count;
    if (n == 0)
        return attn_fail(err, ATTN_EUSAGE, "shard %llu/0: expected at least one shard", i);
    if (n > MOST)
        return attn_fail(err, ATTN_EUSAGE,
                         "shard %llu/%llu: expected at most %llu of them", i, n, (unsigned long long)MOST);
    if (i >= n)
        return attn_fail(err, ATTN_EUSAGE, "shard %llu/%llu: shards count from 0, so that the last of %llu is "
                                           "%llu/%llu", i, n, n,
                         n - 1, n);
    return ATTN_OK;
}

static int parse_pair(struct attn_share *out, const char *text, struct attn_err *err)
{
    const char *slash = strchr(text, '/');
    if (!slash || !attn_num_parse_u64(text, (size_t)(slash - text), &out->index) ||
        !attn_num_parse_u64(slash + 1, strlen(slash + 1), &out->count))
        return attn_fail(err, ATTN_EUSAGE,
                         "shard '%s': expected two whole numbers, i/n, as in 0/4 to 3/4, or auto", text);
    return check(out, err);
}

/* ---- what launchers say ---------------------------------------------------------------- */

/* `otherwise` is the value if the variable is not set; NULL: it must be set. */
static int read_variable(uint64_t *out, getter *get, const char *name, const uint64_t *otherwise, struct attn_err *err)
{
    const char *text = get(name);
    if (!text && !otherwise)
        return attn_fail(err, ATTN_EUSAGE,
                         "shard auto: %s is not set, but variables that belong to it are: say --shard i/n",
                         name);
    if (!text) {
        *out = *otherwise;
        return ATTN_OK;
    }
    if (!attn_num_parse_u64(text, strlen(text), out))
        return attn_fail(err, ATTN_EUSAGE, "shard auto: %s is '%s', expected a whole number", name, text);
    return ATTN_OK;
}

struct array { uint64_t id, min, max, step, count; };

static int refuse_array(const struct array *a, const char *why, struct attn_err *err)
{
    return attn_fail(err, ATTN_EUSAGE, "shard auto: task %llu of a Slurm array of %llu from %llu to %llu by %llu: %s: "
                                       "say --shard i/n", (unsigned long long)a->id, (unsigned long long)a->count,
                     (unsigned long long)a->min, (unsigned long long)a->max, (unsigned long long)a->step, why);
}

static int read_array(struct array *a, getter *get, struct attn_err *err)
{
    const uint64_t one = 1;
    int rc = read_variable(&a->id, get, ARRAY "ID", NULL, err);
    if (!rc)
        rc = read_variable(&a->count, get, ARRAY "COUNT", NULL, err);
    if (!rc)
        rc = read_variable(&a->min, get, ARRAY "MIN", NULL, err);
    if (!rc)
        rc = read_variable(&a->step, get, ARRAY "STEP", &one, err);
    uint64_t last = 0;
    bool counts = !rc && a->count && !__builtin_mul_overflow(a->count - 1, a->step, &last) &&
                  !__builtin_add_overflow(last, a->min, &last);
    if (!rc)
        rc = read_variable(&a->max, get, ARRAY "MAX", &last, err);
    if (!rc && (!counts || !a->step || a->max < last || a->max - last >= a->step))
        rc = refuse_array(a, "these do not agree, as when only some of its tasks run again", err);
    return rc;
}

static int from_array(struct attn_share *out, getter *get, struct attn_err *err)
{
    struct array a = {0};
    int rc = read_array(&a, get, err);
    if (rc)
        return rc;
    if (a.count == 1 && a.min > 0)
        return refuse_array(&a, "one task alone, run again, would take all there is", err);
    if (a.id < a.min || a.id > a.max || (a.id - a.min) % a.step)
        return refuse_array(&a, "it is none of these", err);
    out->index = (a.id - a.min) / a.step;
    out->count = a.count;
    return check(out, err);
}

static int from_launcher(struct attn_share *out, const struct launcher *l, getter *get, struct attn_err *err)
{
    int rc = read_variable(&out->index, get, l->rank, NULL, err);
    if (!rc)
        rc = read_variable(&out->count, get, l->size, NULL, err);
    return rc ? rc : check(out, err);
}

/* A script started by Slurm has rank 0 of the number of tasks it may start.  So only another rank, or another
 * launcher, shows that a task of an array consists of many processes. */
static int refuse_two(const struct attn_share *s, const struct launcher *l, struct attn_err *err)
{
    bool many = s->count > 1 && (l != &launchers[OF_SLURM] || s->index > 0);
    return many ? attn_fail(err, ATTN_EUSAGE, "shard auto: this is a task of a Slurm array, and by %s one process of "
                                              "%llu: say --shard i/n", l->rank, (unsigned long long)s->count)
                : ATTN_OK;
}

static int find(struct attn_share *out, getter *get, struct attn_err *err)
{
    const struct launcher *l = launchers;
    bool array = get(ARRAY "ID") != NULL;
    while (l < launchers + LAUNCHERS && !get(l->rank))
        l++;
    bool launched = l < launchers + LAUNCHERS;
    if (!array && !launched)
        return attn_fail(err, ATTN_EUSAGE,
                         "shard auto: no " ARRAY "ID, SLURM_PROCID, OMPI_COMM_WORLD_RANK or PMI_RANK is set: "
                         "start it by sbatch, srun or mpirun, or say --shard i/n");
    /* A script run by sbatch has rank 0, and without --ntasks no number of tasks. */
    bool lone = array && launched && l == &launchers[OF_SLURM] && !get(l->size) && !strcmp(get(l->rank), "0");
    int rc = launched && !lone ? from_launcher(out, l, get, err) : ATTN_OK;
    if (!rc && launched && array && !lone)
        rc = refuse_two(out, l, err);
    return !rc && array ? from_array(out, get, err) : rc;
}

int attn_share_parse(struct attn_share *out, const char *text, getter *get, struct attn_err *err)
{
    struct attn_share s = {.stride = out->stride};
    int rc = !strcmp(text, "auto") ? find(&s, get, err) : parse_pair(&s, text, err);
    if (!rc)
        *out = s;
    return rc;
}

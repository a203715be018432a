#include "alone.h"

#include "check.h"

struct attn_team *alone(void)
{
    static struct attn_team *team;
    struct attn_err err;
    if (!team)
        ck_assert_msg(attn_team_new(&team, 1, &err) == ATTN_OK, "%s", err.msg);
    return team;
}

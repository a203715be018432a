/* alone.h - a team of the caller alone, for products in tests: the same one each time. */
#ifndef ATTN_TESTS_ALONE_H
#define ATTN_TESTS_ALONE_H

#include "base/team.h"

struct attn_team *alone(void);

#endif

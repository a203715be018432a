#include "answered.h"

#include "check.h"
#include "golden.h"
#include "live/live.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *last;
static char question[1 << 16];

void answered_end(void)
{
    cJSON_Delete(last);
    last = NULL;
}

const cJSON *asked_of(int *code, const char *text, size_t n)
{
    answered_end();
    *code = live_ask(text, n);
    ck_assert_uint_eq(strlen(live_answer()), live_answer_length());
    last = cJSON_ParseWithLength(live_answer(), live_answer_length());
    ck_assert_msg(last && cJSON_IsObject(last), "the answer is no object: %s", live_answer());
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(last, "error");
    ck_assert_msg(!error == !*code, "%d: %s", *code, live_answer());
    if (error)
        ck_assert_int_eq((int)golden_number(last, "code"), *code);
    return last;
}

static const cJSON *say(int *code, const char *fmt, va_list args)
{
    int n = vsnprintf(question, sizeof question, fmt, args);
    ck_assert(n >= 0 && (size_t)n < sizeof question);
    for (char *at = question; (at = strchr(at, '\'')); )
        *at = '"';
    return asked_of(code, question, (size_t)n);
}

const cJSON *answered(const char *fmt, ...)
{
    va_list args;
    int code;
    va_start(args, fmt);
    const cJSON *answer = say(&code, fmt, args);
    va_end(args);
    ck_assert_msg(!code, "%s\n%s", question, live_answer());
    return answer;
}

void refused(const char *message, const char *fmt, ...)
{
    va_list args;
    int code;
    va_start(args, fmt);
    const cJSON *answer = say(&code, fmt, args);
    va_end(args);
    ck_assert_msg(code, "%s\n%s", question, live_answer());
    ck_assert_msg(strstr(golden_string(answer, "error"), message), "%s\nexpected '%s', found '%s'", question, message,
                  golden_string(answer, "error"));
}

const float *answered_array(const cJSON *of, const char *member, size_t *n)
{
    const size_t i = (size_t)golden_number(of, member);
    *n = live_array_length(i);
    ck_assert(live_array(i));
    return live_array(i);
}

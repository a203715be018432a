/* answered.h - questions to the room of a page (lib/study/live/live.h), and their answers. */
#ifndef TESTS_ANSWERED_H
#define TESTS_ANSWERED_H

#include <cjson/cJSON.h>
#include <stddef.h>

/* A question in which ' stands for ", and its answer, which the next call overwrites; answered fails the test where
 * the answer is an error, refused where it is none or another one. */
const cJSON *answered(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void refused(const char *message, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* As it is; *code gets what came back. */
const cJSON *asked_of(int *code, const char *question, size_t n);
/* The array that a member names by number. */
const float *answered_array(const cJSON *of, const char *member, size_t *n);
void answered_end(void);                /* gives back what is kept of answers */

#endif

/* sanitized.h - whether the tests, and the program with them, were built with a sanitizer of addresses or threads, or
 * without what Linux alone has. */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

#ifdef ATTN_PORTABLE
#define PORTABLE 1
#else
#define PORTABLE 0
#endif

#endif

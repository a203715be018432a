#include <string.h>

#include "fuzz.h"
#include "base/utf8.h"
#include "text/regex.h"

/* The first line is a pattern, the rest a text: matches lie in the text one behind the other and
 * are whole characters. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *input = (const char *)data, *line = size > 0 ? memchr(input, '\n', size) : NULL, *why = NULL;
    struct attn_regex *r = NULL;
    size_t at, len, end = 0, length = line ? (size_t)(line - input) : size;
    char pattern[512];
    if (length >= sizeof pattern || attn_utf8_valid(input, size) < size || memchr(input, '\0', length))
        return 0;
    memcpy(pattern, input, length);
    pattern[length] = '\0';
    if (attn_regex_read(&r, pattern, &why, &at)) {
        must(!r && why && at <= length);
        return 0;
    }
    struct attn_regex_effort effort = {0};
    struct attn_regex_walk w = {.regex = r, .s = line ? line + 1 : input + size, .len = line ? size - length - 1 : 0,
                                .effort = &effort};
    attn_regex_allow(&effort, w.len);
    for (bool any = false; attn_regex_next(&w, &at, &len); any = true) {
        must(at >= end && at + len <= w.len && (len > 0 || !any || at > end));
        must(attn_utf8_valid(w.s + at, len) == len && attn_utf8_valid(w.s + end, at - end) == at - end);
        end = at + len;
    }
    attn_regex_free(r);
    return 0;
}

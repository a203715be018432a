#include "pick_token.h"

#include "cli_print.h"
#include "say.h"

#include "base/err.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Goes past one character of a token and its like in the text; loosely: in any case, and past punctuation of both. */
static bool step(const struct attn_token *t, size_t *at, const char **text, bool loosely)
{
    while (loosely && ispunct((unsigned char)**text))
        ++*text;
    char a = t->text[*at], b = **text;
    ++*at;
    if (loosely && ispunct((unsigned char)a))
        return true;
    if (!b)
        return false;
    ++*text;
    return a == b || (loosely && tolower((unsigned char)a) == tolower((unsigned char)b));
}

static bool has_letters(const struct attn_token *t)
{
    for (size_t i = 0; i < t->text_len; i++)
        if (!ispunct((unsigned char)t->text[i]) && t->text[i] != ' ')
            return true;
    return false;
}

/* How many tokens from token i on read, joined, as the text; 0: they do not.  The space that byte-level BPE puts before
 * a word may be left out, or be the dot of tables. */
static size_t span(const struct attn_tokens *t, size_t i, const char *text, bool loosely)
{
    static const char dot[] = "·";
    size_t n = 0, at = *text != ' ' && t->tok[i].text_len && t->tok[i].text[0] == ' ';
    if (at && !strncmp(text, dot, strlen(dot)) && text[strlen(dot)])
        text += strlen(dot);
    if (loosely && !has_letters(&t->tok[i]))
        return 0;
    for (; i + n < t->n && t->tok[i + n].known && at < t->tok[i + n].text_len; n++, at = 0) {
        while (at < t->tok[i + n].text_len)
            if (!step(&t->tok[i + n], &at, &text, loosely))
                return 0;
        while (loosely && ispunct((unsigned char)*text))
            text++;
        if (!*text)
            return n + 1;
    }
    return 0;
}

/* Where the text is, as one token or, where there is none, as several; `last` is the last token of it. */
struct found { size_t first, last, n; };

static struct found find_text(const struct attn_tokens *t, const char *text, bool several, bool loosely)
{
    struct found f = {0};
    for (size_t i = 0; i < t->n; i++) {
        size_t n = span(t, i, text, loosely);
        if (n && several == (n > 1))
            f = (struct found){i, i + n - 1, f.n + 1};
    }
    return f;
}

static int too_many(const char *option, const char *given, const struct attn_tokens *t, bool several,
                    struct attn_err *err)
{
    char list[96] = "";
    size_t used = 0;
    for (size_t i = 0; i < t->n && used < sizeof list - 24; i++) {
        size_t n = span(t, i, given, false);
        if (n && several == (n > 1))
            used += (size_t)snprintf(list + used, sizeof list - used, used ? ", %zu" : "%zu", i + n - 1);
    }
    return attn_fail(err, ATTN_EUSAGE, "--%s: '%s' is there more than once: give one of the indices %s", option,
                     excerpt(given).text, list);
}

/* Where only capitals or punctuation differ. */
static void guess(char hint[128], const struct attn_tokens *t, const char *given)
{
    bool letters = false;
    for (const char *c = given; *c; c++)
        letters |= !ispunct((unsigned char)*c) && *c != ' ';
    struct found f = letters ? find_text(t, given, false, true) : (struct found){0};
    if (letters && !f.n)
        f = find_text(t, given, true, true);
    if (f.n && f.first == f.last)
        snprintf(hint, 128, " (token %zu nearly does)", f.first);
    else if (f.n)
        snprintf(hint, 128, " (tokens %zu to %zu nearly do)", f.first, f.last);
}

static int none(const char *option, const char *given, const struct attn_tokens *t, const char *text,
                struct attn_err *err)
{
    enum { FEW = 16 };
    char *list = NULL, hint[128] = "";
    size_t len;
    FILE *f = t->n <= FEW && t->tok[0].known ? open_memstream(&list, &len) : NULL;
    for (size_t i = 0; f && i < t->n; i++) {
        fprintf(f, i ? ", %zu " : ": %zu ", i);
        print_reading(f, &t->tok[i]);
    }
    if (f)
        fclose(f);
    guess(hint, t, given);
    attn_fail(err, ATTN_EUSAGE, "--%s: no token of the %s reads '%s'%s: give its index, 0 to %zu%s", option, text,
              excerpt(given).text, hint, t->n - 1, list ? list : "");
    free(list);
    return err->code;
}

/* A word of several tokens is known, to the model, when its last one has been read. */
static void note_last(const char *option, const char *given, const struct found *f)
{
    say_note("--%s: '%s' is tokens %zu to %zu; taken is the last, %zu: give an index for another", option,
             excerpt(given).text, f->first, f->last, f->last);
}

int pick_token(size_t *out, const char *option, const char *given, const struct attn_tokens *t, const char *text,
               struct attn_err *err)
{
    if (*given && strspn(given, "0123456789") == strlen(given)) {
        unsigned long long n = strlen(given) < 19 ? strtoull(given, NULL, 10) : SIZE_MAX;
        if (n >= t->n)
            return attn_fail(err, ATTN_EUSAGE, "--%s: there is no token %s: the %s has %zu, numbered from 0 to "
                             "%zu", option, excerpt(given).text, text, t->n, t->n - 1);
        *out = (size_t)n;
        return ATTN_OK;
    }
    struct found f = find_text(t, given, false, false);
    bool several = !f.n;
    if (several)
        f = find_text(t, given, true, false);
    if (f.n > 1)
        return too_many(option, given, t, several, err);
    if (!f.n)
        return none(option, given, t, text, err);
    if (several)
        note_last(option, given, &f);
    *out = f.last;
    return ATTN_OK;
}

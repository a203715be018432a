#include "picture/page_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "picture/page_data.h"

enum { TEXT = 512 };                    /* bytes of the longest text of a script */

int attn_page_texts_begin(struct attn_page_texts *t, const struct attn_language *l, struct attn_err *err)
{
    *t = (struct attn_page_texts){.language = l};
    return attn_out_open_memory(&t->out, err);
}

void attn_page_texts_put(struct attn_page_texts *t, const char *english, const char *said)
{
    const char **more;
    for (size_t i = 0; i < t->n; i++)
        if (t->said[i] == said)
            return;
    if (!(more = attn_grow(t->said, &t->room, t->n + 1, sizeof *more))) {
        t->failed = true;
        return;
    }
    t->said = more;
    attn_out_char(t->out, t->n ? ',' : '{');
    t->said[t->n++] = said;
    attn_out_json(t->out, english, strlen(english));
    attn_out_char(t->out, ':');
    attn_out_json(t->out, said, strlen(said));
}

/* A text of the catalogue is one object, so that its address tells it from others. */
void attn_page_texts_add(struct attn_page_texts *t, const char *english)
{
    const char *said = english ? attn_tr(t->language, english) : NULL;
    if (said != english)
        attn_page_texts_put(t, english, said);
}

/* Reads the string at s, "a text " + "in two parts"; false: there is none, or it is too long. */
static bool read_string(char text[TEXT], const char *s, const char *end)
{
    size_t n = 0;
    bool more = s < end && *s == '"';
    if (!more)
        return false;
    while (more) {
        for (s++; s < end && *s != '"' && n < TEXT - 1; s++) {
            s += *s == '\\';
            text[n++] = *s;
        }
        for (s++; s < end && (*s == ' ' || *s == '\n' || *s == '+'); s++)
            ;
        more = s < end && *s == '"' && n < TEXT - 1;
    }
    text[n] = '\0';
    return n < TEXT - 1;
}

/* Whether a name goes on behind this character: substr( and page.tr( are other functions. */
static bool is_of_name(char c)
{
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

void attn_page_texts_of(struct attn_page_texts *t, const struct attn_page_file *script)
{
    static const char call[] = "tr(";
    const char *const start = (const char *)script->start, *const end = (const char *)script->end, *at = start;
    char text[TEXT];
    while ((at = memmem(at, (size_t)(end - at), call, sizeof call - 1))) {
        const bool other = at > start && is_of_name(at[-1]);
        at += sizeof call - 1;
        if (!other && read_string(text, at, end))
            attn_page_texts_add(t, text);
    }
}

int attn_page_texts_end(struct attn_page_texts *t, struct attn_out *o, struct attn_err *err)
{
    char *json = NULL;
    size_t len;
    attn_out_str(t->out, t->n ? "}" : "{}");
    int rc = t->failed ? attn_no_memory(err, NULL, "for the texts of a page") : attn_out_take(t->out, &json, &len, err);
    if (!rc) {
        attn_out_str(o, "<script type=\"application/json\" id=\"texts\">");
        attn_page_escaped(o, json, len);
        attn_out_str(o, "</script>\n");
    }
    free(json);
    free(t->said);
    attn_out_close(t->out);
    return rc;
}

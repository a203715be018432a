#include "picture/policy.h"

#include <assert.h>
#include <string.h>

#include "base/sha256.h"

static unsigned digit(char hex)
{
    return (unsigned)(hex <= '9' ? hex - '0' : hex - 'a' + 10);
}

void attn_policy_digest(struct attn_out *o, const struct attn_page_file *p)
{
    char hex[65];
    unsigned char bytes[32];
    attn_sha256_of(hex, p->start, (size_t)(p->end - p->start));
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    attn_out_str(o, " 'sha256-");
    attn_out_base64(o, bytes, sizeof bytes);
    attn_out_char(o, '\'');
}

static const struct attn_page_slot *slot_at(const struct attn_page_slot *slots, const char *name, size_t len)
{
    for (const struct attn_page_slot *s = slots; s->name; s++)
        if (strlen(s->name) == len && !memcmp(s->name, name, len))
            return s;
    assert(!"a name the template has and the table has not");
    return NULL;
}

enum { TEXT = 320 };                    /* bytes of the longest text of a template */

/* What stands between quotes, in the language. */
static void write_text(struct attn_out *o, const char *s, size_t len, const struct attn_language *l)
{
    char text[TEXT];
    assert(len >= 2 && len < TEXT && s[len - 1] == '"');
    memcpy(text, s + 1, len - 2);
    text[len - 2] = '\0';
    attn_out_str(o, attn_tr(l, text));
}

int attn_template_write(struct attn_out *o, const struct attn_page_file *template, const struct attn_page_slot *slots,
                        void *self, const struct attn_language *l, struct attn_err *err)
{
    const char *at = (const char *)template->start, *end = (const char *)template->end, *open;
    int rc = ATTN_OK;
    while (!rc && (open = memmem(at, (size_t)(end - at), "{{", 2))) {
        const char *close = memmem(open, (size_t)(end - open), "}}", 2);
        attn_out_write(o, at, (size_t)(open - at));
        const char *name = open + 2;
        const size_t len = (size_t)(close - name);
        if (*name == '"')
            write_text(o, name, len, l);
        else if (len == 4 && !memcmp(name, "lang", len))
            attn_out_str(o, attn_language_code(l));
        else
            rc = slot_at(slots, name, len)->write(self, o, err);
        at = close + 2;
    }
    if (!rc)
        attn_out_write(o, at, (size_t)(end - at));
    return rc;
}

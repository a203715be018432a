#include "text/token_json.h"

#include "base/utf8.h"
#include "text/label.h"

enum { SPELT = 60 };                    /* columns of a token whose bytes are spelt */

static void put_string(struct attn_out *o, const char *key, const char *s, size_t len)
{
    attn_out_printf(o, ",\"%s\":", key);
    if (s)
        attn_out_json(o, s, len);
    else
        attn_out_str(o, "null");
}

static void put_label(struct attn_out *o, struct attn_label l)
{
    put_string(o, "label", l.text, l.bytes);
}

void attn_token_text_json(struct attn_out *o, const char *s, size_t len)
{
    put_string(o, "text", s, len);
    if (s && attn_utf8_valid(s, len) < len)
        put_label(o, attn_label_text(s, len, SPELT));
}

void attn_token_json(struct attn_out *o, const struct attn_token *t)
{
    attn_out_printf(o, "{\"id\":%d", (int)t->id);
    if (t->parts) {
        put_string(o, "text", t->text, t->text_len);
        put_label(o, attn_label_token(t, SPELT));
    } else {
        attn_token_text_json(o, t->known ? t->text : NULL, t->text_len);
    }
    attn_out_printf(o, ",\"start\":%zu,\"end\":%zu}", t->start, t->end);
}

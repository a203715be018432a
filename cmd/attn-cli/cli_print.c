#include "cli_print.h"

#include "base/json.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPLACEMENT = 0xFFFD };         /* the character in place of bytes that are not UTF-8 */

/* ---- text -------------------------------------------------------------------------------- */

void print_text(FILE *f, const char *s, size_t len, bool terminal)
{
    for (size_t step; len > 0; s += step, len -= step) {
        char form[ATTN_VISIBLE];
        bool plain = !terminal || *s == '\n' || *s == '\t';
        if (attn_utf8_next(s, len, &step) == REPLACEMENT) {
            fputs("\uFFFD", f);
        } else if (plain) {
            fwrite(s, 1, step, f);
        } else {
            attn_utf8_visible(form, s, len);
            fputs(form, f);
        }
    }
}

/* Like attn_utf8_visible, but with signs for space, line feed and tab, which would break the table. */
static size_t visible(char form[ATTN_VISIBLE], const char *s, size_t len)
{
    const char *sign = *s == ' ' ? "·" : *s == '\n' ? "↵" : *s == '\t' ? "→" : NULL;
    if (!sign)
        return attn_utf8_visible(form, s, len);
    strcpy(form, sign);
    return 1;
}

size_t print_visible(FILE *f, const char *s, size_t len)
{
    size_t columns = 0;
    for (size_t at = 0; at < len;) {
        char form[ATTN_VISIBLE];
        at += visible(form, s + at, len - at);
        columns += attn_utf8_width(form, strlen(form));
        if (f)
            fputs(form, f);
    }
    return columns;
}

size_t print_reading(FILE *f, const struct attn_token *t)
{
    char part[ATTN_READING];
    size_t len;
    const char *text = attn_token_reading(part, t, &len);
    return print_visible(f, text, len);
}

void print_wrapped(FILE *f, const char *text, size_t most)
{
    enum { INDENT = 2 };
    for (size_t at = 0; *text;) {
        size_t gap = strspn(text, " "), word = strcspn(text + gap, " \n"), wide = attn_utf8_width(text + gap, word);
        bool broken = at > INDENT && at + gap + wide > most;
        at = (broken ? INDENT : at + gap) + wide;
        fprintf(f, broken ? "\n%*s" : "%*s", broken ? INDENT : (int)gap, "");
        fwrite(text + gap, 1, word, f);
        text += gap + word;
        if (*text == '\n') {
            fputc(*text++, f);
            at = 0;
        }
    }
}

/* ---- JSON -------------------------------------------------------------------------------- */

void json_string(FILE *f, const char *s, size_t len)
{
    char form[ATTN_JSON_SPELLED];
    if (!s) {
        fputs("null", f);
        return;
    }
    fputc('"', f);
    for (size_t step; len > 0; s += step, len -= step) {
        step = attn_json_spell(form, s, len);
        fputs(form, f);
    }
    fputc('"', f);
}

void json_visible(FILE *f, const char *s, size_t len)
{
    fputc('"', f);
    for (size_t step; len > 0; s += step, len -= step) {
        char form[ATTN_VISIBLE];
        step = attn_utf8_visible(form, s, len);
        if ((unsigned char)*s < 0x20 || *s == '"' || *s == '\\')
            attn_json_spell(form, s, len);
        fputs(form, f);
    }
    fputc('"', f);
}

void json_text(FILE *f, const char *s)
{
    json_string(f, s, s ? strlen(s) : 0);
}

void json_real(FILE *f, double x)
{
    char text[32];
    int digits = 6;                     /* fewer look no better: 1e+04 instead of 10000 */
    if (!isfinite(x)) {
        fputs("null", f);
        return;
    }
    do
        snprintf(text, sizeof text, "%.*g", digits, x);
    while (digits++ < 17 && strtod(text, NULL) != x);
    fputs(text, f);
}

int json_model(FILE *f, const struct attn_model *m, struct attn_err *err)
{
    char digest[80];
    struct attn_info info;
    if (attn_model_digest(m, false, digest, err))
        return err->code;
    attn_model_info(m, &info);
    fputs("{\"name\": ", f);
    json_text(f, info.name);
    fputs(", \"family\": ", f);
    json_text(f, info.family);
    fputs(", \"digest\": ", f);
    json_text(f, digest);
    fputc('}', f);
    return ATTN_OK;
}

void json_kind(FILE *f, struct attn_kind kind)
{
    char text[ATTN_KIND_TEXT];
    if (kind.form != ATTN_MODEL)
        fprintf(f, ",\n \"attention\": \"%s\"", attn_kind_text(text, &kind));
    if (kind.scaling != ATTN_SCALE_MODEL)
        fputs(",\n \"scale\": ", f);
    if (kind.scaling == ATTN_SCALE_VALUE)
        json_real(f, kind.scale);
    else if (kind.scaling != ATTN_SCALE_MODEL)
        json_text(f, kind.scaling == ATTN_SCALE_NONE ? "none" : "sqrt");
    if (kind.dropout <= 0)
        return;
    fputs(",\n \"dropout\": ", f);
    json_real(f, kind.dropout);
    fprintf(f, ",\n \"seed\": %" PRIu64, kind.dropout_seed);
}

void json_edits(FILE *f, const struct attn_edits *edits)
{
    for (size_t i = 0; i < attn_edits_count(edits); i++) {
        fputs(i ? ", " : ",\n \"edits\": [", f);
        json_text(f, attn_edits_text(edits, i));
    }
    fputs(attn_edits_count(edits) ? "]" : "", f);
}

void json_token(FILE *f, const struct attn_token *t)
{
    fprintf(f, "\"id\": %d, \"text\": ", t->id);
    json_string(f, t->known ? t->text : NULL, t->text_len);
    fputs(", \"raw\": ", f);
    json_string(f, t->known ? t->raw : NULL, t->raw_len);
}

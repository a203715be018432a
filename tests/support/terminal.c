#include "terminal.h"

#include "check.h"
#include "shell.h"

#include <locale.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { TAB = 8, COLOR = 40, STYLES = 52, PARAMETERS = 8 };

struct style { bool bold, dim, reversed; char letters[COLOR], ground[COLOR]; };
struct cell { char text[24]; size_t style; };           /* text "": the second half of a wide character */
struct line { struct cell *cell; bool goes_on; };
struct terminal {
    size_t rows, columns, n, row, column;               /* n lines, of which the last `rows` are on the screen */
    struct line *line;
    struct style style[STYLES], now;                    /* style 0 is plain */
    size_t styles, current;
};

/* ---- where things are ---- */

static struct line *line_at(struct terminal *t, size_t row)
{
    for (; t->n <= row; t->n++) {
        ck_assert_ptr_nonnull(t->line = realloc(t->line, (t->n + 1) * sizeof *t->line));
        t->line[t->n] = (struct line){.cell = calloc(t->columns, sizeof *t->line->cell)};
        ck_assert_ptr_nonnull(t->line[t->n].cell);
        for (size_t i = 0; i < t->columns; i++)
            strcpy(t->line[t->n].cell[i].text, " ");
    }
    return &t->line[row];
}

static void erase(struct terminal *t, size_t row, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        line_at(t, row)->cell[i] = (struct cell){.text = " ", .style = t->current};
}

static void move(struct terminal *t, char how, size_t by)
{
    const size_t top = t->n > t->rows ? t->n - t->rows : 0;
    const size_t column = t->column < t->columns ? t->column : t->columns - 1;
    if (how == 'A')
        t->row = t->row - top > by ? t->row - by : top;
    else if (how == 'B')
        t->row = t->row + by < t->n ? t->row + by : t->n - 1;
    else if (how == 'C')
        t->column = column + by < t->columns ? column + by : t->columns - 1;
    else
        t->column = column > by ? column - by : 0;
}

/* ---- characters ---- */

/* A character that takes no column joins the one before it. */
static void put(struct terminal *t, const char *s, size_t len, int wide)
{
    if (wide == 0) {
        ck_assert_msg(t->column > 0, "a mark without a character before it");
        char *before = line_at(t, t->row)->cell[t->column - 1].text;
        ck_assert_uint_lt(strlen(before) + len, sizeof t->line->cell->text);
        strncat(before, s, len);
        return;
    }
    if (t->column + (size_t)wide > t->columns) {
        line_at(t, ++t->row)->goes_on = true;
        t->column = 0;
    }
    for (int i = 0; i < wide; i++) {
        struct cell *c = &line_at(t, t->row)->cell[t->column++];
        *c = (struct cell){.style = t->current};
        memcpy(c->text, s, i ? 0 : len);
    }
}

static size_t put_character(struct terminal *t, const char *s, size_t left)
{
    wchar_t c;
    mbstate_t state = {0};
    size_t len = mbrtowc(&c, s, left, &state);
    ck_assert_msg(len <= left, "byte %02x is no UTF-8", (unsigned char)*s);
    int wide = wcwidth(c);
    ck_assert_msg(wide >= 0, "a terminal gets the character U+%04X, which it does not show", (unsigned)c);
    put(t, s, len, wide);
    return len;
}

/* ---- sequences ---- */

static size_t color(char name[COLOR], const unsigned *p, size_t n)
{
    size_t used = n > 2 && p[1] == 5 ? 3 : 5;
    ck_assert_msg(n >= used && (p[1] == 5 || p[1] == 2), "a colour that is no 38;5;N or 38;2;R;G;B");
    if (used == 3)
        snprintf(name, COLOR, "%u", p[2]);
    else
        snprintf(name, COLOR, "#%02x%02x%02x", p[2], p[3], p[4]);
    return used;
}

static void choose_style(struct terminal *t)
{
    for (t->current = 0; t->current < t->styles; t->current++)
        if (!memcmp(&t->style[t->current], &t->now, sizeof t->now))
            return;
    ck_assert_msg(t->styles < STYLES, "more than %d colours: show something smaller", STYLES - 1);
    t->style[t->styles++] = t->now;
}

static void paint(struct terminal *t, const unsigned *p, size_t n)
{
    for (size_t i = 0, used; i < n; i += used) {
        used = 1;
        switch (p[i]) {
        case 0:  memset(&t->now, 0, sizeof t->now); break;
        case 1:  t->now.bold = true; break;
        case 2:  t->now.dim = true; break;
        case 7:  t->now.reversed = true; break;
        case 38: memset(t->now.letters, 0, COLOR); used = color(t->now.letters, p + i, n - i); break;
        case 48: memset(t->now.ground, 0, COLOR); used = color(t->now.ground, p + i, n - i); break;
        default: ck_abort_msg("the terminal does not know CSI %u m", p[i]);
        }
    }
    choose_style(t);
}

static void clear(struct terminal *t, char what, unsigned how)
{
    ck_assert_msg(how <= 2 && (what == 'K' || how == 0), "the terminal does not know CSI %u %c", how, what);
    erase(t, t->row, how == 0 ? t->column : 0, how == 1 ? t->column + 1 : t->columns);
    for (size_t row = t->row + 1; what == 'J' && row < t->n; row++)
        erase(t, row, 0, t->columns);
}

/* What begins with ESC; returns its length. */
static size_t obey(struct terminal *t, const char *s)
{
    unsigned p[PARAMETERS] = {0};
    size_t n = 0;
    char *at = (char *)s + 1;
    ck_assert_msg(*at == '[', "the terminal does not know ESC %02x", (unsigned char)*at);
    do {
        ck_assert_uint_lt(n, PARAMETERS);
        p[n++] = (unsigned)strtoul(at + 1, &at, 10);
    } while (*at == ';');
    if (*at == 'm')
        paint(t, p, n);
    else if (*at == 'K' || *at == 'J')
        clear(t, *at, p[0]);
    else if (*at >= 'A' && *at <= 'D')
        move(t, *at, p[0] ? p[0] : 1);
    else
        ck_abort_msg("the terminal does not know CSI %c", *at);
    return (size_t)(at + 1 - s);
}

static size_t take(struct terminal *t, const char *s, size_t left)
{
    switch (*s) {
    case '\n':   line_at(t, ++t->row); return 1;
    case '\r':   t->column = 0; return 1;
    case '\t':   move(t, 'C', TAB - t->column % TAB); return 1;
    case '\033': return obey(t, s);
    default:     return put_character(t, s, left);
    }
}

/* ---- what it shows ---- */

static char letter(size_t style)
{
    return style > 26 ? (char)('A' + style - 27) : style ? (char)('a' + style - 1) : ' ';
}

/* Blanks at the end of a line are left out unless they are in colour. */
static void show_line(FILE *to, const struct line *l, size_t columns)
{
    bool plain = true;
    size_t end = columns;
    while (end > 0 && !strcmp(l->cell[end - 1].text, " ") && !l->cell[end - 1].style)
        end--;
    fputc(l->goes_on ? '>' : '|', to);
    for (size_t i = 0; i < end; i++) {
        fputs(l->cell[i].text, to);
        plain &= l->cell[i].style == 0;
    }
    fputc('\n', to);
    if (plain)
        return;
    while (!l->cell[end - 1].style)
        end--;
    fputc(':', to);
    for (size_t i = 0; i < end; i++)
        fputc(letter(l->cell[i].style), to);
    fputc('\n', to);
}

static void show_style(FILE *to, const struct style *s, size_t i)
{
    const struct { bool has; const char *name, *value; } parts[] = {
        {s->bold, "bold", ""}, {s->dim, "dim", ""}, {s->reversed, "reversed", ""},
        {*s->letters, "letters ", s->letters}, {*s->ground, "on ", s->ground},
    };
    fprintf(to, ":%c is", letter(i));
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (parts[k].has)
            fprintf(to, " %s%s", parts[k].name, parts[k].value);
    fputc('\n', to);
}

static void show_end(FILE *to, const struct terminal *t)
{
    for (size_t i = 1; i < t->styles; i++)
        show_style(to, &t->style[i], i);
    if (t->column || t->row + 1 < t->n)
        fprintf(to, "[the cursor stands in column %zu, %zu lines above the last]\n", t->column, t->n - 1 - t->row);
    if (t->current)
        fprintf(to, "[what follows is %c]\n", letter(t->current));
}

void terminal_show(FILE *to, const char *bytes, size_t len, size_t rows, size_t columns)
{
    struct terminal t = {.rows = rows, .columns = columns, .styles = 1};
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    ck_assert_msg(utf8 != (locale_t)0, "there is no locale C.UTF-8");
    locale_t was = uselocale(utf8);
    line_at(&t, 0);
    for (size_t at = 0; at < len;)
        at += take(&t, bytes + at, len - at);
    uselocale(was);
    freelocale(utf8);
    for (size_t i = 0; i + (t.column == 0 && t.row + 1 == t.n) < t.n; i++)
        show_line(to, &t.line[i], columns);
    show_end(to, &t);
    for (size_t i = 0; i < t.n; i++)
        free(t.line[i].cell);
    free(t.line);
}

void terminal_expect(const char *line, unsigned short rows, unsigned short columns, const char *lines)
{
    const struct said *s = sh_on_terminal(line, rows, columns);
    ck_assert_msg(s->status == 0, "%s\nended with %d and said:\n%s", line, s->status, s->text);
    regex_t pattern;
    char *shown = NULL;
    size_t len = 0;
    ck_assert_int_eq(regcomp(&pattern, lines, REG_EXTENDED | REG_NOSUB), 0);
    FILE *to = open_memstream(&shown, &len);
    ck_assert_ptr_nonnull(to);
    terminal_show(to, s->text, s->len, rows, columns);
    ck_assert_int_eq(fclose(to), 0);
    for (char *at = strtok(shown, "\n"); at; at = strtok(NULL, "\n"))
        ck_assert_msg(!regexec(&pattern, at, 0, NULL, 0), "%s\non a terminal of %u columns shows the line '%s'", line,
                      columns, at);
    regfree(&pattern);
    free(shown);
}

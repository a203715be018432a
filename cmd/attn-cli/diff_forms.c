/* diff_forms.c - what one side has in another form, and what of that is no mistake (lib/compare/other_forms.h). */
#include "diff_report.h"

#include <stdio.h>
#include <string.h>

/* What one side has, or, where nothing tells which one it is, how both differ. */
static const struct { const char *form, *one, *more; bool mutual; } forms[] = {
    {"centred", "is less the mean of each row, which the LayerNorm behind it takes away in any case",
     "are less the mean of each row, which the LayerNorm behind them takes away in any case", false},
    {"folded", "is a norm before its weight and bias, which are in the weights that read it",
     "are norms before their weight and bias, which are in the weights that read them", false},
    {"moved", "differs by a bias of the values, which the bias of the output makes up for",
     "differ by a bias of the values, which the bias of the output makes up for", true},
    {"shifted", "differs by a number for each row, which softmax does not see",
     "differ by a number for each row, which softmax does not see", true},
    {"mask", "hides keys with numbers so low that softmax gives exactly 0, as it does to -inf",
     "hide keys with numbers so low that softmax gives exactly 0, as it does to -inf", false}};

struct found { const struct attn_diff_row *of[3]; size_t n; };  /* the first few, and how many there are */

/* side -1: of either */
static struct found find(const struct differences *r, const char *form, int side)
{
    size_t n;
    const struct attn_diff_row *row = attn_diff_rows(r->diff, &n);
    struct found f = {.n = 0};
    for (size_t i = 0; i < n; i++) {
        int of;
        const char *is = attn_diff_form(r->diff, &row[i], &of);
        if (!is || strcmp(is, form) || (side >= 0 && of != side))
            continue;
        if (f.n < sizeof f.of / sizeof *f.of)
            f.of[f.n] = &row[i];
        f.n++;
    }
    return f;
}

void diff_print_forms(const struct differences *r)
{
    const char *title = "\nno mistake, since no prediction changes:\n";
    for (size_t i = 0; i < 2 * sizeof forms / sizeof *forms; i++) {
        const char *form = forms[i / 2].form, *of[] = {" of A", " of B"};
        bool mutual = forms[i / 2].mutual;
        struct found f = find(r, form, mutual ? -1 : (int)(i % 2));
        if (!f.n || (mutual && i % 2))
            continue;
        printf("%s  %s: %zu tensor%s%s %s (", title, form, f.n, f.n == 1 ? "" : "s", mutual ? "" : of[i % 2],
               f.n == 1 ? forms[i / 2].one : forms[i / 2].more);
        for (size_t k = 0; k < f.n && k < sizeof f.of / sizeof *f.of; k++)
            printf("%s%s", k ? ", " : "", f.of[k]->name);
        fputs(f.n > sizeof f.of / sizeof *f.of ? ", ...)\n" : ")\n", stdout);
        title = "";
    }
}

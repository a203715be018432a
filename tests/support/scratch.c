#include "scratch.h"
#include "attn.h"
#include "check.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char scratch_dir[64];
static char link_path[sizeof scratch_dir + 8];

static bool is_plain(const char *path)
{
    return path[strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+")] == '\0';
}

void scratch_make(void)
{
    static const char leaf[] = "/attn-test-XXXXXX";
    const char *tmp = getenv("TMPDIR");
    bool fits = tmp && *tmp && is_plain(tmp) && strlen(tmp) + sizeof leaf <= sizeof scratch_dir;
    snprintf(scratch_dir, sizeof scratch_dir, "%s%s", fits ? tmp : "/tmp", leaf);
    ck_assert_ptr_nonnull(mkdtemp(scratch_dir));
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static int remove_inside(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    return at->level ? remove_one(path, st, kind, at) : 0;
}

void scratch_empty(void)
{
    ck_assert_int_eq(nftw(scratch_dir, remove_inside, 8, FTW_DEPTH | FTW_PHYS), 0);
}

const char *scratch_plain(const char *folder)
{
    if (is_plain(folder))
        return folder;
    snprintf(link_path, sizeof link_path, "%s.link", scratch_dir);
    ck_assert_int_eq(symlink(folder, link_path), 0);
    return link_path;
}

void scratch_remove(void)
{
    if (*link_path)
        unlink(link_path);
    *link_path = '\0';
    ck_assert_int_eq(nftw(scratch_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

const char *scratch_path(const char *leaf)
{
    static char paths[4][SCRATCH_PATH];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_dir, leaf);
    return path;
}

void scratch_put(const char *path, const void *data, size_t len)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
}

void scratch_expect(const char *path, const char *expected)
{
    char text[256];
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s is not there", path);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    ck_assert_str_eq(text, expected);
}

static int files_seen;

static int count_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)path, (void)st, (void)at;
    files_seen += kind != FTW_D;
    return 0;
}

int scratch_count(void)
{
    files_seen = 0;
    nftw(scratch_dir, count_one, 8, FTW_PHYS);
    return files_seen;
}

const char *printed(const char *fmt, ...)
{
    static char text[32][4096];
    static unsigned next;
    char *out = text[next++ % 32];
    va_list ap;
    va_start(ap, fmt);
    ck_assert_int_lt(vsnprintf(out, sizeof text[0], fmt, ap), (int)sizeof text[0]);
    va_end(ap);
    return out;
}

const char *of_this_version(const char *text)
{
    static const char word[] = "VERSION";
    const char *at = strstr(text, word);
    ck_assert_ptr_nonnull(at);
    return printed("%.*s%s%s", (int)(at - text), text, attn_version(), at + strlen(word));
}

#include "make.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *make_path(const char *dir, const char *file)
{
    char *path = NULL;
    ck_assert_int_ge(asprintf(&path, "%s/%s", dir, file), 0);
    return path;
}

char *make_dir(void)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = make_path(tmp && *tmp ? tmp : "/tmp", "attn-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    return dir;
}

void make_file(const char *dir, const char *file, const void *data, size_t len)
{
    char *path = make_path(dir, file);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, len, f), len);
    ck_assert_int_eq(fclose(f), 0);
    free(path);
}

char *make_model(const char *config, const char *draw, uint64_t seed, const char *dtype)
{
    struct attn_err err = {0};
    char *dir = make_dir();
    const struct attn_init_opts o = {.config = config, .config_len = strlen(config), .draw = draw, .seed = seed, .dtype = dtype};
    int rc = attn_init(dir, &o, &err);
    ck_assert_msg(rc == 0, "%s", err.msg);
    return dir;
}

void make_remove(char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        char *path = make_path(dir, e->d_name);
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            unlink(path);
        free(path);
    }
    if (d)
        closedir(d);
    rmdir(dir);
    free(dir);
}

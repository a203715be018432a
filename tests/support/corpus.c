#include "corpus.h"

#include "scratch.h"
#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *corpus_slurp(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s: cannot be opened", path);
    fseek(f, 0, SEEK_END);
    *len = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*len);
    ck_assert(*len == 0 || bytes);
    ck_assert_uint_eq(fread(bytes, 1, *len, f), *len);
    fclose(f);
    return bytes;
}

static const struct corpus_fault *fault_of(const struct corpus_fault *faults, const char *file)
{
    while (faults->file && strcmp(faults->file, file) != 0)
        faults++;
    return faults;
}

static void check_file(const char *path, const char *file, const struct corpus_fault *faults,
                       int (*read)(const char *bytes, size_t len, const char *name, struct attn_err *err))
{
    struct attn_err err = {0};
    size_t len;
    char *bytes = corpus_slurp(path, &len);
    int rc = read(bytes, len, file, &err);
    free(bytes);
    if (file[0] == 'y') {
        ck_assert_msg(rc == ATTN_OK, "%s must be read: %s", path, err.msg);
        return;
    }
    const struct corpus_fault *fault = fault_of(faults, file);
    ck_assert_msg(fault->file != NULL, "%s: its message is missing in the suite's list", path);
    ck_assert_msg(rc == ATTN_EFORMAT && err.code == ATTN_EFORMAT, "%s must be refused: %d", path, rc);
    ck_assert_msg(strstr(err.msg, file) && strstr(err.msg, fault->message), "%s: expected '%s' in '%s'", path,
                  fault->message, err.msg);
}

void corpus_check(const char *folder, const struct corpus_fault *faults,
                  int (*read)(const char *bytes, size_t len, const char *name, struct attn_err *err))
{
    size_t bad = 0, good = 0, listed = 0;
    DIR *dir = opendir(folder);
    ck_assert_msg(dir != NULL, "%s: cannot be opened", folder);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        check_file(printed("%s/%s", folder, e->d_name), e->d_name, faults, read);
        *(e->d_name[0] == 'y' ? &good : &bad) += 1;
    }
    closedir(dir);
    while (faults[listed].file)
        listed++;
    ck_assert_uint_gt(good, 0);
    ck_assert_uint_eq(bad, listed);
}

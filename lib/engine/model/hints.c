#include "model/hints.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strings.h"

/* ---- files that are no weights --------------------------------------------------------- */

static bool begins(const struct attn_map *m, const char *with)
{
    return m->len >= strlen(with) && !memcmp(m->data, with, strlen(with));
}

int attn_hint_file(const struct attn_map *m, const char *path, struct attn_err *err)
{
    if (begins(m, "version https://git-lfs.github.com/spec/"))
        return attn_fail(err, ATTN_EFORMAT, "%s: is a pointer of Git LFS, not the file it stands for: run 'git lfs "
                                            "install' and 'git lfs pull' in that directory, or download the file "
                                            "itself", path);
    if (begins(m, "GGUF"))
        return attn_fail(err, ATTN_EFORMAT, "%s: is a GGUF file under another name: call it NAME.gguf and give its "
                                            "path as the model", path);
    return ATTN_OK;
}

/* ---- directories that are no models ---------------------------------------------------- */

static const char *first_of(const struct attn_source *s, const char *const *files)
{
    while (*files && !attn_source_has(s, *files))
        files++;
    return *files;
}

/* The name of a file in the directory that ends like this, into buf; false: there is none. */
static bool find_ending(char buf[256], const struct attn_source *s, const char *ending)
{
    DIR *d = s->dir ? opendir(s->dir) : NULL;
    size_t n = strlen(ending);
    bool found = false;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        size_t len = strlen(e->d_name);
        found = len > n && len < 256 && !strcmp(e->d_name + len - n, ending);
        if (found)
            memcpy(buf, e->d_name, len + 1);
    }
    if (d)
        closedir(d);
    return found;
}

static const char *const weights[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                      "pytorch_model.bin.index.json", NULL};
static const char *const tokenizers[] = {"tokenizer.json", "vocab.json", "tokenizer.model", "tokenizer.bin", NULL};
static const char *const adapters[] = {"adapter_config.json", "adapter_model.safetensors", "adapter_model.bin", NULL};
static const char *const others[] = {"tf_model.h5", "flax_model.msgpack", "model.onnx", "rust_model.ot",
                                     "model.ckpt.index", NULL};

/* What explains that config.json or the weights are missing; ATTN_OK: nothing does. */
static int explain(const struct attn_source *s, struct attn_err *err)
{
    char file[256];
    const char *found = first_of(s, adapters);
    if (found)
        return attn_fail(err, ATTN_EFORMAT,
                         "%s: holds an adapter (%s), which only changes another model: merge the two with PEFT's "
                         "merge_and_unload(), save that with save_pretrained() and give its directory", s->dir, found);
    if (find_ending(file, s, ".gguf"))
        return attn_fail(err, ATTN_EFORMAT, "%s: holds a part of a GGUF model (%.*s) but not the first one, expected "
                                            "all of its files", s->dir, attn_shown(file, strlen(file)), file);
    return ATTN_OK;
}

int attn_hint_no_config(const struct attn_source *s, struct attn_err *err)
{
    const char *found;
    int rc = s->dir && access(s->dir, F_OK) == 0 ? explain(s, err) : ATTN_OK;
    if (rc || !s->dir)
        return rc;
    if ((found = first_of(s, weights)))
        return attn_fail(err, ATTN_EFORMAT, "%s: there are weights (%s) but no config.json, which says what they are: "
                                            "copy it from where the weights came from", s->dir, found);
    if ((found = first_of(s, tokenizers)))
        return attn_fail(err, ATTN_EFORMAT, "%s: there is a tokenizer (%s) but no model: config.json and weights are "
                                            "missing; copy them from where the tokenizer came from", s->dir, found);
    return ATTN_OK;
}

int attn_hint_no_weights(const struct attn_source *s, struct attn_err *err)
{
    char file[256];
    int rc = s->dir ? explain(s, err) : ATTN_OK;
    if (rc || !s->dir)
        return rc;
    const char *found = first_of(s, others);
    if (!found && find_ending(file, s, ".safetensors"))
        found = file;
    if (found)
        return attn_fail(err, ATTN_EFORMAT, "%s: there are no weights that are read here, but %.*s: expected "
                                            "model.safetensors or pytorch_model.bin, as save_pretrained() of "
                                            "transformers writes them", s->dir,
                         attn_shown(found, strlen(found)), found);
    return attn_fail(err, ATTN_EIO, "%s: there is a config.json but no weights: expected model.safetensors or "
                                    "pytorch_model.bin, or several of them with an index (.index.json); was the "
                                    "download complete?", s->dir);
}

/* torch.h - reads tensors by name from a file that PyTorch's torch.save wrote, such as pytorch_model.bin.
 *
 * Since PyTorch 1.6 such a file is a zip archive of stored members: NAME/data.pkl, a pickle that describes the tensors,
 * and the bytes of each storage as NAME/data/KEY.  Before, it was five pickles in a row, then the storages.  What the
 * pickle describes must be a dictionary from names to tensors (a state_dict).  A tensor is a view into its storage; the
 * bytes are mapped, not copied, unless a storage is not aligned or a tensor's elements do not lie row after row.  All
 * is untrusted: pickle.h reads the pickle without running it, and every offset is checked. */
#ifndef ATTN_IO_TORCH_H
#define ATTN_IO_TORCH_H

#include "base/tree.h"
#include "io/tensors.h"

/* Reads from memory that the caller keeps; tensors are in the order of the dictionary.  `name` is for messages. */
int attn_torch_open(struct attn_st **out, const unsigned char *bytes, size_t len, const char *name,
                    struct attn_err *err);
/* The same for what a training saves: the tensors may be in a dictionary "model", "model_state_dict",
 * "model_state" or "state_dict" beside others.  *beside becomes what stands beside them (pickle_tree.h), an
 * object; free it by cJSON_Delete. */
int attn_torch_open_checkpoint(struct attn_st **out, cJSON **beside, const unsigned char *bytes, size_t len,
                               const char *name, struct attn_err *err);

#endif

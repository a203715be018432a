"""train_peers.py PROGRAM DIR - compares attn-cli's training with PyTorch's: same model, batch and optimizer, in turn.

DIR is an empty directory to work in.  Both read 16 contexts of 256 tokens per step.  The time of a step is that of a
long training minus that of a short one, so that neither starting nor measuring counts.  Operations, forwards and
backwards, are 6 for each parameter and token and 12 for each multiplication in visible scores, reported as a share of
the limit that `bench-stages` measures.  Without PyTorch only that share is printed."""
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

L, H, D, M, V, T, BATCH = 6, 4, 128, 512, 4096, 256, 16
SHORT, LONG, ROUNDS = 2, 10, 3


def gpt(torch):
    """attn-cli's model in PyTorch: learned positions, LayerNorm, GELU and biases."""
    nn, f = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)
            self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
            self.into, self.out = nn.Linear(D, M), nn.Linear(M, D)

        def forward(self, x, mask):
            q, k, v = (y.view(BATCH, T, H, D // H).transpose(1, 2) for y in self.qkv(self.norm1(x)).split(D, -1))
            scores = q @ k.transpose(-2, -1) * (D // H) ** -0.5
            context = scores.masked_fill(mask, float("-inf")).softmax(-1) @ v
            x = x + self.o(context.transpose(1, 2).reshape(BATCH, T, D))
            return x + self.out(f.gelu(self.into(self.norm2(x)), approximate="tanh"))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.pos, self.norm = nn.Embedding(V, D), nn.Embedding(T, D), nn.LayerNorm(D)
            self.blocks = nn.ModuleList(Block() for _ in range(L))
            for p in self.parameters():
                if p.dim() == 2:
                    nn.init.normal_(p, 0, 0.02)
            self.mask = torch.ones(T, T, dtype=torch.bool).triu(1)

        def forward(self, ids):
            x = self.embed(ids) + self.pos.weight
            for block in self.blocks:
                x = block(x, self.mask)
            return self.norm(x) @ self.embed.weight.T

    return Model()


def torch_seconds(threads):
    import torch
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    model = gpt(torch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)
    times = []
    for _ in range(SHORT + LONG // 2):
        ids = torch.randint(V, (BATCH, T + 1))
        start = time.monotonic()
        loss = torch.nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        times.append(time.monotonic() - start)
    return statistics.median(times[SHORT:])


def prepare(program, folder):
    config = {"model_type": "attn-decoder", "vocab_size": V, "n_ctx": T, "n_layer": L, "n_head": H,
              "d_model": D, "d_mlp": M,
              "position": "learned", "norm": "layernorm", "mlp": "gelu_new", "bias": True, "residual": True,
              "output_projection": True, "unembed": True, "tokenizer": {"type": "bpe"}}
    with open(folder + "/config.json", "w") as out:
        json.dump(config, out)
    subprocess.run([program, "vocab", "-q", "--bpe", "--size", "600", "-f", "README.md", "-o", folder + "/vocab"],
                   check=True)


def run(program, folder, threads, steps):
    out = folder + "/model"
    subprocess.run(["rm", "-rf", out], check=True)
    start = time.monotonic()
    subprocess.run([program, "train", "-q", "-f", "README.md", "--vocab", folder + "/vocab", "--config",
                    folder + "/config.json",
                    "-o", out, "--steps", str(steps), "--batch", str(BATCH), "--documents", "join", "--eval-every", "0",
                    "-t", str(threads)], check=True)
    return time.monotonic() - start


def our_seconds(program, folder, threads):
    return (run(program, folder, threads, LONG) - run(program, folder, threads, SHORT)) / (LONG - SHORT)


def peak(program, folder, threads):
    """The machine's limit in operations per second: multiply-adds in registers."""
    said = subprocess.run([Path(program).with_name("bench-stages"), "-q", "-m", folder + "/model", "-t", str(threads),
                           "--stage", "prefill.f32.T128", "--seconds", "0.2", "--format", "json"],
                          check=True, stdout=subprocess.PIPE).stdout
    return json.loads(said)["machine"]["limits"][0]["f32"] * 1e9


def operations():
    parameters = V * D + T * D + 2 * D + L * (4 * D * D + 2 * D * M + 4 * D + M + D + 4 * D)
    return BATCH * T * (6 * parameters + 12 * L * D * (T + 1) / 2)


def median(measure):
    return statistics.median(measure() for _ in range(ROUNDS))


def main(program, folder):
    prepare(program, folder)
    peer = subprocess.run([sys.executable, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode == 0
    if not peer:
        print("PyTorch is not installed: apt-get install python3-torch")
    cores = len(os.sched_getaffinity(0))
    for threads in sorted({1, cores}):
        ours = median(lambda: our_seconds(program, folder, threads))
        print("train  %d threads  %7.0f tokens/s  %4.0f %% of the FMA peak" % (
            threads, BATCH * T / ours, 100 * operations() / ours / peak(program, folder, threads)), end="")
        if peer:
            said = subprocess.run([sys.executable, __file__, "--as", "torch", str(threads)], check=True,
                                  stdout=subprocess.PIPE).stdout
            print("  PyTorch %7.0f tokens/s  %4.1f times as fast" % (BATCH * T / float(said), float(said) / ours),
                  end="")
        print(flush=True)


if sys.argv[1] == "--as":
    print(torch_seconds(int(sys.argv[3])))
else:
    main(sys.argv[1], sys.argv[2])

"""peers.py PROGRAM DIR BF16 - compares the speed of attn-cli with PyTorch and numpy, which do the same
arithmetic in turn.

DIR is a model of GPT-2's shape, BF16 the same stored in bf16.  The peers have random weights of the
same shape and keep every attention matrix, because attn-cli shows each one to an observer.  Each peer
is a process that waits for the name of a stage and answers with the seconds it takes, so that only
one works while it is measured.  All take turns for several rounds; a factor is the median of theirs.
In brackets is what the factor would be if attn-cli reached its roof (bench-stages --help).
A package that is not installed is reported as missing and skipped.

The peers get settings that suit them (TUNED): as Debian installs OpenBLAS, it takes some processors
for much older ones, its threads do not share PyTorch's, and malloc returns pages after every pass."""
import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

L, H, D, V, DH = 12, 12, 768, 50257, 64
STAGES = ["prefill.%s.T%d.%s" % (dtype, T, how) for dtype in ("f32", "bf16") for T in (32, 128, 512, 1024)
          for how in ("watched", "copied")] + [
    "decode.%s.ctx%d%s" % (dtype, context, how) for dtype in ("f32", "bf16") for context in (128, 900)
    for how in ("", ".copied")] + ["batch.100"]
LENGTHS = [8 + i * 17 % 25 for i in range(100)]         # tokens of the sentences of batch.100
RUNS, PATIENCE, ROUNDS = 3, 4, 5                        # repetitions; seconds for all of them; turns
BLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3"
TUNED = {"OPENBLAS_CORETYPE": "SkylakeX", "MALLOC_MMAP_THRESHOLD_": str(1 << 32),
         "MALLOC_TRIM_THRESHOLD_": str(1 << 33),
         "MALLOC_TOP_PAD_": str(1 << 26), "GOMP_SPINCOUNT": "100000"}
PEERS = {"torch": "PyTorch", "numpy": "numpy"}


class Torch:
    def __init__(self, threads, dtype):
        import torch
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.np, self.f = torch, torch.nn.functional
        self.dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]

    def random(self, *shape):
        return (self.np.randn(*shape) * 0.02).to(self.dtype)

    def norm(self, x, w, b):
        return self.f.layer_norm(x, (D,), w, b)

    def softmax(self, x):
        return self.np.softmax(x, -1)

    def gelu(self, x):
        return self.f.gelu(x, approximate="tanh")

    def hidden(self, T):
        return self.np.full((T, T), float("-inf"), dtype=self.dtype).triu(1)


class Numpy:
    def __init__(self, threads, dtype):                 # threads: set by the environment
        import numpy
        if dtype != "f32":
            raise NotImplementedError("numpy has no bf16")
        self.np = numpy
        self.draw = numpy.random.default_rng(1)

    def random(self, *shape):
        return self.draw.standard_normal(shape, dtype="float32") * self.np.float32(0.02)

    def norm(self, x, w, b):
        x = x - x.mean(-1, keepdims=True)
        return x / self.np.sqrt((x * x).mean(-1, keepdims=True) + self.np.float32(1e-5)) * w + b

    def softmax(self, x):
        x = self.np.exp(x - x.max(-1, keepdims=True))
        return x / x.sum(-1, keepdims=True)

    def gelu(self, x):
        f = self.np.float32
        return f(0.5) * x * (f(1) + self.np.tanh(f(0.7978845608) * (x + f(0.044715) * x * x * x)))

    def hidden(self, T):
        return self.np.triu(self.np.full((T, T), -self.np.inf, dtype="float32"), 1)


class Gpt2:
    def __init__(self, lib):
        self.lib, new = lib, lib.random
        self.embed, self.pos = new(V, D), new(1024, D)
        self.layers = [[new(*shape) for shape in (
            (D,), (D,), (D, 3 * D), (3 * D,), (D, D), (D,), (D,), (D,), (D, 4 * D), (4 * D,), (4 * D, D), (D,))]
            for _ in range(L)]
        self.final = new(D), new(D)
        self.turned = self.embed.swapaxes(0, 1)

    def forward(self, T, past=None):
        """Returns the logits of the last of T tokens and every pattern; past: keys and values [H, context, DH]
        of each layer."""
        lib, patterns = self.lib, []
        x = self.embed[:T] + self.pos[:T]
        mask = lib.hidden(T) if T > 1 else None
        for i, (w1, b1, wqkv, bqkv, wo, bo, w2, b2, win, bin_, wout, bout) in enumerate(self.layers):
            qkv = (lib.norm(x, w1, b1) @ wqkv + bqkv).reshape(T, 3, H, DH).swapaxes(0, 2)
            q, k, v = qkv[:, 0], qkv[:, 1], qkv[:, 2]
            if past:
                past[i][0][:, -1:], past[i][1][:, -1:] = k, v
                k, v = past[i]
            scores = q @ k.swapaxes(1, 2) * 0.125
            pattern = lib.softmax(scores + mask if T > 1 else scores)
            patterns.append(pattern)
            x = x + (pattern @ v).swapaxes(0, 1).reshape(T, D) @ wo + bo
            x = x + lib.gelu(lib.norm(x, w2, b2) @ win + bin_) @ wout + bout
        return lib.norm(x[-1:], *self.final) @ self.turned, patterns

    def once(self, stage):
        """Returns a function that runs a stage once."""
        kind, _, rest = stage.partition(".")
        if kind == "batch":
            return lambda: [self.forward(T)[1] for T in LENGTHS]
        size = int(rest.split(".")[1].lstrip("Tctx"))
        if kind == "prefill":
            return lambda: self.forward(size)
        past = [(self.lib.random(H, size, DH), self.lib.random(H, size, DH)) for _ in range(L)]
        return lambda: self.forward(1, past)


def median_seconds(work):
    times = []
    while len(times) <= RUNS and sum(times) < PATIENCE:
        start = time.monotonic()
        work()
        times.append(time.monotonic() - start)
    return statistics.median(times[1:] or times)        # the first one only warms up


def blas():
    """The loaded libraries that multiply matrices, recognised by their names."""
    with open("/proc/self/maps") as maps:
        names = {os.path.basename(line.split()[-1]) for line in maps if "/" in line}
    return sorted(n for n in names if any(part in n for part in ("blas", "mkl", "dnnl")))


def settings(threads):
    """The environment of a peer."""
    kept = {name: value for name, value in os.environ.items() if name != "OPENBLAS_L2_SIZE"}
    env = dict(kept, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads), **TUNED)
    if "avx512f" not in open("/proc/cpuinfo").read():
        env["OPENBLAS_CORETYPE"] = "Haswell"
    if os.path.exists(BLAS):
        env["LD_PRELOAD"] = BLAS
    return env


def work_as(peer, threads):
    models = {}
    lib = {"torch": Torch, "numpy": Numpy}[peer]
    first = lib(threads, "f32")
    print(first.np.__version__, ", ".join(blas()) or "no BLAS", flush=True)
    for line in sys.stdin:
        stage = line.strip()
        dtype = "bf16" if ".bf16." in stage else "f32"
        try:
            if dtype not in models:
                models[dtype] = Gpt2(lib(threads, dtype))
            print(median_seconds(models[dtype].once(stage)), flush=True)
        except NotImplementedError:
            print("nan", flush=True)


class Worker:
    def __init__(self, peer, threads):
        self.process = subprocess.Popen([sys.executable, __file__, "--as", peer, str(threads)],
                                        env=settings(threads), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.about = self.process.stdout.readline().strip()

    def seconds(self, stage):
        self.process.stdin.write(stage + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline() or "nan")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def ours(program, model, stage, threads):
    """The row of a stage, or None if this model or machine cannot run it."""
    stages = Path(program).with_name("bench-stages")
    said = subprocess.run([stages, "-q", "-m", model, "-t", str(threads), "--stage", stage, "--format", "json"],
                          check=True, stdout=subprocess.PIPE).stdout
    rows = json.loads(said)["stages"]
    return rows[0] if rows else None


def figure(measured, digits):
    x = statistics.median(measured)
    return "-" if math.isnan(x) else "%.*f" % (digits, x)


def compare(program, models, threads, peers):
    workers = {p: Worker(p, threads) for p in peers}
    for p in peers:
        print("%s %s" % (PEERS[p], workers[p].about))
    print("%-28s %7s %10s" % ("", "threads", "attn-cli") + "".join(" %10s" % PEERS[p] for p in peers) +
          "  unit     " + "".join(" %16s" % ("/" + PEERS[p]) for p in peers))
    for stage in STAGES:
        values, factors, most = {p: [] for p in ["", *peers]}, {p: [] for p in peers}, {p: [] for p in peers}
        for _ in range(ROUNDS):
            row = ours(program, models[".bf16." in stage], stage, threads)
            if not row:
                break
            values[""].append(row["value"])
            for p in peers:
                seconds = workers[p].seconds(stage)
                values[p].append(row["value"] * row["seconds"] / seconds)
                factors[p].append(seconds / row["seconds"])
                most[p].append(seconds / row["seconds"] / (row["ratio"] or math.nan))
        if values[""]:
            print("%-28s %7d" % (stage, threads) + "".join(" %10s" % figure(values[p], 2) for p in values) +
                  "  %-9s" % row["unit"] + "".join(" %7s (%6s)" % (figure(factors[p], 2), figure(most[p], 2))
                                                   for p in peers), flush=True)
    for w in workers.values():
        w.end()


def installed(module):
    return subprocess.run([sys.executable, "-c", "import " + module], stderr=subprocess.DEVNULL).returncode == 0


def main(program, *models):
    peers = [p for p in PEERS if installed(p)]
    for p in PEERS:
        if p not in peers:
            print("%s is not installed: apt-get install python3-%s" % (PEERS[p], p))
    if peers and not os.path.exists(BLAS):
        print("peers are slower than they could be: apt-get install libopenblas0-openmp")
    cores = len(os.sched_getaffinity(0))
    for threads in ([1] if cores == 1 else [1, cores]) if peers else []:
        compare(program, models, threads, peers)


if sys.argv[1] == "--as":
    work_as(sys.argv[2], int(sys.argv[3]))
else:
    main(*sys.argv[1:])

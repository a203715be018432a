"""mutate.py COUNT SEED - breaks lib and cmd in COUNT small ways, one at a time, and lists those that no test notices.

README.md beside this file says what is mutated, what counts, and what to do with a survivor.  Everything is kept in
build/mutation: a copy of the tree for each worker, which tests run which line, and results-SEED.jsonl, from which a
run that was ended goes on.  `--all` runs every test against a mutant, `--again` judges the survivors of SEED anew
with the tests of today."""
import argparse
import concurrent.futures
import difflib
import hashlib
import json
import os
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from operators import mutations
from reach import Reach

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "build/mutation"
HERE = Path(__file__).resolve().parent
CAUGHT, SURVIVED, UNREACHED, EQUIVALENT, STILLBORN = "caught", "survived", "unreached", "equivalent", "stillborn"
COUNTED = (CAUGHT, SURVIVED, UNREACHED)
QUIET = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
FIRST_CHUNK, LAST_CHUNK = 1, 16                                 # seconds
# A test may take five times its limit, as the sanitizers are slow, and some together ten times what
# they take unmutated.
PATIENCE, TIMES_AS_LONG, AT_LEAST = 5, 10, 40
FILE_MAX, RSS_MAX_MB, CPU_MAX = 1 << 41, 3000, 600             # a test makes a sparse file of a terabyte
BUILD_MAX = 300                                                 # seconds
LEAST_FREE = 4 << 30                                            # bytes of disk: a mutant may write without end
MOST_TASKS = 4000                                               # of the machine: or start threads


def sources():
    listed = subprocess.run(["git", "ls-files", "lib", "cmd"], cwd=ROOT, check=True, capture_output=True,
                            text=True).stdout
    return [f for f in listed.split() if f.endswith(".c")]


def read_table(name):
    """The rows of a table: fields with tabs between them; # begins a comment."""
    lines = (HERE / name).read_text().splitlines()
    return [re.split(r"\t+", line) for line in lines if line and not line.startswith("#")]


def excluded(path, lines, i, shut):
    """Whether a line is one that cannot be judged: it, or what its block ends with, or what its condition leads to, is
    in the list."""
    depth = indent(lines[i])
    block = [lines[i]]
    follows = lines[i].lstrip().startswith("if (")
    for line in lines[i + 1:]:
        inside = indent(line)
        follows = follows and inside > depth
        if follows and line.lstrip().startswith("return"):
            block.append(line)
        if inside < depth:
            break
        if inside == depth and line.lstrip().startswith("return"):
            block.append(line)
    return any(p.fullmatch(path) and any(t.search(line) for line in block) for p, t in shut)


def indent(line):
    return len(line) - len(line.lstrip())


def lacks_memory(lines, i):
    """Whether a line is what an `if` does about memory that the two lines before it did not get."""
    c = next((c for c in range(i - 1, 0, -1) if lines[c].strip() and indent(lines[c]) < indent(lines[i])), 0)
    before = lines[max(0, c - 2):c]
    if re.match(r"\s*if \(rc\)", lines[c]):
        return any("attn_arena_make(" in line for line in before[-1:])
    m = re.match(r"\s*if \(!(\*?[\w.>-]+)", lines[c])
    return bool(m) and any(re.search(re.escape(m[1]) + r"\b.* = .*(alloc|attn_grow|strdup)\(", line) for line in before)


def choose(seed):
    """Mutants in the order in which they are tried: lines at random, and of each one mutation at random."""
    shut = [(re.compile(path), re.compile(text)) for path, text, _ in read_table("excluded.txt")]
    rng = random.Random(seed)
    text = {path: (ROOT / path).read_text() for path in sources()}
    found = [(path, line) for path in text for line in mutations(text[path])]
    rng.shuffle(found)
    for path, line in found:
        new, what = rng.choice(line.changes)
        lines = text[path].split("\n")
        if not excluded(path, lines, line.number - 1, shut) and not lacks_memory(lines, line.number - 1):
            yield {"file": path, "line": line.number, "old": line.text, "new": new, "what": what}


def name_of(m):
    return hashlib.sha256("\0".join((m["file"], m["old"], m["new"], str(m["line"]))).encode()).hexdigest()[:16]


class Build:
    """How mutants are compiled and run.  The plain build catches most, quickly; the sanitizers see what
    it lets pass."""

    def __init__(self, name, *flags):
        self.name, self.flags = name, (f"flavour={name}", *flags)
        files = "attn-cli", "attn-tests", "libattn.a"       # programs in the documents are linked with the library
        self.binaries = [f"build/{name}/{file}" for file in files]
        self.unmutated = [f"build/{name}-unmutated/{file}" for file in files]

    def object(self, path):
        return f"build/{self.name}/{path[:-1]}o"


# Whatever gcc warns about is found without a test, but for && beside ||, which a mutant may well mean.
PLAIN = Build("plain", "flags=-g0 -Werror -Wno-parentheses")
SANITIZED = Build("mutate")


class Tree:
    """A copy of the tree with builds of its own, in which one file at a time is changed."""

    def __init__(self, number, reach):
        self.at, self.reach = HOME / f"tree{number}", reach
        self.tmp = Path(tempfile.mkdtemp(prefix="mut"))
        self.proved, self.aside = set(), set()
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                                capture_output=True,
                                text=True).stdout.split("\n")
        names = {name for name in listed if name and (ROOT / name).is_file()}
        for name in names:
            self.update(name)
        for old in self.at.rglob("*"):
            inside = str(old.relative_to(self.at))
            if old.is_file() and not inside.startswith("build/") and inside not in names:
                old.unlink()
        for build in PLAIN, SANITIZED:
            if not (self.at / "build" / build.name).exists():
                shutil.copytree(ROOT / "build" / build.name, self.at / "build" / build.name)
            self.make(build, *build.binaries)
            for binary, kept in zip(build.binaries, build.unmutated):
                (self.at / kept).parent.mkdir(exist_ok=True)
                shutil.copy2(self.at / binary, self.at / kept)

    def update(self, name):
        """Copies a file if it differs.  make goes by times: a new file is as old as what was built of it
        in the original."""
        here, there = ROOT / name, self.at / name
        if not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(here, there)
        elif there.read_bytes() != here.read_bytes():
            shutil.copy(here, there)

    def make(self, build, *targets):
        done = subprocess.run(["timeout", str(BUILD_MAX), "make", "-s", *targets, *build.flags], env=QUIET, cwd=self.at,
                              capture_output=True, text=True)
        if done.returncode == 124:              # programs of ours run in it
            raise TimeoutError
        if done.returncode:
            raise ChildProcessError(done.stdout + done.stderr)

    def judge(self, m, every, within):
        path = m["file"]
        kept = {o: (self.at / o).read_bytes() for o in (PLAIN.object(path), SANITIZED.object(path))}
        original = (self.at / path).read_text()
        lines = original.split("\n")
        lines[m["line"] - 1] = m["new"]
        try:
            (self.at / path).write_text("\n".join(lines))
            return self.verdict(m, kept[PLAIN.object(path)], every, within)
        finally:
            (self.at / path).write_text(original)
            for name, data in kept.items():         # newer than what was made of the mutant
                (self.at / name).write_bytes(data)

    def verdict(self, m, before, every, within):
        tests = self.reach.all() if every else self.reach.tests(m["file"], m["line"])
        try:
            self.make(PLAIN, PLAIN.object(m["file"]))
            if (self.at / PLAIN.object(m["file"])).read_bytes() == before:
                return EQUIVALENT, "the same machine code"
            if not tests:
                return UNREACHED, "no test runs the line"
            ran = 0
            for build in PLAIN, SANITIZED:
                self.make(build, *build.binaries)
                for some, seconds in chunks(tests, self.reach.seconds):
                    if within and seconds > within:
                        break
                    ran = max(ran, tests.index(some[-1]) + 1)
                    why = self.run(build, some)
                    if why:
                        return CAUGHT, why
            return SURVIVED, f"{ran} of the {len(tests)} tests that run its function"
        except TimeoutError:
            return CAUGHT, "the build takes too long"
        except ChildProcessError as e:
            error = re.search(r"(error|Error|undefined).*", str(e))
            return STILLBORN, error[0][:120] if error else str(e)[:120]

    def run(self, build, tests):
        """Why one of the tests fails; None if all pass.  A test that fails without any mutation, too, would catch them
        all: it is set aside, as what fails on a busy machine is; where it cannot be told which one it was, it is looked
        for by halves."""
        tests = [t for t in tests if t not in self.aside]
        why, failed = self.attempt(build.binaries, tests) if tests else (None, None)
        if why and (build, failed) not in self.proved:
            also, _ = self.attempt(build.unmutated, [failed] if failed else tests)
            if also and not failed and len(tests) > 1:
                half = len(tests) // 2
                return self.run(build, tests[:half]) or self.run(build, tests[half:])
            if also:
                print(f"set aside  {failed or tests[0]} fails without any mutation, too: {also}", flush=True)
                self.aside.add(failed or tests[0])
                return self.run(build, tests)
            if failed:
                self.proved.add((build, failed))
        return why

    def attempt(self, binaries, tests):
        """(why, test) of the first test that fails; test None: it is not known which."""
        tap = self.tmp / "tap"
        tap.unlink(missing_ok=True)
        env = dict(os.environ, ATTN_CLI=binaries[0], CK_TAP_LOG_FILE_NAME=str(tap), TMPDIR=str(self.tmp),
                   ATTN_SHARED=os.environ.get("ATTN_SHARED", str(ROOT.parent / "shared")),
                   CK_TIMEOUT_MULTIPLIER=str(PATIENCE),
                   ASAN_OPTIONS=f"allocator_may_return_null=1:hard_rss_limit_mb={RSS_MAX_MB}", CK_VERBOSITY="silent")
        command = [*steady(), binaries[1], *tests]
        limit = max(AT_LEAST, TIMES_AS_LONG * sum(map(self.reach.seconds, tests)))
        with open(self.tmp / "out", "wb") as out:
            child = subprocess.Popen(command, cwd=self.at, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                     start_new_session=True, preexec_fn=bounds)
            try:
                why = wait(child, tap, self.tmp, time.monotonic() + limit)
            finally:
                end_all(child, tap)
                for left in self.tmp.glob("attn-test-*"):
                    shutil.rmtree(left, ignore_errors=True)
        failed = re.match(r"\S*:\w+:(\w+): ", why or "")
        names = [t for t in tests if failed and t.endswith(":" + failed[1])]
        return why, names[0] if len(names) == 1 else None

    def close(self):
        shutil.rmtree(self.tmp, ignore_errors=True)


def chunks(tests, seconds):
    """(tests to run in one process, seconds of them and all before): few at first, as most mutants are
    caught at once."""
    some, most, total, before = [], FIRST_CHUNK, 0, 0
    for test in tests:
        some.append(test)
        total += seconds(test)
        if total - before >= most:
            yield some, total
            some, most, before = [], min(most * 4, LAST_CHUNK), total
    if some:
        yield some, total


def steady():
    """Sanitizers map fixed addresses, which the address space randomization of some kernels may have taken."""
    off = subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0
    return ["setarch", "-R"] if off else []


def bounds():
    """For the tests and all that they start: a program in a group of its own outlives them, but not its seconds."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_MAX, CPU_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MAX, FILE_MAX))


def wait(child, tap, tmp, until):
    while True:
        try:
            code = child.wait(0.1)
        except subprocess.TimeoutExpired:
            code = None
        said = re.search(r"^not ok \d+ - (.*)", tap.read_text(errors="replace"), re.M) if tap.exists() else None
        if said:
            return said[1][:160]
        if code is not None:
            return f"ended with {code}" if code else None
        if time.monotonic() > until:
            return "takes too long"
        if shutil.disk_usage(tmp).free < LEAST_FREE:
            return "fills the disk"
        if int(Path("/proc/loadavg").read_text().split()[3].split("/")[1]) > MOST_TASKS:
            return "starts threads without end"


def end_all(child, tap):
    """Ends the tests and what they started.  Those that run in a group of their own are known by their environment."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if bytes(tap) in (process / "environ").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:                         # it ended by itself, or is somebody else's
            pass


def known_equivalents():
    return {(path, old, new): why for path, old, new, why in read_table("equivalent.txt")}


def report(results, seed, count, equivalents):
    counts = {kind: sum(r["verdict"] == kind for r in results) for kind in (*COUNTED, EQUIVALENT, STILLBORN)}
    missed = [r for r in results if r["verdict"] in (SURVIVED, UNREACHED)]
    for r in missed:
        print(f"\n--- {r['file']}:{r['line']}: {r['verdict']}, {r['what']}")
        print("\n".join(difflib.ndiff([r["old"]], [r["new"]])))
    judged = sum(counts[kind] for kind in COUNTED)
    print(f"\nseed {seed}: {judged} of {count} mutants judged, {counts[CAUGHT]} caught"
          + (f" ({100 * counts[CAUGHT] / judged:.1f} %)" if judged else ""), end="; ")
    print(f"{counts[SURVIVED]} survived, {counts[UNREACHED]} on lines that no test runs; "
          f"left out: {counts[EQUIVALENT]} that "
          f"change nothing, {counts[STILLBORN]} that do not compile")


class Run:
    def __init__(self, options, reach):
        self.o, self.reach, self.lock = options, reach, threading.Lock()
        self.path = HOME / f"results-{options.seed}.jsonl"
        self.done = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                r = json.loads(line)
                self.done[r["name"]] = r
        self.equivalents = known_equivalents()
        self.trees = queue.Queue()

    def settled(self, m):
        r = self.done.get(name_of(m))
        missed = r and r["verdict"] in (SURVIVED, UNREACHED)
        return r if r and not (self.o.again and missed and not r.get("now")) else None

    def keep(self, m, verdict, why, seconds):
        r = dict(m, name=name_of(m), verdict=verdict, why=why, seconds=round(seconds, 1), now=True)
        with self.lock:
            self.done[r["name"]] = r
            with open(self.path, "a") as f:
                f.write(json.dumps({k: v for k, v in r.items() if k != "now"}) + "\n")
            print(f"{verdict:10} {m['file']}:{m['line']}: {m['what']} ({why}) {seconds:.0f}s", flush=True)
        return r

    def try_one(self, m):
        r = self.settled(m)
        if r:
            return r
        why = self.equivalents.get((m["file"], m["old"].strip(), m["new"].strip()))
        if why:
            return self.keep(m, EQUIVALENT, why, 0)
        tree, began = self.trees.get(), time.monotonic()
        try:
            return self.keep(m, *tree.judge(m, self.o.all, self.o.within), time.monotonic() - began)
        finally:
            self.trees.put(tree)

    def go(self):
        trees = [Tree(i, self.reach) for i in range(self.o.jobs)]
        for tree in trees:
            self.trees.put(tree)
        results, waiting = [], []
        stream = choose(self.o.seed)
        with concurrent.futures.ThreadPoolExecutor(self.o.jobs) as pool:
            while sum(r["verdict"] in COUNTED for r in results) < self.o.count:
                missing = self.o.count - sum(r["verdict"] in COUNTED for r in results)
                waiting = [m for _, m in zip(range(missing), stream)]
                if not waiting:
                    break
                try:
                    results += pool.map(self.try_one, waiting)
                except KeyboardInterrupt:
                    pool.shutdown(cancel_futures=True)
                    raise
        for tree in trees:
            tree.close()
        report(results, self.o.seed, self.o.count, self.equivalents)
        return any(r["verdict"] in (SURVIVED, UNREACHED) for r in results)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("count", type=int)
    p.add_argument("seed", type=int)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--within", type=float)
    p.add_argument("--all", action="store_true")
    p.add_argument("--again", action="store_true")
    o = p.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    for build in PLAIN, SANITIZED:
        subprocess.run(["make", "-s", f"-j{o.jobs}", *build.flags, *build.binaries], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)
    sys.exit(Run(o, Reach(ROOT, HOME, o.jobs)).go())


if __name__ == "__main__":
    main()

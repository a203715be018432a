"""reach.py - which suites run which line of lib and cmd, and how long each suite takes.

Each suite runs once with the coverage flavour, and gcov reads what it left.  The answer is kept in build/mutation/reach under
a hash of lib, cmd, the suite's own file and what the suites share, so a new test makes only its own suite run again."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

GCOV_AT_ONCE = 64               # files a call of gcov reads


class Reach:
    def __init__(self, root, home, jobs):
        self.root, self.home = root, home / "reach"
        self.home.mkdir(parents=True, exist_ok=True)
        names = re.findall(r"SUITE\((\w+)\)", (root / "tests/suites.inc").read_text())
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "lib", "cmd", "tests"], cwd=root, check=True,
                                capture_output=True, text=True).stdout.split()
        self.listed = sorted(n for n in listed if re.search(r"\.([ch]|inc)$", n) and (root / n).is_file())
        stale = [s for s in names if self.kept(s) is None]
        if stale:
            self.measure(stale, jobs)
        self.took, self.run, self.lines = {}, {}, {}
        for suite in names:
            self.learn(suite, self.kept(suite))

    def state(self, suite):
        whole = hashlib.sha256()
        for name in self.listed:
            if not re.fullmatch(r"tests/test_\w+\.c|tests/suites\.inc", name) or name == f"tests/test_{suite}.c":
                whole.update(name.encode() + b"\0" + (self.root / name).read_bytes())
        return whole.hexdigest()

    def unproved(self):
        """Suites of which it is not known that they pass in the build and under the limits in which mutants are judged."""
        return [s for s in self.all() if not (self.home / f"{s}.proved").exists()
                or (self.home / f"{s}.proved").read_text() != self.state(s)]

    def proved(self, suite):
        (self.home / f"{suite}.proved").write_text(self.state(suite))

    def kept(self, suite):
        path = self.home / f"{suite}.json"
        found = json.loads(path.read_text()) if path.exists() else {}
        return found if found.get("state") == self.state(suite) else None

    def learn(self, suite, found):
        self.took[suite] = found["seconds"]
        for path, (run, idle) in found["lines"].items():
            self.lines.setdefault(path, set()).update(run, idle)
            for line in run:
                self.run.setdefault((path, line), []).append(suite)

    def measure(self, suites, jobs):
        print(f"finding out which lines {len(suites)} suites run", flush=True)
        subprocess.run(["make", "-s", f"-j{jobs}", "flavour=coverage", "build/coverage/attn-cli", "build/coverage/attn-tests"],
                       cwd=self.root, check=True, stdout=subprocess.DEVNULL)
        with ThreadPoolExecutor(jobs) as pool:
            for suite, seconds, lines in pool.map(self.cover, suites):
                found = {"state": self.state(suite), "seconds": seconds, "lines": lines}
                (self.home / f"{suite}.json").write_text(json.dumps(found))

    def cover(self, suite):
        at = self.home / suite
        shutil.rmtree(at, ignore_errors=True)
        env = dict(os.environ, ATTN_CLI="build/coverage/attn-cli", GCOV_PREFIX=str(at), CK_TIMEOUT_MULTIPLIER="100",
                   GCOV_PREFIX_STRIP=str(len(self.root.parts) - 1))
        began = time.monotonic()
        done = subprocess.run(["build/coverage/attn-tests", suite], cwd=self.root, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True)
        if done.returncode:
            raise SystemExit(f"{suite} fails without any mutation: {done.stdout.decode(errors='replace')[-2000:]}")
        seconds = time.monotonic() - began
        lines = self.read(at)
        shutil.rmtree(at, ignore_errors=True)
        return suite, seconds, lines

    def read(self, at):
        """{file: (lines that were run, lines that were not)}, of what a suite left under a directory."""
        left = [f for top in ("lib", "cmd") for f in (at / "build/coverage" / top).rglob("*.gcda")]
        for f in left:
            f.with_suffix(".gcno").symlink_to(self.root / f.relative_to(at).with_suffix(".gcno"))
        lines = {}
        for i in range(0, len(left), GCOV_AT_ONCE):
            said = subprocess.run(["gcov", "--json-format", "--stdout", *map(str, left[i:i + GCOV_AT_ONCE])], cwd=self.root,
                                  check=True, capture_output=True).stdout
            for document in said.splitlines():
                for f in json.loads(document)["files"]:
                    if f["file"].endswith(".c"):
                        run, idle = lines.setdefault(f["file"], (set(), set()))
                        for line in f["lines"]:
                            (run if line["count"] > 0 else idle).add(line["line_number"])
        return {path: (sorted(run), sorted(idle - run)) for path, (run, idle) in lines.items()}

    def suites(self, path, line):
        """The suites that run a line, the quickest first.  A line without code of its own belongs to one before it."""
        begins = max((n for n in self.lines.get(path, ()) if n <= line), default=0)
        return sorted(self.run.get((path, begins), []), key=self.seconds)

    def all(self):
        return sorted(self.took, key=self.seconds)

    def seconds(self, suite):
        return self.took[suite]

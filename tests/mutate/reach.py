"""reach.py - which tests run which line of lib and cmd, and how long each test takes.

Each test runs once, alone, with the flavour that notes the basic blocks that run, in the tests and in the program that
they call.  The answer is kept in build/mutation/reach, one file per suite, under a hash of lib, cmd, the suite's own
file and what the suites share, so a new test makes only its own suite run again."""
import bisect
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

PROGRAMS = ("build/reach/attn-cli", "build/reach/attn-tests")


class Reach:
    def __init__(self, root, home, jobs):
        self.root, self.home = root, home / "reach"
        self.home.mkdir(parents=True, exist_ok=True)
        names = re.findall(r"SUITE\((\w+)\)", (root / "tests/support/suites.inc").read_text())
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "lib", "cmd", "tests"],
                                cwd=root, check=True,
                                capture_output=True, text=True).stdout.split()
        self.listed = sorted(n for n in listed if re.search(r"\.([ch]|inc)$", n) and (root / n).is_file())
        stale = [s for s in names if self.kept(s) is None]
        if stale:
            self.measure(stale, jobs)
        self.took, self.run, self.lines = {}, {}, {}
        for suite in names:
            for test, found in self.kept(suite).items():
                self.learn(test, found)
        self.lines = {path: sorted(lines) for path, lines in self.lines.items()}

    def state(self, suite):
        whole = hashlib.sha256()
        for name in self.listed:
            if not re.fullmatch(r"tests/\w+/test_\w+\.c|tests/support/suites\.inc",
                                name) or name.endswith(f"/test_{suite}.c"):
                whole.update(name.encode() + b"\0" + (self.root / name).read_bytes())
        return whole.hexdigest()

    def kept(self, suite):
        path = self.home / f"{suite}.json"
        found = json.loads(path.read_text()) if path.exists() else {}
        return found["tests"] if found.get("state") == self.state(suite) else None

    def learn(self, test, found):
        self.took[test] = found["seconds"]
        for path, lines in found["lines"].items():
            self.lines.setdefault(path, set()).update(lines)
            for line in lines:
                self.run.setdefault((path, line), []).append(test)

    def measure(self, suites, jobs):
        print(f"finding out which lines the tests of {len(suites)} suites run", flush=True)
        subprocess.run(["make", "-s", f"-j{jobs}", "flavour=reach", *PROGRAMS], cwd=self.root, check=True,
                       stdout=subprocess.DEVNULL)
        places = self.places = Places(self.root)
        tests = subprocess.run([PROGRAMS[1], "--list"], cwd=self.root, check=True, capture_output=True,
                               text=True).stdout.split()
        for suite in suites:
            with ThreadPoolExecutor(jobs) as pool:
                ran = pool.map(self.cover, [t for t in tests if t.startswith(suite + ":")])
                found = {test: {"seconds": seconds, "lines": places.lines(blocks)} for test, seconds, blocks in ran}
            (self.home / f"{suite}.json").write_text(json.dumps({"state": self.state(suite), "tests": found}))

    def cover(self, test):
        """(test, seconds, {program: places of the blocks that ran})"""
        at = self.home / test.replace(":", "-")
        shutil.rmtree(at, ignore_errors=True)
        at.mkdir()
        for program, size in self.places.size.items():
            with open(at / program, "wb") as f:
                f.truncate(size)
        env = dict(os.environ, ATTN_CLI=PROGRAMS[0], REACHED=str(at), CK_TIMEOUT_MULTIPLIER="100")
        began = time.monotonic()
        done = subprocess.run([PROGRAMS[1], test], cwd=self.root, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True)
        if done.returncode:
            raise SystemExit(f"{test} fails without any mutation: {done.stdout.decode(errors='replace')[-2000:]}")
        seconds = time.monotonic() - began
        blocks = {p.name: [m.start() for m in re.finditer(b"\1", p.read_bytes())] for p in at.iterdir()}
        shutil.rmtree(at)
        return test, seconds, blocks

    def tests(self, path, line):
        """The tests that run a line, the quickest first, and after them those that run another line of its
        function, as the code of a line may have been merged with that of another.  A line within a block belongs to
        the line at which it begins; the first lines of a function may have no code of their own, and then belong to
        the first that has."""
        lines, text = self.lines.get(path, []), (self.root / path).read_text().split("\n")
        begin = next((n for n in range(line, 0, -1) if text[n - 1].startswith("{")), 1)
        end = next((n for n in range(line, len(text) + 1) if text[n - 1].startswith("}")), 0)
        i = bisect.bisect_right(lines, line)
        if (not i or lines[i - 1] < begin - 1) and i < len(lines) and lines[i] < end:
            i += 1
        own = {t for n in lines[:i][-1:] for t in self.run.get((path, n), [])}
        near = {t for n in lines if begin - 1 <= n < end for t in self.run.get((path, n), [])} if own else own
        return [*sorted(own, key=self.seconds), *sorted(near - own, key=self.seconds)]

    def all(self):
        return sorted(self.took, key=self.seconds)

    def seconds(self, test):
        return self.took[test]


class Places:
    """Turns places of blocks in the programs into lines of the sources."""

    def __init__(self, root):
        self.root, self.program, self.start, self.size, self.known = root, {}, {}, {}, {}
        for program in PROGRAMS:
            name = program.rsplit("/", 1)[1]
            symbols = subprocess.run(["nm", program], cwd=root, check=True, capture_output=True, text=True).stdout
            self.program[name], self.known[name] = program, {}
            self.start[name], end = (int(re.search(rf"^(\w+) \w {symbol}$", symbols, re.M)[1], 16)
                                     for symbol in ("__executable_start", "etext"))
            self.size[name] = end - self.start[name]

    def lines(self, blocks):
        found = {}
        for name, places in blocks.items():
            self.look_up(name, [p for p in places if p not in self.known[name]])
            for place in places:
                for path, line in self.known[name][place]:
                    found.setdefault(path, set()).add(line)
        return {path: sorted(lines) for path, lines in found.items()}

    def look_up(self, name, places):
        """addr2line prints, for each address, the address itself and then a line for each function inlined there."""
        asked = "".join(f"{self.start[name] + p - 1:#x}\n" for p in places)      # of the call, not of what follows it
        said = subprocess.run(["addr2line", "-a", "-i", "-e", self.program[name]], cwd=self.root, check=True,
                              input=asked,
                              capture_output=True, text=True).stdout.splitlines()
        current = None
        for line in said:
            if line.startswith("0x"):
                current = self.known[name].setdefault(int(line, 16) - self.start[name] + 1, [])
                continue
            m = re.match(rf"(?:{re.escape(str(self.root))}/)?((?:lib|cmd)/.*\.c):(\d+)", line)
            if m:
                current.append((m[1], int(m[2])))

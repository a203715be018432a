"""house.py - counts of the tree: how much code lib and cmd have, in which files, and what in them is long.

Blank lines and comments do not count as code; what looks like a comment in a string is none.  A function begins at the
left edge and ends with a brace there."""
import re
import statistics
from collections import defaultdict
from pathlib import Path

WIDE = 120
TOKEN = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?\*/', re.S)
# A line of nothing but text, which cannot be shorter without being cut: "...", between commas and brackets.
LITERAL = re.compile(r'[\s{(,]*"(?:\\.|[^"\\])*"[\s,;)}]*$')


def without_comments(text):
    return TOKEN.sub(lambda m: m[1] or "\n" * m[0].count("\n"), text)


def functions(lines):
    """Name and number of lines of each, with its head."""
    start = None
    for i, line in enumerate(lines):
        if re.match(r"[A-Za-z_].*\(", line) and not line.rstrip().endswith(";"):
            start = i
        elif line.startswith("}") and start is not None:
            if line.rstrip() == "}":
                yield re.search(r"(\w+)\s*\(", lines[start])[1], i - start + 1
            start = None


def count(top):
    files = sorted(Path(top).rglob("*.[ch]"))
    texts = {path: path.read_text() for path in files}
    sizes = {path: text.count("\n") for path, text in texts.items()}
    code = {path: [line for line in without_comments(text).split("\n") if line.strip()] for path, text in texts.items()}
    wide = [line for text in texts.values() for line in text.split("\n") if len(line) > WIDE]
    literal = sum(bool(LITERAL.match(line)) for line in wide)
    longest = max(((n, name, path) for path, text in texts.items() for name, n in functions(text.split("\n"))))
    print(f"{top}: {len(files)} files, {sum(sizes.values())} lines, {sum(map(len, code.values()))} of code; "
          f"median of {statistics.median(sizes.values()):g} lines a file")
    print(f"  over {WIDE} columns: {len(wide) - literal} lines, and {literal} of nothing but text")
    print(f"  longest function: {longest[1]} in {longest[2]}, {longest[0]} lines; "
          f"longest file: {max(sizes, key=sizes.get)}, {max(sizes.values())}")
    return files


def names(files):
    """Base names in more than one folder; x.c and x.h in one folder are one."""
    folders = defaultdict(set)
    for path in files:
        folders[path.stem].add(str(path.parent))
    return {name: sorted(where) for name, where in folders.items() if len(where) > 1}


twice = names(count("lib") + count("cmd"))
print(f"names in more than one folder: {len(twice)}")
for name, where in sorted(twice.items()):
    print(f"  {name}: {', '.join(where)}")

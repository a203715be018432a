"""house.py - counts of the tree: how much code lib and cmd have, in which files, and what in them is long; and where in
the whole tree lines are too long, or comments end in a line of one or two words.

Blank lines and comments do not count as code; what looks like a comment in a string is none.  A function begins at the
left edge and ends with a brace there."""
import re
import statistics
from collections import defaultdict
from pathlib import Path

WIDE = 120
TOKEN = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?\*/', re.S)
TREE = "lib", "cmd", "tests", "data", "models"
WRITTEN = ".c", ".h", ".js", ".py", ".sh", ".mk"
# A line of nothing but text, which cannot be shorter without being cut: "...", between commas and brackets.
LITERAL = re.compile(r'[\s{(,]*"(?:\\.|[^"\\])*"[\s,;)}]*$')
# A line of a comment, and one of at most two words.  Examples are indented more.
COMMENT = re.compile(r"\s*(?:/\*|\*|//|#) {1,2}\S|.*\S\s+/\* \S")
REMAINDER = re.compile(r"\s*(?:(?P<star>\*)|//|#) {1,2}[^*\s]\S*(?: [^*\s]\S*)?(?P<end> ?\*/)?$|\s*(?P<alone>\*/)$")


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
    longest = max(((n, name, path) for path, text in texts.items() for name, n in functions(text.split("\n"))))
    print(f"{top}: {len(files)} files, {sum(sizes.values())} lines, {sum(map(len, code.values()))} of code; "
          f"median of {statistics.median(sizes.values()):g} lines a file")
    print(f"  longest function: {longest[1]} in {longest[2]}, {longest[0]} lines; "
          f"longest file: {max(sizes, key=sizes.get)}, {max(sizes.values())}")
    return files


def written():
    """Path and lines of each file that people write, except pages and records."""
    for path in [Path("Makefile")] + sorted(path for top in TREE for path in Path(top).rglob("*")):
        if path.suffix in WRITTEN or path.name == "Makefile":
            yield path, path.read_text().split("\n")


def too_wide(lines):
    return (i for i, line in enumerate(lines) if len(line) > WIDE and not LITERAL.match(line))


def literal(lines):
    return (i for i, line in enumerate(lines) if len(line) > WIDE and LITERAL.match(line))


def torn(lines):
    """Last lines of comments that go on from the line above with only a word or two."""
    for i in range(1, len(lines)):
        last = REMAINDER.match(lines[i])
        below = lines[i + 1] if i + 1 < len(lines) else ""
        ends = last and (last["end"] or last["alone"] or not (last["star"] or COMMENT.match(below)))
        if ends and COMMENT.match(lines[i - 1]):
            yield i


def places(find):
    return [f"  {path}:{i + 1}" for path, lines in written() for i in find(lines)]


def show(what, where):
    print(f"{what}: {len(where)}", *where, sep="\n")


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
show(f"lines over {WIDE} columns, besides {len(places(literal))} of nothing but text", places(too_wide))
show("comments that end in a line of one or two words", places(torn))

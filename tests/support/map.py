"""map.py README [DOCUMENT...] - whether lib/README.md leads through the code as it is: functions are in the files it
names, rooms and their files are there, and the rooms are in the order in which they may include each other.  Of further
documents, whether the files that they name are there, and have the tables that they say."""
import ast
import re
import sys
from pathlib import Path

bad = []


def check(right, *words):
    if not right:
        bad.append(" ".join(map(str, words)))


def rows(first):
    table = re.search(rf"^\| {first} \|.*\n\|[-|]+\n((?:\|.*\n)+)", README, re.M)[1]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()]


def defined(function, text):
    """Its head stands at the left edge, and a body follows."""
    return re.search(rf"^(?:[a-z][^;\n]*\b)?{function}\([^;{{]*\)\n\{{", text, re.M)


def steps():
    for file, function, does in rows("file"):
        file, function = file.strip("`"), function.strip("`")
        there = Path(file).is_file()
        check(there, file, "is not there")
        check(not there or defined(function, Path(file).read_text()), file, "does not define", function)
        check(does, file, "has nothing to say of", function)
    return len(rows("file"))


def rooms():
    named = []
    wings = ast.literal_eval(re.search(r"^WINGS = (.*?\n})", Path("tests/walls.py").read_text(), re.M | re.S)[1])
    for room, wing, knows in rows("room"):
        inside = re.findall(r"`(\w+)/`", room)
        named += inside
        for file in re.findall(r"`(\w+\.[ch])`|\]\((\S+\.[ch])\)", knows):
            path = file[1] or f"{wing}/{inside[0]}/{file[0]}"
            check(Path("lib", path).is_file() and path.split("/")[1] in inside, room, "has no", path)
        check(all(r in wings.get(wing, "").split() for r in inside), room, "is not in the wing", wing)
        for function, file in re.findall(r"`(attn_\w+)` of \[\S+\]\((\S+)\)", knows):
            check(defined(function, Path("lib", file).read_text()), file, "does not define", function)
    walls = " ".join(wings.values()).split()
    check(sorted(named) == sorted(walls), "rooms of one list only:", *set(named) ^ set(walls))
    folders = sorted(p.name for p in Path("lib").glob("*/*") if p.is_dir())
    check(sorted(named) == folders, "lib has other rooms than", *named)
    check(named == walls, "the order is", *walls)
    return len(named)


README = Path(sys.argv[1]).read_text()
count = steps(), rooms()
for name in re.findall(r"`((?:lib/|cmd/attn-cli/)?\w+(?:/\w+)*/\w+\.[ch])`", README):
    tops = "", "lib", *Path("lib").iterdir(), "cmd/attn-cli"
    check(any(Path(top, name).is_file() for top in tops), name, "is not there")
for document in sys.argv[2:]:
    text = Path(document).read_text()
    named = [name for name in re.findall(r"\b(?:lib|cmd|tests|data|models)/[\w/.-]+\.\w+", text) if "NAME" not in name]
    tables = re.findall(r"`(\w+)\[\]` in (\S+\.[ch])", text)
    for name in named:
        check(Path(name).is_file(), document, "names", name, "which is not there")
    for table, name in tables:
        check(f"{table}[" in Path(name).read_text(), document, "names", table, "which is not in", name)
    count += (len(named),)
print("\n".join(bad), end="\n" if bad else "")
print(*count, "agree" if not bad else "were looked at")
sys.exit(bool(bad) or not all(count))

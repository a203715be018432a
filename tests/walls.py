"""walls.py LIBATTN.A LIBATTN.SO - what belongs where: which room may include which, and that every name
has one meaning.

A room of lib/ includes attn.h, itself and the rooms before it in WINGS, and calls no others, either, by the symbols of
libattn.a: what attn.h declares is defined in any of them.  cmd/ includes attn.h, base, table and itself."""
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

WINGS = {
    "engine": "base table trace compute io model text attend run gradient ask",
    "show": "language picture sinks",
    "study": "making train explain variants compare batch answers live",
}
WING = {room: wing for wing, rooms in WINGS.items() for room in rooms.split()}
ROOMS = list(WING)
TOPS = ["lib", *(f"lib/{wing}" for wing in WINGS)]
# What only the named files may contain.
ONLY = [
    (r'#\s*include\s*[<"]libxsmm', "lib cmd", r"lib/engine/compute/microkernel\.c",
     "libxsmm stays behind compute/microkernel.c"),
    (r'#\s*include\s*[<"]cjson', "lib cmd", r"lib/engine/base/\w+\.[ch]", "cJSON stays in base/"),
    (r"\b(v?asprintf|vsnprintf) *\(|\bsnprintf *\(.*%[-+ #0-9.*]*[aefg]", "lib", r"lib/engine/base/format\.c",
     "numbers have a point in any locale: base/format.h"),
    (r"stdio\.h|\bprintf *\(", "lib/engine/compute", "", "arithmetic does not print"),
    (r"\b(exit|abort|puts|printf|perror) *\(|(?<!/)\bstd(out|err)\b", "lib", "", "a library neither prints nor exits"),
]
found = []


def complain(*words):
    found.append(" ".join(words))


def code_of(path):
    """The lines of a file without comments; strings stay."""
    text = path.read_text()
    keep = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?\*/', re.S)
    return keep.sub(lambda m: m[1] or "\n" * m[0].count("\n"), text).split("\n")


def room_of(path):
    """None: in cmd; attn.h and those beside it are rooms of their own."""
    return None if path.parts[0] != "lib" else path.parts[2 if len(path.parts) > 3 else 1]


def check_include(path, n, name, headers):
    room = room_of(path)
    first = name.split("/")[0]
    target = first if f"lib/{WING.get(first)}/{name}" in headers else None
    where = f"{path}:{n}"
    beside = f"{path.parent}/{name}" in headers and room != target and not room
    if f"lib/{name}" in headers and target is None or beside:
        return
    if room is None:
        if not (target in ("base", "table") or f"cmd/attn-cli/{name}" in headers):
            complain(where, f"cmd/ includes attn.h, base/, table/ and its own headers, not {name}")
    elif room == "attn.h":
        complain(where, "attn.h stands alone")
    elif target is None:
        complain(where, f"no header is called {name} from lib/")
    elif ROOMS.index(target) > ROOMS.index(room):
        complain(where, f"{room}/ lies below {target}/ and does not include it")


def check_names(path, lines, tags, functions):
    for n, line in enumerate(lines, 1):
        for tag in re.findall(r"\b(?:struct|enum|union)\s+(attn_\w+)\s*\{", line):
            tags[tag].append(f"{path}:{n}")
        for name in re.findall(r"\btypedef\b.*?\b(attn_\w+)\s*(?:\)\s*\(.*)?;", line):
            tags[name].append(f"{path}:{n}")
        if re.match(r"(?!static|typedef|extern|#)\w", line) and "attn_" in line and not line.rstrip().endswith(";"):
            m = re.match(r"[\w\s*]+?\b(attn_\w+)\(", line)
            if m and next((x for x in lines[n - 1:] if x.rstrip().endswith((";", "{")) or x.startswith("{")),
                          ";").startswith("{"):
                functions[m[1]].append(f"{path}:{n}")


def base_names(files):
    """A file and its header are one; both stand in the same room."""
    rooms = defaultdict(dict)
    for path in files:
        rooms[path.stem][str(path.parent)] = True
    return rooms


def check_sources():
    files = [p for top in ("lib", "cmd") for p in sorted(Path(top).rglob("*.[ch]"))]
    headers = {str(p) for p in files if p.suffix == ".h"}
    there = {p.parts[1:3] for p in files if p.parts[0] == "lib" and len(p.parts) > 3}
    for wing, room in there ^ {(wing, room) for room, wing in WING.items()}:
        complain(f"lib/{wing}/{room}", "is not one of the rooms that tests/walls.py lists")
    tags, functions = defaultdict(list), defaultdict(list)
    for path in files:
        lines = code_of(path)
        for n, line in enumerate(lines, 1):
            m = re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', line)
            if m and (m[1] or any(f"{top}/{m[2]}" in headers for top in TOPS) or m[2].startswith(".")):
                check_include(path, n, m[1] or m[2], headers)
            for pattern, where, but, why in ONLY:
                if str(path).startswith(tuple(w + "/" for w in where.split())) and re.search(pattern, line) \
                        and not (but and re.fullmatch(but, str(path))):
                    complain(f"{path}:{n}", why)
        # no_NAME.c has the functions of NAME.c for processors that lack what it needs; a build has one of them.
        check_names(path, lines, tags, defaultdict(list) if path.stem.startswith("no_") else functions)
    for name, places in [*tags.items(), *functions.items(), *base_names(files).items()]:
        if len(places) > 1:
            complain(name, "is the name of more than one thing:", *places)
    return len(files), len(tags), len(functions)


def symbols(*command):
    said = subprocess.run(["nm", "--defined-only", *command], check=True, capture_output=True, text=True).stdout
    return {fields[2] for fields in map(str.split, said.splitlines()) if len(fields) == 3}


def check_calls(archive):
    """Names of files are unique, so that a member of the archive says its room."""
    room_of_member = {p.stem: room_of(p) for p in Path("lib").rglob("*.c")}
    said = subprocess.run(["nm", "-A", archive], check=True, capture_output=True, text=True).stdout
    lines = [re.match(r".*?:(\w+)\.o:[0-9a-f ]*(\w) (\w+)$", line) for line in said.splitlines()]
    defined = {m[3]: m[1] for m in lines if m and m[2] in "TDRB"}
    for m in lines:
        if m and m[2] == "U" and m[3] in defined:
            caller, called = room_of_member[m[1]], room_of_member[defined[m[3]]]
            if ROOMS.index(called) > ROOMS.index(caller):
                complain(f"lib/{caller}/{m[1]}.c", f"calls {m[3]} of {called}/, which lies above it")


def check_libraries(archive, shared):
    declared = "".join(p.read_text() for p in Path("lib").glob("*.h"))
    inside, outside = symbols("-g", archive), symbols("-D", shared)
    for name in inside:
        if not name.startswith(("attn_", "live_")):     # live_: what a page calls (live/live.h)
            complain(archive, f"defines {name}, which does not begin with attn_")
    for name in outside:
        if not re.search(rf"\b{name}\s*\(", declared):
            complain(shared, f"exports {name}, which no header of lib/ declares")
    return len(inside), len(outside)


# What a program gets from the archive with one call, but for some members; and what must not come with it.
APART = [
    ("attn_table_write", "", "whole table"),
    ("attn_format_check", "", "list of formats"),
    ("attn_ask_write", "writers.o plot.o", "answer without pictures"),
]
DRAWING = "png.o pdf.o pdf_fonts.o svg.o html.o history.o page_pack.o writers.o"


def members(archive):
    """Which member defines a name, and which names each member needs."""
    defines, needs = {}, defaultdict(set)
    for line in subprocess.run(["nm", "-A", archive], capture_output=True, text=True, check=True).stdout.splitlines():
        if m := re.match(r"[^:]+:([^:]+):[\s0-9a-f]*\s(\w) (\S+)", line):
            needs[m[1]].add(m[3]) if m[2] == "U" else defines.setdefault(m[3], m[1])
    return defines, needs


def check_what_comes_along(archive):
    defines, needs = members(archive)
    for name, without, what in APART:
        got, new = set(without.split()), {defines[name]}
        while new:
            got |= new
            new = {defines[u] for m in new for u in needs[m] if u in defines} - got
        for member in sorted((got - set(without.split())) & set(DRAWING.split())):
            complain(archive, f"whoever asks for a {what} by {name} gets {member}")


check_what_comes_along(sys.argv[1])
counts = [*check_sources(), *check_libraries(*sys.argv[1:])]
check_calls(sys.argv[1])
print("\n".join(found), end="\n" if found else "")
print("walls: {} files, {} tags, {} external functions, {} symbols, {} exported; "
      "{} complaints".format(*counts, len(found)))
sys.exit(bool(found) or not all(counts))

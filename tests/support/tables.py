"""tables.py ROWS COMMAND... - whether a command says the same in every format of tables.

Runs COMMAND with --format json, ndjson, csv, tidy and md and parses each: the lines of ndjson are the objects of the
list ROWS of the document ("." if that is a list itself, A.B within A), csv has their numbers and texts, an object
within one as GROUP_NAME, tidy is csv, and Markdown has as many rows and the same numbers, rounded.  Prints the number
of rows."""
import csv
import html
import io
import json
import re
import subprocess
import sys


def timeless(rows):
    """Times differ from run to run."""
    return [{name: x for name, x in row.items() if name != "seconds"} for row in rows]


def run(command, format):
    done = subprocess.run([*command, "--format", format], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert done.returncode in (0, 1), (format, done.returncode)
    return done.stdout.decode()


def flat(row):
    out = {}
    for name, x in row.items():
        if isinstance(x, dict):
            out.update({f"{name}_{inner}": y for inner, y in x.items()})
        elif not isinstance(x, list):
            out[name] = x
    return out


def same(cell, x):
    if x is None:
        return cell in ("", "inf", "-inf")         # JSON has no infinities
    if isinstance(x, bool):
        return cell == ("true" if x else "false")
    return float(cell) == x if isinstance(x, (int, float)) else cell == x


def markdown(text):
    lines = text.splitlines()
    assert re.fullmatch(r"(\|:---|\|---:)+\|", lines[1]), lines[1]
    split = [[html.unescape(re.sub(r"\\(.)", r"\1", c)) for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [[c[1:-1] for c in line] for line in split[:1] + split[2:]]


def close(cell, number):
    digits = len(cell.partition(".")[2]) if "e" not in cell else 0
    return abs(float(cell) - float(number)) <= 0.51 * 10.0 ** -digits


def check(name, *command):
    rows = json.loads(run(command, "json"))
    for part in filter(None, name.split(".")):
        rows = rows[part]
    lines = [json.loads(line) for line in run(command, "ndjson").splitlines()]
    text = run(command, "csv")
    cells, tidy = [timeless(csv.DictReader(io.StringIO(t))) for t in (text, run(command, "tidy"))]
    assert cells == tidy
    lines, rows = timeless(lines), timeless(rows)
    assert lines[:len(rows)] == rows, "ndjson has the rows of the document"
    assert len(cells) == len(lines) >= len(rows)
    for row, line in zip(cells, lines):
        for key, x in flat(line).items():
            assert key in row and same(row[key], x), (key, x, row)
    heads, *told = markdown(run(command, "md"))
    assert len(told) == len(cells)
    for row, seen in zip(cells, told):
        for head, cell in zip(heads, seen):
            if not head.endswith("text") and row.get(head) and re.fullmatch(r"-?\d+(\.\d+)?(e[-+]\d+)?", row[head]):
                assert close(cell, row[head]), (head, cell, row[head])
    print(len(cells))


check(*sys.argv[1:])

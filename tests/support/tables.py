"""tables.py ROWS COMMAND... - whether a command says the same in every format of tables.

Runs COMMAND with --format json, ndjson, csv, tidy and md and parses each: the lines of ndjson are the objects of the
list ROWS of the document ("." if that is a list itself, A.B within A), csv has their numbers and texts, an object
within one as GROUP_NAME, tidy is csv, tsv has the same with tabs, and Markdown has as many rows and the same numbers,
rounded.  What people read tables with does, as far as it is there: sqlite3, jq, awk, mlr and pandas.  Prints the number of
rows."""
import csv
import html
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


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


def said(*line, **more):
    return subprocess.run(line, stdout=subprocess.PIPE, check=True, **more).stdout.decode()


def read_by_others(folder, rows, columns):
    """The tables t.csv, t.tsv and t.ndjson of a folder: others find as many rows, and the columns."""
    at = lambda ending: os.path.join(folder, "t." + ending)
    if shutil.which("sqlite3"):
        got = said("sqlite3", "-cmd", f".import --csv '{at('csv')}' t", ":memory:",
                   "SELECT count(*) FROM t; SELECT group_concat(name, char(10)) FROM pragma_table_info('t')")
        assert got.split("\n", 1) == [str(rows), "\n".join(columns) + "\n"], got
    if shutil.which("jq"):
        assert int(said("jq", "-s", "length", at("ndjson"))) == rows
    lines = said("awk", "-F\t", "{print NF}", at("tsv")).split()
    assert lines == [str(len(columns))] * (rows + 1), (lines, rows, columns)
    if shutil.which("mlr"):
        assert len(json.loads(said("mlr", "--icsv", "--ojson", "cat", at("csv")))) == rows
    if os.environ.get("PANDAS"):
        import pandas
        assert pandas.read_csv(at("csv")).shape == (rows, len(columns))


def check_others(csv_text, tsv_text, ndjson, cells):
    plain = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
    heads, *told = [[re.sub(r"\\(.)", lambda m: plain[m[1]], c) for c in line.split("\t")]
                    for line in tsv_text.split("\n")[:-1]]
    assert timeless(dict(zip(heads, row)) for row in told) == cells, "tsv has what csv has"
    with tempfile.TemporaryDirectory() as folder:
        for ending, text in ("csv", csv_text), ("tsv", tsv_text), ("ndjson", ndjson):
            with open(os.path.join(folder, "t." + ending), "w", newline="") as f:
                f.write(text)
        read_by_others(folder, len(cells), heads)


def check(name, *command):
    rows = json.loads(run(command, "json"))
    for part in filter(None, name.split(".")):
        rows = rows[part]
    ndjson = run(command, "ndjson")
    lines = [json.loads(line) for line in ndjson.splitlines()]
    text = run(command, "csv")
    cells, tidy = [timeless(csv.DictReader(io.StringIO(t))) for t in (text, run(command, "tidy"))]
    assert cells == tidy
    check_others(text, run(command, "tsv"), ndjson, cells)
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

#!/usr/bin/env python3
"""aligned.py <TEXT - whether a derivation for a terminal is aligned where characters take two cells.

Of a diagram each stroke that goes down meets one that goes up in the next line; cells of a table, which are two blanks
or more apart, end where those of the row with most cells end; no line but a command is wider than 80 cells."""
import re
import sys
import unicodedata

DOWN, UP, SUM = "│┌┐┬├┤┼", "│└┘┴├┤┼", " = "


def cells(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in text)


def places(line, strokes):
    return {cells(line[:i]) for i, c in enumerate(line) if c in strokes}


def ends(line):
    return [cells(line[:m.end()]) for m in re.finditer(r"\S(?=  |$)", line)]


def main():
    lines, table, wrong, seen = sys.stdin.read().split("\n"), [], [], [0, 0]
    for above, line in zip([""] + lines, lines + [""]):
        if cells(line) > 80 and not line.startswith("    attn-cli"):
            wrong.append(f"{cells(line)} cells: {line}")
        drawn = places(above, DOWN) and places(line, UP)
        seen[0] += bool(drawn)
        if drawn and places(above, DOWN) != places(line, UP):
            wrong.append(f"strokes that do not meet: {line}")
        if re.match(r"  [^ │┌└]", line) and SUM not in line:
            table.append(line)
            continue
        most = max(map(ends, table), key=len, default=[])
        seen[1] += len(table) > 1
        wrong += [f"not below the others: {row}" for row in table if len(table) > 1 and
                  not set(ends(row)[1:]) <= set(most)]
        table = []
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"aligned: {seen[0]} lines of diagrams, {seen[1]} tables; {len(wrong)} complaints")
    sys.exit(bool(wrong))


main()

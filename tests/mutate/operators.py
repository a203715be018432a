"""operators.py - the small ways to break a line of C.

Strings, comments and preprocessor lines are masked first, so that only code is changed, and only inside functions."""
import re
from dataclasses import dataclass

CONDITIONS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "),
              (" && ", " || "), (" || ", " && ")]
ARITHMETIC = [(" + ", " - "), (" - ", " + "), (" * ", " + "), (" / ", " * "), (" % ", " / "), (" += ", " -= "),
              (" -= ", " += "), (" << ", " >> "), (" >> ", " << ")]
WORDS = [("true", "false"), ("false", "true"), ("smaller", "larger"), ("larger", "smaller"), ("min", "max"),
         ("max", "min")]
NO_STATEMENT = re.compile(
    r"\s*(return|else|if|for|while|do|switch|case|default|goto|typedef|struct|enum|union|static|const)\b")
STATEMENT = re.compile(r"\s*[A-Za-z_(*][^{}]*;\s*$")
DECLARATION = re.compile(r"\s*\w+(\s+\w+)*\s*[\s*]\**\w+(\[[^]]*\])*\s*(=[^=]|;|,)")
CALL = re.compile(r"\b([a-z]\w*)\(([^(),]+), ([^(),]+)(?=[,)])")


@dataclass
class Line:
    number: int
    text: str
    changes: list               # of (the new line, what was done)


def mask(text):
    """The text with blanks for comments, the contents of strings and characters, and preprocessor lines."""
    pattern = re.compile(r"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'",
                         re.S | re.M)

    def blank(m):
        quote = m[0][0] if m[0][0] in "\"'" else " "
        inner = re.sub(r"[^\n]", " ", m[0][1:-1]) if quote != " " else ""
        return quote + inner + quote if quote != " " else re.sub(r"[^\n]", " ", m[0])

    return pattern.sub(blank, text)


def bodies(masked):
    """For each line, whether it lies in the body of a function: these begin with a brace in the first column."""
    inside = False
    for line in masked:
        if line.startswith("}"):
            inside = False
        yield inside
        if line.startswith("{"):
            inside = True


def replaced(line, start, end, new, what):
    return line[:start] + new + line[end:], what


def constants(line, code):
    """Buffers become smaller only: more room than needed is no fault."""
    room = re.search(r"\b(malloc|calloc|realloc|attn_grow|attn_arena_\w+)\(",
                     code) or re.match(r"\s*(static |const )*\w+ [^=(]*\[", code)
    for m in re.finditer(r"(?<![\w.])(\d+)(?![\w.])", code):
        n = int(m[1])
        for other in [n + 1] * (not room) + [n - 1] * (n > 0):
            yield replaced(line, m.start(), m.end(), str(other), f"{n} becomes {other}")


def swaps(line, code):
    for old, new in CONDITIONS + ARITHMETIC:
        for m in re.finditer(re.escape(old), code):
            yield replaced(line, m.start(), m.end(), new, f"'{old.strip()}' becomes '{new.strip()}'")
    for old, new in WORDS:
        for m in re.finditer(rf"\b{old}\b(?=\()" if old[0] in "slm" else rf"\b{old}\b", code):
            yield replaced(line, m.start(), m.end(), new, f"{old} becomes {new}")


def conditions(line, code):
    m = re.match(r"\s*(?:\} )?(?:else )?if (\()", code)
    if not m:
        return
    depth, i = 0, m.start(1)
    for i in range(m.start(1), len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            yield line[:m.start(1)] + "(!" + line[m.start(1):i + 1] + ")" + line[i + 1:], "the condition is negated"
            return


def returns(line, code):
    m = re.search(r"\breturn (rc|ATTN_OK);", code)
    if m:
        new = "ATTN_OK" if m[1] == "rc" else "ATTN_EIO"
        yield replaced(line, m.start(1), m.end(1), new, f"returns {new}")


def sizes(line, code):
    for m in re.finditer(r" \* sizeof (\*?\w+|\(\w+\))", code):
        yield replaced(line, m.start(), m.end(), "", "the factor sizeof is left out")
    for m in re.finditer(r"\bsizeof \*(\w)", code):
        yield replaced(line, m.start(), m.end(), "sizeof " + m[1], "the size of a pointer")


def arguments(line, code):
    for m in CALL.finditer(code):
        if m[2] != m[3] and m[1] not in ("if", "for", "while", "switch", "sizeof", "calloc"):
            new = f"{m[1]}({line[m.start(3):m.end(3)]}, {line[m.start(2):m.end(2)]}"
            yield replaced(line, m.start(), m.end(), new, "two arguments are swapped")


def deletions(line, code, before):
    whole = STATEMENT.match(code) and code.count("(") == code.count(")") and not NO_STATEMENT.match(code)
    begins = re.search(r"([;{}):]|\belse|\bdo)\s*$", before) is not None
    if whole and begins and not DECLARATION.match(code):
        start = len(code) - len(code.lstrip())
        yield line[:start] + "{}", "the statement is deleted"


def mutations(text):
    """The lines of a file that can be broken, with every way to break each."""
    lines, masked = text.split("\n"), mask(text).split("\n")
    before = ""
    for i, (line, code, inside) in enumerate(zip(lines, masked, bodies(masked))):
        if inside and "assert(" not in code:
            changes = [*constants(line, code), *swaps(line, code), *conditions(line, code), *returns(line, code),
                       *sizes(line, code), *arguments(line, code), *deletions(line, code, before)]
            if changes:
                yield Line(i + 1, line, changes)
        if code.strip():
            before = code

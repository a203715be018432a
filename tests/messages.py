#!/usr/bin/env python3
"""messages.py PO... - whether what is said to people is in each language, and nothing else is.

Looks for the texts that lib/ looks up (language.h): the formats of derivations, what tr and attn_tr are called
with, the rows of articles, headings of tables; of pages also what scripts call tr with and templates have in {{"..."}},
titles of activations and what is said of scores.  Each that has a word must be a msgid of each file, translated, and
each msgid must be such a text; conversions of both are the same.  What the head of a file says of its terms and marks
is checked, too (CHINESE, TERMS).  Without files: prints the texts, as a .po to begin with."""
import re
import sys
from pathlib import Path

# Which arguments of a function or macro are such texts.
ARGUMENTS = {"attn_derive_title": (1,), "attn_derive_step": (1,), "attn_derive_part": (1,), "attn_derive_words": (1,),
             "attn_derive_cell": (1,), "attn_derive_sum": (2,), "attn_lesson_erratum": (1,), "attn_lesson_matrix": (1,),
             "attn_lesson_printed": (1,), "attn_explain_columns": (2,), "vector_row": (3,), "widened_row": (4,),
             "shape_row": (1,), "row": (1,), "of_query": (2, 3), "attn_screen_heading": (1,), "add_hint": (1,),
             "tr": (1,), "attn_tr": (1,), "HEADING": (0,), "PLACE": (0,),
             "PART": (0,), "SAY": (0,), "ERRATUM": (0,), "TABLE": (0,), "PRINTED": (0,), "MI": (0,), "MSUB": (0,)}
# What stands before lists of them, and before one alone.
LIST, ALONE = re.compile(
    r"(headings\[\w*\]|attn_article_\w+|\[ATTN_STAGE_\w+\])=$"), re.compile(r"(\.about|hidden\[\])=$")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|#[ \t]*(?:define|include)\b(?:\\\n|[^\n])*|"(?:\\.|[^"\\])*"|'
                   r"'(?:\\.|[^'\\])'|\w+|\s+|.", re.S)
# The texts that pages look up in tables: the titles of activations, and of scores that are shares what people read.
TITLE = re.compile(r'ROW\(\w+, "[^"]*", (?:\w+, ){4}("[^"]*")')
SHARE = re.compile(r'{("\w+"), ("\w+"), ("[^{}]*"),\s*ATTN_SCORE_SHARE\b')
CALL, STRING = re.compile(r"(?<![\w.])(?<!function )tr\("), re.compile(r'"((?:\\.|[^"\\])*)"(?:\s*\+\s*(?="))?')
WORD = re.compile(r"[A-Za-z]{2}")
CONVERSION = re.compile(r"%(?:(\d+)\$)?([-+ #0-9.*]*(?:hh|h|ll|l|z|j|t)?[diouxXeEfFgGcs])")

# Rules of zh.po: what is found, and what is wrong with it.
HAN, MARK = "[\u4e00-\u9fff]", "[，。；：、（）“”！？]"
CHINESE = [(f"{HAN}[,.;:!?]|[,.;:!?]{HAN}", "a half-width mark beside a Chinese character"),
           (f"{HAN}[()]|[()]{HAN}", "a half-width bracket beside a Chinese character"),
           (f"{HAN}[A-Za-z0-9√]|[A-Za-z0-9]{HAN}", "no space between Chinese and other letters"),
           (f"{MARK} (?!…)| {MARK}", "a space beside a full-width mark"),
           (f"{HAN} {HAN}", "a space between Chinese characters"),
           ("的的", "的 twice")]
# One term for each thing: others for it, and the one that is used.
TERMS = {"(?<!注意力)分数": "得分", "令牌|标记符": "词元", "遮罩|蒙版": "掩码", "内积|点乘": "点积", "矢量": "向量", "语境": "上下文", "叠放": "堆叠",
         "输出映射": "输出投影", "怎样注意|注意到": "关注", "看得见": "能看到", "自注意(?!力)": "自注意力", "前馈层": "前馈网络",
         "标准化|正规化|规范化": "归一化", "剩余流": "残差流", "激活(?!值|函数)": "激活值", "注意力模式": "注意力权重"}


def tokens(text):
    """The tokens of a file, adjacent strings joined; of macros only what they stand for."""
    out = []
    for m in TOKEN.finditer(text):
        t = m[0]
        if t.startswith("#") and "define" in t[:10]:
            t = re.sub(r"^#\s*define\s+\w+(\([^)]*\))?", "", t).replace("\\\n", " ")
            out += tokens(t) + [";"]
        elif t[0] == '"' and out and out[-1][0] == '"':
            out[-1] = out[-1][:-1] + t[1:]
        elif not t.isspace() and not t.startswith(("/*", "//", "#")):
            out.append(t)
    return out


def unquote(literal):
    s = re.sub(r"\\u([0-9A-Fa-f]{4})", lambda m: chr(int(m[1], 16)), literal[1:-1])
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), s)


def texts_of_tables(path):
    text = path.read_text()
    for m in [*TITLE.finditer(text), *SHARE.finditer(text)]:
        yield from (unquote(re.sub(r'"\s*"', "", literal)) for literal in m.groups())


def texts_of_page(path):
    """What a template or a script says; a call of tr with anything but a literal is None."""
    text = path.read_text()
    if path.suffix == ".html":
        yield from re.findall(r'\{\{"(.*?)"\}\}', text)
    for m in CALL.finditer(text if path.suffix == ".js" else ""):
        at, said = m.end(), None
        while s := STRING.match(text, at):
            at, said = s.end(), (said or "") + unquote(s[0][:s[0].rindex('"') + 1])
        yield said if said is not None and text[at] in ",)" else None


def texts_of(path):
    """Walks through brackets: of each, what stands before it, and which argument comes."""
    t, stack, lessons = tokens(path.read_text()), [], path.parent.name == "explain"
    for i, x in enumerate(t):
        before = "".join(t[max(i - 6, 0):i])
        if x in "([{":
            stack.append([t[i - 1] if x == "(" and i else "", 0, x == "{" and bool(LIST.search(before)),
                          "attn_article_" in before])
        elif x in ")]}":
            if stack:
                stack.pop()
        elif x == "," and stack:
            stack[-1][1] += 1
        elif x[0] == '"':
            name, argument, listed, article = stack[-1] if stack else ("", 0, False, False)
            if (argument in ARGUMENTS.get(name, ()) or lessons and ALONE.search(before) or
                    listed and (" " in x or not article)):
                yield unquote(x)


def has_word(text):
    return WORD.search(CONVERSION.sub("", text.replace("%%", "")))


def conversions(text):
    """What each argument is printed with; a text with another % is no format."""
    found, rest = {}, text.replace("%%", "")
    for n, m in enumerate(CONVERSION.finditer(rest)):
        found[int(m[1] or n + 1)] = m[2]
    return found


def read_po(path):
    entries, fuzzy, to = [], False, None
    for n, line in enumerate(path.read_text().split("\n"), 1):
        if m := re.match(r'(msgid|msgstr)? ?(".*")$', line):
            if m[1] == "msgid":
                entries.append({"line": n, "msgid": "", "msgstr": ""})
            to = m[1] or to
            entries[-1][to] += unquote(m[2])
    return {e["msgid"]: (e["msgstr"], e["line"]) for e in entries if e["msgid"]}


def style(text):
    """What the Chinese of a text has against the rules of its file."""
    # formulas, shapes, words
    sentence = re.sub(r"\[[^\]]*\]|(exp)?\([^()]* - [^()]*\)|%(\d\$)?s|我 爱 自然语言处理", "☐", text)
    sentence = CONVERSION.sub("0", sentence)
    yield from (f"{wrong}: {m[0]}" for rule, wrong in CHINESE if (m := re.search(rule, sentence)))
    yield from (f"{m[0]}: the term is {term}" for others, term in TERMS.items() if (m := re.search(others, text)))


def main():
    texts, pages, found = {}, set(), []
    for path in sorted(Path("lib").rglob("*.c")) + [Path("cmd/attn-cli/cmd_run.c")]:
        if path.parent.name in ("explain", "sinks", "picture", "attn-cli"):
            for text in texts_of(path):
                texts.setdefault(text, path)
        elif path.parent.name in ("variants", "answers"):
            for m in re.finditer(r'\battn_tr\(\w[^,()"]*,\s*("(?:\\.|[^"\\]|"\s*")*")', path.read_text()):
                texts.setdefault(unquote(re.sub(r'"\s*"', "", m[1])), path)
    for path in [p for ending in ("html", "js") for p in sorted(Path("lib/show/picture").rglob("*." + ending))]:
        for text in texts_of_page(path):
            if text is None:
                found.append(f"{path}: tr( takes a text in quotes, which is looked up before the page is made")
            else:
                texts.setdefault(text, path)
                pages.add(text)
    for path in (Path("lib/attn.h"), Path("lib/engine/ask/scores.c")):
        of = list(texts_of_tables(path))
        found += [] if len(of) > 10 else [f"{path}: the rows of its table look otherwise than {Path(__file__).name} "
                                          f"knows them"]
        for text in of:
            texts.setdefault(text, path)
            pages.add(text)
    for po in map(Path, sys.argv[1:]):
        said = read_po(po)
        found += [f"{path}: {po} does not have: {text}" for text, path in texts.items()
                  if has_word(text) and not said.get(text, ("",))[0]]
        found += [f"{po}:{line}: no text of the program: {text}" for text, (_, line) in said.items()
                  if text not in texts]
        found += [f"{po}:{line}: other conversions: {other}" for text, (other, line) in said.items()
                  if other and (conversions(text) != conversions(other) or
                                len({bool(m[1]) for m in CONVERSION.finditer(other)}) > 1)]
        if po.stem == "zh":
            found += [f"{po}:{line}: {wrong}: {other}" for other, line in said.values() for wrong in style(other)]
        found += [f"{po}:{line}: < & and \" are markup in a page: {other}" for text, (other, line) in said.items()
                  if text in pages and re.search('[<&"]', other)]
    if len(sys.argv) == 1:
        for text, path in filter(lambda item: has_word(item[0]), texts.items()):
            quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\u00a0", "\u00a0")
            print(f'#: {path}\nmsgid "{quoted}"\nmsgstr ""\n')
        return
    print("\n".join(found), end="\n" if found else "")
    print(f"messages: {len(texts)} texts, {len(sys.argv) - 1} languages; {len(found)} complaints")
    sys.exit(bool(found) or not texts)


main()

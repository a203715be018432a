"""help.py PROGRAM - whether help, man page and completions say the same of every command, in the form that help has.

Nothing here knows what a help says: texts may be rewritten freely.  Afterwards each check is shown a help that
breaks it (BREAKS), and must complain."""
import functools
import re
import shlex
import subprocess
import sys

WIDTH = 80
OPTION = re.compile(r"(?:  -(\w), |      )--([a-z0-9-]+)(?: (.*))?$")
found = []


# Most of what is read is read again for each of the BREAKS.
once = functools.lru_cache(maxsize=None)


def check(right, *words):
    if not right:
        found.append(" ".join(map(str, words)))


def program(*arguments):
    said = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    failed = said.returncode or said.stderr
    return f"[{said.returncode}] {said.stdout}{said.stderr}" if failed else said.stdout


def everything():
    """All that is printed, by command line."""
    says = {line: program(*line.split()) for line in
            ["help", "--help", "help all", "help edits", "help kinds", "help --man",
             *(f"help --completion {shell}" for shell in ("bash", "zsh", "fish"))]}
    for name in commands(says["help"]):
        lines = f"help {name}", f"help {name} --all", f"{name} --help", f"{name} -h"
        says.update((line, program(*line.split())) for line in lines)
    return says


def commands(tool):
    """Names and summaries."""
    return dict(terms(tool.partition("\nCommands:\n")[2].partition("\n\n")[0]))


@once
def rows(text):
    """The lists in a text: lines that begin with two spaces and a term, which column 28 or the next line explains."""
    found_rows = []
    for line in text.splitlines():
        term = line[:28] if line[26:28].strip() == "" else line
        if re.match(r"  \S|      --", line):
            found_rows.append([term.rstrip(), line[len(term):]])
        elif found_rows and line.startswith(28 * " "):
            found_rows[-1][1] += " " * bool(found_rows[-1][1]) + line[28:]
    return found_rows


def terms(text):
    return [(term.strip(), said) for term, said in rows(text)]


@once
def options(text):
    """(letter, name, value) and text, in order; a list, as one might be there twice."""
    matches = ((OPTION.match(term), said) for term, said in rows(text))
    return [((m[1] or "", m[2], m[3] or ""), said) for m, said in matches if m]


def parts(text):
    """The blocks between empty lines, of which a broken help may have too few."""
    return text.rstrip("\n").split("\n\n") + 4 * [""]


# ---- one command ---------------------------------------------------------------------------


def check_example(name, example, known):
    """Each attn-cli in an example is a command with options that it has, and values where they take one."""
    inner = example.replace('"$(', "; ").replace(')"', " ;")        # what a shell runs inside of quotes
    shell = shlex.shlex(inner, posix=True, punctuation_chars=True)
    shell.whitespace_split = True
    at, words = None, []            # at: None, outside of the program; "", its command comes next; or the command
    for word in shell:
        if re.fullmatch(r"[;&|<>()]+", word):
            at = None
        elif word == "attn-cli":
            at = ""
        elif at == "":
            at = word
            words.append(word)
            check(word in known, f"help {name}: its example calls {word}")
        elif at in known and re.match(r"--?[a-zA-Z]", word):
            has = ["--" + option for _, option, _ in known[at]] + ["-" + letter for letter, _, _ in known[at]]
            check(word.partition("=")[0] in has, f"help {name}: its example gives {at} {word}")
    return words


def check_examples(name, block, known):
    lines = block.split("\n")
    check(lines[0] == "Examples:", f"help {name}: begins with {lines[0]!r} and not with examples")
    uses = [line[2:] for line in lines[1:] if re.match("  \\S", line)]
    check(uses and len(lines) > 2 * len(uses), f"help {name}: not every example is explained")
    for before, line in zip(lines[1:], lines[2:]):
        check(re.match("      \\S", line) or re.match("  \\S", line) and not re.match("  \\S", before),
              f"help {name}: stands among the examples: {line!r}")
    calls = [check_example(name, use, known) for use in uses]
    check(calls and name in calls[0], f"help {name}: its first example calls", *calls[:1])
    check(all(calls), f"help {name}: an example calls nothing")


def check_prose(name, blocks):
    """Usage, then paragraphs or lists up to the first heading."""
    usage = " ".join(blocks[0].split())
    check(usage.startswith(f"Usage: attn-cli {name}"), f"help {name}: has no usage where it should be: {usage}")
    prose = blocks[1].split("\n") if len(blocks) > 1 else []
    check(prose and prose[0][:1].strip(), f"help {name}: has no text after its usage")
    check(prose and prose[-1].endswith("."), f"help {name}: a text ends without a full stop: {prose[-1:]}")


def check_lines(line, said):
    check(said and not said.startswith("["), f"{line} fails: {said[:200]}")
    for row in said.splitlines():
        check(row == row.rstrip() and "\t" not in row, f"{line}: white space at an end, or a tab: {row!r}")
        example = re.match("  \\S", row) and "attn-cli " in row         # is one line, to be copied
        check(len(row) <= WIDTH or example, f"{line}: wider than {WIDTH} columns: {row}")
    check(said.endswith("\n") and not said.endswith("\n\n"), f"{line}: does not end with one line end")


def check_options(name, short, full):
    keys = [key for key, _ in full]
    for letter, option, value in keys:
        check(sum(o == option for _, o, _ in keys) == 1, f"help {name} --all: has --{option} more than once")
        alone = not letter or sum(other == letter for other, _, _ in keys) == 1
        check(alone, f"help {name} --all: has -{letter} more than once")
        check(re.fullmatch(r"[\w|:=@/\[\]]*", value), f"help {name}: --{option} takes {value!r}")
    for (_, option, _), text in full:
        check(text and not text.endswith(tuple(".,;:")), f"help {name}: --{option} is explained by {text!r}")
        check(text.count("(") == text.count(")"), f"help {name}: --{option}: a bracket stays open: {text!r}")
    rest = iter(full)
    check(all(row in rest for row in short), f"help {name}: has options, or an order, that --all has not")
    for needed in ("help", "version", "quiet"):
        check(any(o == needed for _, o, _ in keys), f"help {name} --all: has no --{needed}")


def check_command(name, summary, says, known):
    short, full = says[f"help {name}"], says[f"help {name} --all"]
    every = {option for rows_of_one in known.values() for _, option, _ in rows_of_one}
    blocks = parts(short)
    check(" ".join(blocks[0].split()) == f"attn-cli {name} - {summary}", f"help {name}: begins with {blocks[0]!r}")
    check_examples(name, blocks[1], known)
    check_prose(name, blocks[2:])
    few, all_of_them = options(short), options(full)
    check_options(name, few, all_of_them)
    more = re.search(rf"^For (\d+) more options(?:, edits and .*)?: attn-cli help {name} --all$", short, re.M)
    left = len(all_of_them) - len(few)
    says_left = int(more[1]) if more else 0
    check(says_left == left, f"help {name}: leaves out {left} options and says {more and more[0]!r}")
    check(more or short == full, f"help {name}: --all differs, and nothing says so")
    for line in f"{name} --help", f"{name} -h":
        check(name == "help" or says[line] == short, f"{line} differs from help {name}")
    check(f"\n\n{full}" in says["help all"], f"help all: has not what help {name} --all prints")
    for option in re.findall(r"(?<![\w-])--([a-z][a-z0-9-]*)", full):
        check(option in every, f"help {name}: speaks of --{option}, which no command has")


# ---- man page and completions --------------------------------------------------------------


def unroff(text):
    text = re.sub(r"\\f[BIR]", "", text).replace("\\&", "").replace("\n.br\nEnvironment: ", " [$")
    for escape, plain in (("\\-", "-"), ("\\(aq", "'"), ("\\(ti", "~"), ("\\(ha", "^"), ("\\(ga", "`"), ("\\e", "\\")):
        text = text.replace(escape, plain)
    return text


@once
def man_options(section):
    return list(each_man_option(section))


def each_man_option(section):
    row = r"^\.TP\n((?:\\fB\\-\w\\fR, )?\\fB\\-\\-.*)\n((?:[^.\n].*\n?|\.br\n.*\n?)+)"
    for m in re.finditer(row, section, re.M):
        term, text = unroff(m[1]), " ".join(unroff(m[2].rstrip("\n")).split())
        yield from options(f"  {'' if term[1] != '-' else 4 * ' '}{term}\n{'':28}{text}{']' * ('[$' in text)}\n")


def check_man(page, names, says):
    titles = re.findall(r"^\.SH (.*)", page, re.M)
    wanted = "NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS".split()
    check(page.startswith(".TH ATTN") and titles[:5] == wanted, "help --man: has the sections", *titles)
    sections = dict(re.findall(r"^\.SS (\w+)\n(.*?)(?=^\.S[SH] )", page, re.M | re.S))
    check(list(sections) == list(names), "help --man: has the commands", *sections)
    for name, section in sections.items():
        same(f"help --man: {name}", man_options(section), options(says.get(f"help {name} --all", "")))
    page = unroff(page)
    for name, summary in names.items():
        check(f"\n.B {name}\n{summary}\n" in page, f"help --man: does not list {name}")
        for use in re.findall("^  (\\S.*)", parts(says[f"help {name}"])[1], re.M):
            check(f".RS\n{use}\n.RE" in page, f"help --man: has not the example {use}")


def same(where, got, want):
    """Two lists of options, and what is said of each."""
    one_side = dict(got).keys() ^ dict(want).keys()
    check([k for k, _ in got] == [k for k, _ in want], f"{where}: has other options:", *one_side)
    for key, text in got:
        check(text == dict(want).get(key, text), f"{where}: of --{key[1]} it says {text!r}")


def brief(text):
    return re.split(r" ?[(:;]", text, maxsplit=1)[0].replace(" [$ATTN_MODEL]", "")


@once
def briefly(text):
    return sorted((key, brief(said)) for key, said in options(text))


def bash_options(case):
    names = re.search(r"\*\) _attn_cli_\w+(?: -f)? '([^']*)'", case)[1].split()
    values = {o: (letter, o) for letter, o in re.findall(r"^        (?:-(\w)\|)?--([a-z0-9-]+)\) .* ;;$", case, re.M)}
    return [n[2:] for n in names if n.startswith("--")], values


def check_bash(script, names, known):
    cases = dict(re.findall(r"^    (\w+)\)\n(.*?esac) ;;$", script, re.M | re.S))
    check(sorted(cases) == sorted(names), "bash: completes the commands", *cases)
    check(f"        _attn_cli_words '{' '.join(names)} --help --version'" in script, "bash: offers other commands")
    for name, case in cases.items():
        got, values = bash_options(case)
        has = known.get(name, [])
        all_of_them = sorted(option for _, option, _ in has)
        check(sorted(got) == all_of_them, f"bash: {name} has other options:", *set(got) ^ set(all_of_them))
        want = {o: (letter, o) for letter, o, value in has if value}
        one_side = values.items() ^ want.items()
        check(values == want, f"bash: {name}: values are completed of other options:", *one_side)


@once
def zsh_options(case):
    return sorted(each_zsh_option(case))


def each_zsh_option(case):
    for line in re.findall(r"^ {12}'(.*?)'(?: \\| ;;)$", case, re.M):
        line = line.replace("'\\''", "\0")
        m = re.match(r"\(-(\w) --([a-z0-9-]+)\)'\{-\1\+?,--\2=?\}'\[(.*)", line) or \
            re.match(r"()--([a-z0-9-]+)=?\[(.*)", line)
        if m:
            text, _, value = m[3].replace("\\]", "\1").partition("]")
            value = re.match(r":((?:\\.|[^:\\])*):|$", value)[1] or ""
            plain = [re.sub(r"\\(.)", r"\1", s.replace("\1", "\\]")).replace("\0", "'") for s in (value, text)]
            yield (m[1], m[2], plain[0]), " ".join(plain[1].split())


def check_zsh(script, names, says):
    cases = dict(re.findall(r"^    (\w+)\)\n(        _arguments.*?) ;;$", script, re.M | re.S))
    check(sorted(cases) == sorted(names), "zsh: completes the commands", *cases)
    listed = script.partition("commands=(")[2].partition("\n    ((")[0]
    offered = re.findall(r"^        '(\w+):(.*?)'\)?$", listed, re.M)
    offered = {name: text.replace("'\\''", "'").replace("\\", "") for name, text in offered}
    check(offered == names, "zsh: offers other commands", *offered.items() ^ names.items())
    for name, case in cases.items():
        same(f"zsh: {name}", zsh_options(case + " ;;"), briefly(says.get(f"help {name} --all", "")))


def fish_options(lines):
    for line in lines:
        m = re.match(r"-l ([a-z0-9-]+)(?: -s (\w))?( -[xr].*?)? -d '(.*)'$", line)
        if m:
            yield (m[2] or "", m[1], bool(m[3])), " ".join(re.sub(r"\\(.)", r"\1", m[4]).split())


def check_fish(script, names, says):
    lines = re.findall(r"^complete -c attn-cli -n '__fish_seen_subcommand_from (\w+)' (.*)", script, re.M)
    check({name for name, _ in lines} == set(names), "fish: completes the commands", *{name for name, _ in lines})
    offered = re.findall(r"^complete -c attn-cli -n __fish_use_subcommand -a (\w+) -d '(.*)'$", script, re.M)
    offered = {name: re.sub(r"\\(.)", r"\1", text) for name, text in offered}
    check(offered == names, "fish: offers other commands", *offered.items() ^ names.items())
    for name in names:
        want = sorted(((letter, o, bool(v)), text) for (letter, o, v), text in briefly(says[f"help {name} --all"]))
        same(f"fish: {name}", sorted(fish_options(line for n, line in lines if n == name)), want)


# ---- all of it -----------------------------------------------------------------------------


def check_tool(tool, names, says):
    check(says["--help"] == tool, "--help differs from help")
    blocks = parts(tool)
    check(re.match(r"attn-cli - \S", blocks[0]), f"help: begins with {blocks[0]!r}")
    check(blocks[1].startswith("Examples:\n"), f"help: begins with {blocks[1]!r} and not with examples")
    check(says["help all"].startswith(tool), "help all: does not begin with help")
    variables = tool.partition("\nEnvironment:\n")[2].partition("\n\n")[0]
    named = {v for term, _ in terms(variables) for v in term.split(", ")}
    used = set(re.findall(r"\[\$(\w+)\]", says["help all"]))
    check(used and used <= named, "help: does not list the variables", *used - named)
    statuses = tool.partition("\nExit status:\n")[2].partition("\n\n")[0]
    check([term for term, _ in terms(statuses)][:3] == ["0", "1", "2"], "help: lists the statuses", statuses)
    for topic in ("edits", "kinds"):
        check(says[f"help {topic}"] in says["help run --all"], f"help run --all: has not what help {topic} prints")


def check_all(says):
    found.clear()
    names = commands(says["help"])
    check(len(names) > 20, "help: lists only", *names)
    known = {name: [key for key, _ in options(says[f"help {name} --all"])] for name in names}
    for line, said in says.items():
        if "--man" not in line and "--completion" not in line:
            check_lines(line, said)
    for name, summary in names.items():
        check_command(name, summary, says, known)
    check_tool(says["help"], names, says)
    check_man(says["help --man"], names, says)
    check_bash(says["help --completion bash"], names, known)
    check_zsh(says["help --completion zsh"], names, says)
    check_fish(says["help --completion fish"], names, says)
    return list(found), sum(map(len, known.values()))


def check_parser(says):
    """The program takes a value where help names one, and none where it names none."""
    found.clear()
    for name in commands(says["help"]):
        for _, option, value in [key for key, _ in options(says[f"help {name} --all"])]:
            if value in ("true|false", ""):
                said = program(name, f"--{option}", "--help")
                other = option in ("help", "version") or name == "help" and said[:1] != "["
                check(other or said == says[f"help {name}"], f"{name} --{option} --help: {said[:100]}")
            else:
                said = program(name, f"--{option}")
                check(f"--{option} needs a value: --{option} {value}\n" in said, f"{name} --{option}: {said[:100]}")
    return list(found)


# What is changed in one of the outputs, and what must be said then.
BREAKS = [
    ("help merge", r"\A", "note\n", "begins with"),
    ("help merge", " - join", " - Join", "begins with"),
    ("help merge", r"\A.*", "[1] no", "help merge fails"),
    ("help merge", "^Examples:", "For example:", "and not with examples"),
    ("help merge", r"^      the shards of a stream\n", "", "not every example is explained"),
    ("help merge", "attn-cli merge part", "attn-cli join part", "its example calls join"),
    ("help merge", "-o all", "-O all", "its example gives merge -O"),
    ("help merge", "--summary heads", "--summery heads", "its example gives merge --summery"),
    ("help merge", "  attn-cli merge", "  attn-cli batch", "its first example calls"),
    ("help merge", "^Usage: attn-cli merge", "Usage: merge", "has no usage"),
    ("help merge", r"as they are\.$", "as they are", "without a full stop"),
    ("help merge --all", r"^(  -o, .*?)(?=^      --s)", r"\1\1", "has --output more than once"),
    ("help merge --all", "^  -q,", "  -o,", "has -o more than once"),
    ("help merge --all", "^  -q.*?only errors\n", "", "has no --quiet"),
    ("help merge --all", "--summary PATH  ", "--summary <PATH>", "takes '<PATH>'"),
    ("help merge --all", "in this file$", "in this file.", "is explained by"),
    ("help merge --all", r"output\)", "output", "a bracket stays open"),
    ("help merge --all", "--shard", "--part-of", "speaks of --part-of"),
    ("help merge --all", "also join", "and join", "nothing says so"),
    ("help merge", "linked, not copied", "linked, not copied, and not moved", "wider than 80"),
    ("help merge", "$", " ", "white space at an end"),
    ("help merge", r"\Z", "\n", "does not end with one line end"),
    ("help run", r"^For (\d)", r"For 1\1", "and says 'For 1"),
    ("help run", "^  -s, --sentence", "  -s, --text", "has options, or an order"),
    ("help run", "^For .*", "", "and says None"),
    ("merge --help", "stream", "river", "merge --help differs"),
    ("merge -h", "stream", "river", "merge -h differs"),
    ("help all", "the shards of a stream", "shards", "has not what help merge --all prints"),
    ("help all", r"\A", "note\n", "does not begin with help"),
    ("help", "^  ATTN_MODEL   ", "  ATTN_MODELS  ", "does not list the variables ATTN_MODEL"),
    ("help", "^  2  ", "  3  ", "lists the statuses"),
    ("help", "^Examples:", "For example:", "and not with examples"),
    ("help", "^  merge  .*?(?=^  tokenize)", "", "completes the commands"),
    ("--help", "stream|sentence", "river", "--help differs"),
    ("help edits", r"\A(.*?\n.*?\n)", r"\1\1", "has not what help edits prints"),
    ("help kinds", r"window", "windows", "has not what help kinds prints"),
    ("help --man", r"^\.SH COMMANDS", ".SH PROGRAMS", "has the sections"),
    ("help --man", r"^\.SS merge.*?(?=^\.SS)", "", "has the commands"),
    ("help --man", r"(^\.SS merge.*?)^\.TP\n\\fB\\-\\-s.*?(?=^\.TP)", r"\1", "merge: has other options: ('', 'sum"),
    ("help --man", "the shards of a batch", "shards", "does not list merge"),
    ("help --man", r"(^\.SS merge.*?summary\\fR \\fI)PATH", r"\1FILE", "help --man: merge: has other options"),
    ("help --man", "also join their", "join their", "help --man: merge: of --summary it says"),
    ("help --man", r"^attn\\-cli merge part.*?$", "", "has not the example attn-cli merge"),
    ("help --completion bash", r"^    merge\).*?esac ;;\n", "", "bash: completes the commands"),
    ("help --completion bash", "batch merge", "batch", "bash: offers other commands"),
    ("help --completion bash", " --summary --quiet", " --quiet", "bash: merge has other options"),
    ("help --completion bash", r"(^    merge\).*?)-o\|--output", r"\1--output", "bash: merge: values are completed"),
    ("help --completion zsh", r"^    merge\)\n        _arg.*?;;\n", "", "zsh: completes the commands"),
    ("help --completion zsh", r"(   merge\)\n        _.*?)^ *'--summary.*?\n", r"\1", "zsh: merge: has other options"),
    ("help --completion zsh", "also join", "join", "zsh: merge: of --summary"),
    ("help --completion zsh", "'merge:join", "'merge:Join", "zsh: offers other commands"),
    ("help --completion fish", "from merge", "from join", "fish: completes the commands"),
    ("help --completion fish", "-a merge -d", "-a join -d", "fish: offers other commands"),
    ("help --completion fish", "^[^\n]*from merge' -l summary[^\n]*\n", "", "fish: merge: has other options"),
    ("help --completion fish", "(from merge' -l output -s o) -r", r"\1", "fish: merge: has other options"),
    ("help --completion fish", "also join", "join", "fish: merge: of --summary"),
]

PROGRAM = sys.argv[1]
outputs = everything()
complaints, count = check_all(outputs)
complaints += check_parser(outputs)
for which, pattern, by, what in BREAKS:
    broken = re.sub(pattern, by, outputs[which], count=1, flags=re.M | re.S)
    said, _ = check_all({**outputs, which: broken})
    if broken == outputs[which] or not any(what in s for s in said):
        complaints.append(f"{which}: with {by!r} for {pattern!r} nobody says {what!r} but {said[:3]}")
print("\n".join(complaints), end="\n" if complaints else "")
print(f"{count} options, {len(BREAKS)} ways to break them, {len(complaints)} complaints")
sys.exit(bool(complaints) or not count)

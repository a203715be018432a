"""faults.py faults|places|kills BINARY FAULT_SO [K] - fails, or kills at, each call to the system that a command makes.

Each scenario is a command in a directory of its own, in /dev/shm.  It first runs undisturbed, which gives the number of
its calls and what it should leave.  Then it runs once for each call, from the same start, and this call fails
(`faults`: memory, opening, reading, writing, renaming ...; alone, or with all later ones of its kind) or the process is
killed right before or after it (`kills`: calls that change files).  It is a finding when
  - a fault ends in a signal, a hang, a status that is not 0 and no message, or in success with other bytes;
  - afterwards a file is neither what it was nor what it should become, or is lost; after a fault, also when a temporary
    file is left; the exceptions are files that the manual says are in progress (PATH.part, the members of an unfinished
    directory);
  - the same command, undisturbed, with --resume or --force where the manual says so, then does not lead to the same
    bytes as ever.
`places` fails a call once for each place of the program that makes it, wherever it comes first: seconds instead of
hours.  With a number K after the library it is each K-th place alone.  SEED, ATTACK_SECONDS (0: all cases) and
ATTACK_JOBS are read from the environment; CASE=scenario:how:call:pick repeats one case.
"""
import concurrent.futures
import contextlib
import os
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

TEMP = re.compile(r'(^|/)\.(attn-[0-9a-f]{16}\.tmp$|attn-\w{6}(/|$)|[^/]+\.part(/|$))')
UNTIDY = {'unlink', 'unlinkat', 'remove', 'rmdir'}      # where these fail, nothing can be tidied up
INPUT = 'printf "%s\\n" "Life is short" "eat dessert first" "bad word" "short dessert" "Life" >in.txt; '
SHARDS = INPUT + 'for i in 0 1; do $A batch -q -f in.txt --shard $i/2 OPTIONS -o part.$i || test $? = 3; done'
TINY = ('train -q -f text.txt --vocab-size 260 --n-ctx 8 --n-layer 1 --n-head 1 --d-model 8 --batch 2 --steps 4 '
        '--save-every 2 '
        '--eval-every 2 --warmup 1 -t 1 -o t')
TEXT = 'for i in 1 2 3 4 5 6; do echo "the cat sat on the mat $i and the dog ran"; done >text.txt; '
# Kills a training as soon as it has saved a checkpoint.
KILLED = ('n=20; until test -e t/loss.csv; do rm -rf t; n=$((n+1)); '
          'LD_PRELOAD=$SHIM FAULT_STATE=$STATE FAULT_HOW=after FAULT_AT=$n $A ' +
          TINY + ' || test $? = 137; done 2>/dev/null; rm -f t/.attn-*.tmp')
FULL = '$A run -m life -s "Life is short" --show "*" %s; '


ROOT = os.getcwd()
MODULE = 'module'                       # a command of module.py instead of the program's


STATE, SITES = 128, 1 << 16             # fault.c: bytes of struct state before `site`, and how many there are


class Scenario:
    """`again` finishes what was disturbed; `growing` says which files may be in progress; `reads` is a command that
    must say of the output what it says of the old or the new one, or refuse it; output with `admits` in it owns up
    to the fault."""
    def __init__(self, name, command, setup='', again=None, growing=None, reads=None, admits=None):
        self.name, self.command, self.setup, self.again = name, command, setup, again or command
        self.growing = growing and re.compile(growing)
        self.reads, self.admits = reads, admits and re.compile(admits)


def run_scenarios():
    for f in 'text json csv tidy npy npz term png svg html'.split():
        out = {'csv': 'out', 'npy': 'out', 'text': 'out.txt', 'term': 'out.txt'}.get(f, 'out.' + f)
        yield Scenario('run-' + f, f"run -t 1 -m life -s 'Life is short' --format {f} -o {out}",
                       growing=r'^out/manifest\.json\.part$')
    yield Scenario('run-stdout', "run -t 2 -m stacked -s 'The cat sees the moth' --show '*' --format json")
    yield Scenario('run-over', "run -t 1 -m life -s 'eat dessert' --format npy -o out",
                   "$A run -m life -s Life --show '*' --format npy "
                   '-o out; echo mine >out/notes', growing=r'^out/(manifest\.json(\.part)?|blocks.*)$',
                   reads='plot out --format svg')


def batch_scenarios():
    for f in 'ndjson tidy npy csv stack'.split():
        some = 'Life is short\\neat dessert first\\nfirst dessert short\\n' if f == 'stack' else ''
        setup = f'printf "{some}" >in.txt' if some else INPUT
        yield Scenario('batch-' + f, f'batch -q -t 1 -m life -f in.txt --format {f} -o out', setup,
                       again=f'batch -q -t 1 -m life -f in.txt --format {f} -o out --resume',
                       growing=r'^out(\.part|\.part\.json|/.*)?$')
    command = 'batch -q -t 2 -m life -f in.txt -o out.ndjson --summary s.csv'
    yield Scenario('batch-summary', command, INPUT, again=command + ' --resume',
                   growing=r'^(out\.ndjson|s\.csv)\.part(\.json)?$')
    yield Scenario('batch-resume', command + ' --resume',
                   INPUT + '$A batch -q -m life -f in.txt -o out.ndjson --summary s.csv '
                   '--max-seconds 1e-9 || test $? = 75', growing=r'^(out\.ndjson|s\.csv)(\.part)?(\.json)?$')
    yield Scenario('batch-force', 'batch -q -t 1 -m life -f in.txt -o out --format npy --force',
                   INPUT + '$A batch -q -m life -f in.txt '
                   '-o out --show dots --format npy --max-seconds 1e-9 || test $? = 75',
                   growing=r'^out(\.part|\.part\.json|/.*)?$')
    for f in 'ndjson tidy npy stack'.split():
        setup = SHARDS.replace('OPTIONS', '-m life --format ' + f)
        if f == 'stack':
            setup = 'for i in 1 2 3 4; do echo Life is short; done >in.txt; ' + setup[len(INPUT):]
        yield Scenario('merge-' + f, 'merge part.0 part.1 -o all', setup,
                       growing=r'^all(/.*)?$' if f in ('npy', 'stack') else None)
    yield Scenario('merge-summary', 'merge part.0 part.1 -o all --summary all.csv',
                   SHARDS.replace('OPTIONS', '-m life --summary s$i.csv'))


def other_scenarios():
    grows = r'^t/.*$'
    yield Scenario('train', TINY, TEXT, again=TINY + ' --resume', growing=grows)
    yield Scenario('train-resume', TINY + ' --resume', TEXT + KILLED, growing=grows)
    yield Scenario('train-watch', TINY + " --watch-every 2 -s 'the cat sat'", TEXT,
                   again=TINY + " --watch-every 2 -s 'the cat sat' --resume",
                   growing=grows)
    yield Scenario('gradients', 'train -q -m stacked -t 1 --ids 5,1,2,7 --gradients grad.safetensors')
    yield Scenario('generate', "generate -t 1 -s 'Once upon' -n 4")
    yield Scenario('generate-json',
                   "generate -t 2 -m stacked -s 'The cat' -n 3 --format json --show pattern -o out.npz")
    yield Scenario('score', "score -t 1 -m stacked -s 'The cat sees the moth' --format json")
    yield Scenario('tokenize', "tokenize -s 'Once upon a time' --format json")
    yield Scenario('tokenize-decode', 'tokenize -m life --decode --ids 0,4,5')
    yield Scenario('diff-npz', 'diff a.npz b.npz --all', FULL % '-o a.npz' + FULL % '--scale none -o b.npz')
    yield Scenario('diff-dir', 'diff a b.json --format json', FULL % '--format npy -o a' + FULL % '-o b.json')
    yield Scenario('diff-models', "diff -m life --with life-full -s 'Life is short' -t 1")
    yield Scenario('plot-png', 'plot a -o out.png', FULL % '--format csv -o a')
    yield Scenario('plot-html', 'plot a.npz -o out.html', FULL % '-o a.npz')
    yield Scenario('plot-term', 'plot a.tidy --format term', FULL % '--format tidy -o a.tidy')
    yield Scenario('explain', "explain -t 1 -m life -s 'Life is short' -o out.html")
    yield Scenario('variants', "variants -t 1 -m life -s 'Life is short' --kinds 'causal window:2 linear' -o out.svg")
    yield Scenario('info', 'info -m ./m --check --digest full --format json', 'cp -r "$MODELS/stacked" m',
                   admits=rb'"tokenizer": ?null')
    yield Scenario('info-text', "info -s 'Life is short' -m life",
                   admits=rb'tokenizer +none \(|products +plain loops, .*: ')
    yield Scenario('init', 'init -o m --vocab vocab.json --n-layer 1 --n-head 1 --d-model 4 --seed 3',
                   '$A vocab -q -s "a b c" -o vocab.json')
    yield Scenario('init-over', 'init -o m --family llama --vocab-size 9 --n-layer 1 --n-head 1 --n-kv-head 1 '
                   '--d-model 4 --d-mlp 4 --n-ctx 8',
                   '$A init -o m --family gpt2 --vocab-size 7 --n-layer 1 --n-head 1 --d-model 4 --n-ctx 8; '
                   'echo mine >m/notes')
    yield Scenario('vocab', "vocab -s 'Life is short' -o vocab.json", 'echo {} >vocab.json')
    yield Scenario('vocab-bpe', 'vocab --bpe --size 262 -f text.txt -o v', TEXT)


def opening_scenarios():
    """Models and tokenizers of every family, from their own files."""
    copy = 'cp -r "$GOLDEN/%s/%s" m'
    for name in sorted(os.listdir('tests/golden/checkpoints')):
        yield Scenario('open-' + name, 'run -t 1 -m ./m --ids 1,2,3 --show logits --format json',
                       copy % ('checkpoints', name))
    for name in sorted(n for n in os.listdir('tests/golden/tokenizers') if '.' not in n):
        yield Scenario('read-' + name, "tokenize -m ./m -s 'Hello 12 w\u00f6rld' --bos auto --format json",
                       copy % ('tokenizers', name))
    for name in sorted(os.listdir('tests/golden/gguf')):
        yield Scenario('gguf-' + name, 'run -t 1 -m ./m --ids 1,2,3 --show logits --format json', copy % ('gguf', name))
    gguf = copy % ('gguf', 'llama-spm-q8_0')
    yield Scenario('gguf-tokenize', 'tokenize -m ./m -s "the cat" --format json', gguf)
    yield Scenario('gguf-lens', 'lens -t 1 -m ./m --ids 1,2,3 --format csv', gguf)
    yield Scenario('gguf-info', 'info -m ./m --check --format json', gguf, admits=rb'"tokenizer": ?null')
    yield Scenario('gguf-tensor', 'info -m ./m --tensor blk.0.attn_q.weight --stored integers --format csv', gguf)
    yield Scenario('gguf-convert', 'convert -q -m ./m -o out', gguf)
    for name in sorted(os.listdir('tests/golden/student')):
        model = next(f for f in sorted(os.listdir('tests/golden/student/' + name))
                     if f.endswith(('.pt', '.bin', 'weights.json', '.safetensors')))
        path = 'm' if name.startswith('mlx') else 'm/' + model
        yield Scenario('course-' + name, f'run -t 1 -m ./{path} --ids 1,2,3 --show logits --format json',
                       copy % ('student', name))
    lecture = copy % ('student', 'lecture-a') + '; echo abc >text; '
    yield Scenario('course-given',
                   'run -t 1 -m m/model.pt --as lecture-video --ids 1,2,3 --show logits --format json', lecture)
    yield Scenario('diff-course', 'diff -t 1 -m m/model.pt --as scale=head --with m/model.pt --as scale=width --ids '
                   '1,2 --format json', lecture)
    yield Scenario('course-auto', 'convert -m m/model.pt --vocab m/v.json --as auto -f text -o out', lecture
                   + 'seq 25 | jq -s "map([96 + .] | implode)" >m/v.json')
    yield Scenario('course-tokenize', 'tokenize -m ./m -s "abc" --format json', copy % ('student', 'microgpt-a'))
    yield Scenario('course-lens', 'lens -t 1 -m ./m --ids 1,2,3 --format csv', copy % ('student', 'microgpt-a'))
    two = copy % ('checkpoints', 'gpt2-a') + '; cp -r m n; sed -i "s/97/96/" n/vocab.json; '
    yield Scenario('diff-dirs', 'diff -t 1 -m ./m --with ./n -s he --all --format json', two,
                   admits=rb'"tokenizer": {[^}]*null')
    yield Scenario('convert', 'convert -q -m ./m -o out', copy % ('checkpoints', 'llama-f'))
    yield Scenario('batch-part', 'batch -q -t 1 -m life -f in.txt --shard 1/2 -o out', INPUT,
                   again='batch -q -t 1 -m life -f in.txt --shard 1/2 -o out --resume', growing=r'^out\.part(\.json)?$')
    yield Scenario('plot-times', 'plot t/watch -o out.svg', TEXT + '$A ' + TINY + " --watch-every 2 -s 'the cat sat'")
    yield Scenario('explain-text', "explain -t 1 -m life -s 'Life is short' --dropout 0.5")
    yield Scenario('explain-md', "explain -t 1 -m stacked -s 'The cat' --format md --attention linear -o out.md")
    yield Scenario('worksheet', "lesson -t 1 -m life -s 'Life is short' --blank 3 --answers -o out.pdf")
    yield Scenario('labels', "run -t 1 -m ./m --ids 5,1,2 --labels names.txt --format csv --csv-safe -o out",
                   copy % ('checkpoints', 'gpt2-a')
                   + "; seq 97 | sed 's/^/=w/' >names.txt", growing=r'^out/manifest\.json\.part$')


def asking_scenarios():
    of, another = "-m stacked -t 1 -s 'The cat sees'", "--from 'The moth sees'"
    sources = ("--edit 'L0H0 = from' --edit 'L1.mlp.out -= mean(texts(in.txt))' --edit 'L2.resid_post += 2*a.npz' "
               "--patch 'L1H2[pos=\"cat\"]'")
    texts = ('printf "%s\\n" "The cat sees" "the moth" >in.txt; '
             '$A run -m stacked -s "The cat sees" --show resid_post -o a.npz; ')
    yield Scenario('edited-run', f'run {of} {another} {sources}', texts)
    yield Scenario('edited-json',
                   f"run {of} --edits e.txt --steer x/blocks.1.resid_post.npy:0.5@1 --format json -o out.json",
                   'printf "# all\\nL*H0 = 0\\n\\npattern[key=-1] = uniform\\n1.2 += noise(0.1,7)\\n" >e.txt; '
                   '$A run -m stacked -s The --show resid_post --layer 1 --format npy -o x')
    yield Scenario('edited-dry', f"run {of} --edit 'L*H0-2.pattern[pos=1] = 0' --dry-run")
    yield Scenario('edited-generate', "generate -m stacked -t 1 -s 'The cat' -n 2 --edit 'L1H0[pos=new] = 0'")
    yield Scenario('edited-score', "score -m stacked -t 1 -s 'The cat sees the moth' --ablate 1.2 --format json")
    yield Scenario('edited-batch',
                   "batch -q -m stacked -t 1 -f in.txt -o out --ablate L0H1 --summary s.csv --summary-form tidy", texts,
                   again='batch -q -m stacked -t 1 -f in.txt -o out --ablate L0H1 --summary s.csv --summary-form '
                   'tidy --resume',
                   growing=r'^(out|s\.csv)\.part(\.json)?$')
    yield Scenario('edited-page', "run -m stacked -t 1 -s 'The cat' --format html --ablations -o out.html")
    yield Scenario('slopes',
                   f"run {of} --gradient 'logit(\"cat\")-prob(5)' --edit 'L0H1 *= 2' --times --show '*' -o out.npz")
    yield Scenario('slopes-loss', f"run {of} --gradient loss --format json")
    yield Scenario('derived', f"run {of} --show result,norms,rollout,lens,mask,mask_inf --format csv -o out",
                   growing=r'^out/manifest\.json\.part$')
    yield Scenario('heads', "heads -m stacked -t 1 --repeat 3 --samples 2 --copying --format csv -o out.csv")
    yield Scenario('heads-texts', "heads -m stacked -t 1 -f in.txt --by entropy --top 3", texts)
    yield Scenario('heads-drawn', "heads -m stacked -t 1 -f in.txt -o out.png", texts)
    yield Scenario('looks', f"lens {of} --target cat --points all --top 2")
    for f in 'json svg html'.split():
        yield Scenario('looks-' + f, f"lens {of} --format {f} -o out.{f}")
    yield Scenario('shares', f"attribute {of} --target cat --foil moth --neurons 3")
    yield Scenario('shares-csv', f"attribute {of} --target 5 --ablate L0H1 --format tidy -o out.csv")
    grid = f"patch {of} {another} --metric 'logit(\"cat\")'"
    yield Scenario('grid', f"{grid} --what v --over layer,head,pos --edit 'L0.mlp.out *= 0.5'")
    yield Scenario('grid-gradient', f"{grid} --what context --over layer,pos --method gradient --format json")
    yield Scenario('grid-ig', f"{grid} --what embed --over pos --method ig:3 --format csv -o out.csv")
    yield Scenario('grid-html', f"{grid} --what mlp.out --over layer,pos -o out.html")
    records = ('echo \'{"text":"The cat sees","from":"The moth sees","answer":"cat"}\' >in.ndjson; '
               'echo \'{"text":"the","from":"cat sees",'
               '"answer":3}\' >>in.ndjson; echo \'{"ids":[1,2,3],"from_ids":[1,2,4],"answer":3}\' >>in.ndjson; ')
    grids = ("batch -q -m stacked -t 1 -f %s --patch resid_pre --over layer,pos --metric 'logit({answer})' -o out "
             "--summary s.csv")
    for f in 'ndjson tidy'.split():
        again = grids % 'in.ndjson' + ' --format ' + f
        yield Scenario('grids-' + f, again, records, again=again + ' --resume',
                       growing=r'^(out|s\.csv)\.part(\.json)?$')
    yield Scenario('grids-merge', 'merge part.0 part.1 -o all --summary all.csv',
                   records + 'for i in 0 1; do $A ' + grids.replace(
        '-o out --summary s.csv', '-o part.$i --summary s$i.csv --shard $i/2') % 'in.ndjson' + ' || test $? = 3; done')


def module_scenarios():
    """The module for Python, also in threads with little stack: what is too little is an error."""
    with contextlib.suppress(ImportError):
        import numpy  # noqa: F401
        for kilobytes in (0, 256):
            yield Scenario(f'{MODULE}-{kilobytes}', f'{MODULE} {kilobytes}')


SCENARIOS = {s.name: s for f in (run_scenarios, batch_scenarios, other_scenarios, asking_scenarios, opening_scenarios,
                                 module_scenarios)
             for s in f()}


# ---- one run of a command -----------------------------------------------------------------

class Ended:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


class Place:
    """A directory in memory in which one worker runs commands."""
    def __init__(self, binary, shim):
        self.binary, self.shim = binary, shim
        self.top = tempfile.mkdtemp(prefix='attn-attack-', dir='/dev/shm' if os.path.isdir('/dev/shm') else None)
        self.dir, self.state = os.path.join(self.top, 'd'), os.path.join(self.top, 'state')
        with open(self.state, 'wb') as f:
            f.truncate(STATE + 8 * SITES)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith('ATTN')}
        models = os.path.join(os.getcwd(), 'models')
        self.env.update(A=binary, LC_ALL='C', MODELS=models, GOLDEN=os.path.join(os.getcwd(), 'tests/golden'),
                        SHIM=shim, STATE=self.state, ATTN_MODEL_PATH=models)

    def fill(self, tree):
        shutil.rmtree(self.dir, ignore_errors=True)
        os.mkdir(self.dir)
        for path, data in tree.items():
            path = os.path.join(self.dir, path)
            if data is None:
                os.mkdir(path)
            else:
                with open(path, 'wb') as f:
                    f.write(data)

    def tree(self):
        """What the directory holds: the bytes of each file, None for directories, parents first."""
        found = {}
        for root, dirs, files in os.walk(self.dir):
            for name in dirs:
                found[os.path.relpath(os.path.join(root, name), self.dir)] = None
            for name in files:
                with open(os.path.join(root, name), 'rb') as f:
                    found[os.path.relpath(os.path.join(root, name), self.dir)] = f.read()
        return found

    def run(self, command, how=None, call=0, pick=0):
        env = dict(self.env)
        if how:
            env.update(LD_PRELOAD=self.shim, FAULT_STATE=self.state, FAULT_HOW=how, FAULT_AT=str(call),
                       FAULT_PICK=str(pick))
        argv = [self.binary, *shlex.split(command)]
        if command.split()[0] == MODULE:
            argv = [sys.executable, '-B', os.path.join(ROOT, 'tests/attack/module.py'), *argv[2:]]
            env.update(FAULT_ASKED='1', PYTHONPATH=os.path.join(ROOT, 'data/python'),
                       ATTN_LIBRARY=os.path.join(os.path.dirname(self.binary), 'libattn.so'))
        with subprocess.Popen(argv, cwd=self.dir, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
            try:
                out, err = p.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                p.kill()
                out, err = p.communicate()
                return Ended('hangs', out, err)
        return Ended(p.returncode, out, err)

    def hit(self):
        """How many calls there were, whether one was hit, and which."""
        with open(self.state, 'rb') as f:
            calls, hits, name, error, *where = struct.unpack('<QQ24s24s8Q', f.read(STATE))
        return calls, hits, name.split(b'\0')[0].decode(), error.split(b'\0')[0].decode(), [w for w in where if w]

    def sites(self, calls):
        """Where each call came from, as numbers."""
        n = min(calls, SITES)
        with open(self.state, 'rb') as f:
            f.seek(STATE)
            return struct.unpack(f'<{n}Q', f.read(8 * n))

    def lines(self, where):
        """Names of the functions that made the call, innermost first."""
        out = subprocess.run(['addr2line', '-sfie', self.binary, *map(hex, where)], stdout=subprocess.PIPE,
                             text=True).stdout.split('\n')
        return ' < '.join(f'{f} {at}' for f, at in zip(out[::2], out[1::2]) if f != '??')


class Known:
    """What a scenario begins with and leads to when nothing disturbs it."""
    def __init__(self, place, s, how):
        place.fill({})
        subprocess.run(['bash', '-e', '-c', s.setup.replace('$A', '"$A"')], cwd=place.dir, env=place.env, check=True,
                       stdout=subprocess.DEVNULL)
        self.before = place.tree()
        self.old = s.reads and place.run(s.reads).out
        place.fill(self.before)
        self.ended = place.run(s.command, how)
        self.calls = place.hit()[0]
        self.sites = place.sites(self.calls) if how == 'sites' else ()
        self.after = place.tree()
        self.new = s.reads and place.run(s.reads).out
        wrong = self.ended.status not in (0, 1 if s.name.startswith('diff') else 3)
        if wrong:
            sys.exit(f'{s.name}: undisturbed, '
                     f'it ends with {self.ended.status} after {self.calls} calls: {self.ended.err.decode()}')


# ---- what may be left ---------------------------------------------------------------------

def wrong_files(s, known, tree, untidy):
    """Says of each file that should not be there, or not so, why."""
    for path, data in tree.items():
        if (path in known.before and known.before[path] == data) or (path in known.after and known.after[path] == data):
            continue
        if s.growing and s.growing.match(path):
            if untidy or not TEMP.search(path):
                continue
        if TEMP.search(path):
            if not untidy:
                yield f'leaves {path}'
        elif data is not None:
            yield f'{path} is neither old nor new ({len(data)} bytes)'
    for path in known.before:
        if path in known.after and path not in tree and not (s.growing and s.growing.match(path)):
            yield f'{path} is lost'


def without_temps(tree):
    return {p: d for p, d in tree.items() if not TEMP.search(p)}


def different(tree, expected):
    paths = [p for p in sorted(set(tree) | set(expected)) if tree.get(p, 0) != expected.get(p, 0)]
    return ', '.join(paths[:3])


def judge_end(s, known, ended, tree):
    """Faults only: what the disturbed command itself did wrong."""
    if ended.status == 'hangs' or ended.status < 0 or ended.status >= 128:
        yield f'ends with {ended.status}'
    elif ended.status == known.ended.status and ended.out == known.ended.out:
        if different(tree, known.after) and not ended.err:
            yield f'succeeds with other files: {different(tree, known.after)}'
        elif ended.status in (0, 3) and different(without_temps(tree), known.after):
            yield f'succeeds with other files: {different(tree, known.after)}'
    elif ended.status == 0 and not (s.admits and s.admits.search(ended.out)):
        yield 'succeeds with another output'
    elif ended.status != 0 and not ended.err.strip():
        yield f'ends with {ended.status} and no message'


def judge_files(place, s, known, ended, untidy):
    """What is wrong with the files that are left, and with what the next command makes of them."""
    tree = place.tree()
    yield from wrong_files(s, known, tree, untidy)
    if s.reads:
        seen = place.run(s.reads)
        if seen.status == 0 and seen.out not in (known.old, known.new):
            yield 'what is left is read as a mixture of old and new'
    complete = not different(tree, known.after) and ended.status in (known.ended.status, -signal.SIGKILL)
    if complete or not different(tree, known.before):
        return                          # nothing has happened, or everything
    again = place.run(s.again)
    if b'--force' in again.err:
        again = place.run(s.command.replace(' --resume', '') + ' --force')
    left = different(without_temps(place.tree()), known.after)
    if again.status != known.ended.status:
        yield f'repeated, it ends with {again.status}: {again.err.decode(errors="replace").strip()}'
    elif left:
        yield f'repeated, it leads to other files: {left}'


def judge(place, s, known, how, call, pick):
    """Runs one case; returns what was wrong, and whether the call was reached."""
    place.fill(known.before)
    ended = place.run(s.command, how, call, pick)
    _, hits, name, error, where = place.hit()
    if not hits:
        return [], False
    kills = how in ('before', 'after')
    wrong = [] if kills else list(judge_end(s, known, ended, place.tree()))
    # what another process is said to hold is not ours to remove
    theirs = name == 'flock' and error in ('EAGAIN', 'EWOULDBLOCK')
    wrong += judge_files(place, s, known, ended, kills or name in UNTIDY or theirs or how == 'rest')
    said = ended.err.decode(errors='replace').strip().split('\n')[0]
    return [f'{name} {error}: {w}\n    said: {said}\n    at: {place.lines(where)}' for w in wrong], True


# ---- all cases ----------------------------------------------------------------------------

class Attack:
    def __init__(self, what, binary, shim, every):
        self.every = every
        self.hows = {'kills': ['before', 'after'], 'places': ['fail']}.get(what, ['fail', 'rest'])
        self.what, self.lock, self.findings, self.reached = what, threading.Lock(), {}, 0
        self.local, self.places, self.make = threading.local(), [], lambda: Place(binary, shim)
        self.end = float(os.environ.get('ATTACK_SECONDS') or 0)
        self.end = self.end and time.time() + self.end

    def place(self):
        if not hasattr(self.local, 'place'):
            self.local.place = self.make()
            with self.lock:
                self.places.append(self.local.place)
        return self.local.place

    def learn(self, s):
        return Known(self.place(), s, 'sites' if self.what == 'places' else self.hows[0])

    def one(self, s, known, how, call, pick):
        if self.end and time.time() > self.end:
            return False
        wrong, reached = judge(self.place(), s, known, how, call, pick)
        with self.lock:
            self.reached += reached
            for w in wrong:
                key = (s.name.split('-')[0], re.sub(r'[0-9a-f]{16}|\d+', 'N', w))
                self.findings[key] = self.findings.get(key, 0) + 1
                if self.findings[key] == 1:
                    print(f'FINDING CASE={s.name}:{how}:{call}:{pick} {w}', flush=True)
        return True

    def places_once(self, known):
        seen = set()
        for s, k in known.items():
            for call, site in enumerate(k.sites, 1):
                if site not in seen:
                    seen.add(site)
                    yield s, k, 'fail', call, 0

    def cases(self, known):
        if self.what == 'places':
            return list(self.places_once(known))[::self.every]
        picks = range(1 if self.hows[0] == 'before' else 4)
        cases = [(s, k, how, call, pick) for s, k in known.items() for how in self.hows
                 for call in range(1, k.calls + 1)
                 for pick in (picks if how != 'rest' else picks[:2])]
        random.Random(int(os.environ.get('SEED') or 1)).shuffle(cases)
        return cases

    def run(self):
        chosen = os.environ.get('CASE', '').split(':')
        scenarios = [SCENARIOS[chosen[0]]] if chosen[0] else [
            # Python takes long to start
            s for s in SCENARIOS.values() if self.every == 1 or not s.name.startswith(MODULE)]
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get('ATTACK_JOBS') or os.cpu_count())) as pool:
            known = dict(zip(scenarios, pool.map(self.learn, scenarios)))
            cases = self.cases(known)
            if not cases:
                sys.exit(f'{self.what}: no call was counted: is {scenarios[0].name} linked statically?')
            if len(chosen) == 4:
                cases = [(scenarios[0], known[scenarios[0]], chosen[1], int(chosen[2]), int(chosen[3]))]
            ran = sum(pool.map(lambda c: self.one(*c), cases))
        for p in self.places:
            shutil.rmtree(p.top, ignore_errors=True)
        print(f'{self.what}: {len(scenarios)} scenarios, {ran} of {len(cases)} cases run, {self.reached} {self.what}, '
              f'{len(self.findings)} findings')
        return 1 if self.findings else 0


if __name__ == '__main__':
    sys.exit(Attack(sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3]),
                    int((sys.argv[4:] or ['1'])[0])).run())

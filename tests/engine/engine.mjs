// engine.mjs ENGINE.wasm ANSWERS ATTN-CLI - whether the engine of pages answers as the library does, bit for bit: the same
// questions go to both, in the bits of the program's default and in those of ATTN_SIMD=generic.
//
// Asked about are every recorded model and file of GGUF with all that can be kept of a run, every kind of attention, what
// follows a run, edits, most of them wrong, and the tokens of texts with every recorded tokenizer.  ATTN_SHARED names a
// directory that has more of them.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Engine, compiled } from "./instance.mjs";

const [wasm, answers, cli] = process.argv.slice(2);
const shared = process.env.ATTN_SHARED;
const module = compiled(wasm);
const glob = (dir) => (existsSync(dir) ? readdirSync(dir).sort().map((f) => join(dir, f)) : []);
const places = (...under) => [...glob(join("tests/golden", ...under)), ...(shared ? glob(join(shared, "golden", ...under)) : [])];
const holds = (dir, ending) => statSync(dir).isDirectory() && readdirSync(dir).some((f) => f.endsWith(ending));

// What may be imported, and nothing else.
const imports = WebAssembly.Module.imports(module).map((i) => `${i.module}.${i.name}`).join(" ");
let failed = 0, compared = 0, arrays = 0;
const complain = (...words) => { if (failed++ < 20) console.log("engine:", ...words); };
if (imports !== "env.now")
    complain(`imports ${imports}, expected env.now`);

// Answers to a list of questions about some files, from both; what takes time, and the version, are left out.
function both(files, questions, generic) {
    const lines = questions.map((q) => JSON.stringify(q.ask === "run" ? { bits: generic ? "generic" : "default", ...q } : q));
    const run = spawnSync(answers, { input: lines.join("\n") + "\n", maxBuffer: 1 << 30, env: { ...process.env, ATTN_SIMD: generic ? "generic" : "" } });
    const native = run.stdout.toString().split("\n"), engine = new Engine(module), said = [];
    if (run.status !== 0)
        complain(`the library ended with ${run.status ?? run.signal}: ${files} ${run.stderr}`);
    files.forEach((f) => engine.file(f));
    const plain = (s) => s.replace(/"milliseconds":[^,}]*/, "").replace(/version\\?":\\?"[^"\\]*/g, "");
    lines.forEach((line, i) => {
        let [answer, sums] = ["", ""];
        try {
            [answer, sums] = engine.ask(line);
        } catch (trap) {
            complain(`${files}: ${line}: ${trap.stack}`);
            return;
        }
        compared++;
        arrays += Number(sums.split(" ")[0]);
        said.push(answer);
        if (plain(answer) !== plain(native[2 * i] ?? ""))
            complain(`${files}${generic ? ", generic" : ""}: ${line}\n  library ${(native[2 * i] ?? "").slice(0, 300)}\n  engine  ${answer.slice(0, 300)}`);
        else if (sums !== native[2 * i + 1])
            complain(`${files}${generic ? ", generic" : ""}: other bits: ${line}\n  ${native[2 * i + 1].slice(0, 200)}\n  ${sums.slice(0, 200)}`);
    });
    return said;
}

const open = (model) => ({ ask: "open", model });
// What a model has, by its first answer; null: it is refused.
function infoOf(model) {
    const engine = new Engine(module);
    engine.file(model);
    const said = JSON.parse(engine.ask(JSON.stringify(open(model)))[0]);
    return said.error ? null : said;
}

const ids = (info, n) => Array.from({ length: Math.min(n, info.n_ctx || n) }, (_, i) => (7 * i * i + 3 * i + 1) % info.V).join(",");

function models() {
    // A name that says what 32 bits cannot hold is refused for another reason there.
    const found = [...["checkpoints", "checkpoints2", "checkpoints3", "student"].flatMap((d) => places(d)), ...glob("models").filter((d) => holds(d, ".json")),
        ...places("gguf").flatMap((d) => statSync(d).isDirectory() ? glob(d).filter((f) => f.endsWith(".gguf")) : d.endsWith(".gguf") ? [d] : [])]
        .filter((d) => d.endsWith(".gguf") ? !d.includes("dims-overflow") : holds(d, ""));
    for (const model of found) {
        const of = infoOf(model);
        if (!of) {
            both([model], [open(model)], false);
            continue;
        }
        const keep = of.activations.filter((a) => a.has).map((a) => a.name);
        const questions = [open(model), { ask: "run", ids: ids(of.info, 13), keep }, ...(of.info.unembed ? [{ ask: "lens" }] : []), { ask: "heads" },
            { ask: "run", ids: ids(of.info, 14), keep }];
        both([model], questions, false);
        both([model], questions.slice(0, 2), true);
    }
    return found.length;
}

// Every kind, with and without what goes with it, and what is asked of a run.
const STORY = "Lily lost her red ball and Lily lost her red";
function kinds() {
    const of = infoOf("models/tiny");
    const keep = of.activations.filter((a) => a.has || a.derived).map((a) => a.name);
    const questions = [open("models/tiny")];
    for (const { example } of of.kinds)
        questions.push({ ask: "run", text: STORY, attention: example, keep }, { ask: "heads" },
            { ask: "run", text: `${STORY} ball`, attention: example, scale: "0.3", dropout: 0.25, seed: "7", keep: ["attn.pattern"] });
    questions.push({ ask: "run", text: STORY }, { ask: "lens" }, { ask: "without", layer: 3, head: 0 }, { ask: "weight", layer: 2, head: 1, query: 5, key: 3 },
        { ask: "next", temperature: 0.8, seed: "5", first: true }, { ask: "next" });
    for (const options of [["target= ball"], ["target= ball", "foil= hat", "neurons=3"]])
        questions.push({ ask: "write", what: "attribute", options });
    questions.push({ ask: "write", what: "lens", options: ["top=2"] }, { ask: "write", what: "heads", options: ["top=3"] },
        { ask: "write", what: "heads", options: ["format=csv"] },         { ask: "write", what: "patch", options: ["what=head", "metric=logit( ball)", "method=gradient"], from: "Tom lost his blue hat and Tom lost his blue" },
        { ask: "write", what: "patch", options: ["what=head", "over=layer", "metric=logit( ball)"], from: "Tom lost his blue hat and Tom lost his blue" },
        { ask: "nonsense" }, { ask: "run", text: "x".repeat(3000) }, { ask: "run", ids: "1,2,x" }, { ask: "run", text: STORY, attention: "windw:3" });
    both(["models/tiny"], questions, false);
    both(["models/tiny"], questions, true);
    return of.kinds.length;
}

// Edits that are right, and what becomes of them when they are typed wrong.
const RIGHT = ["L2H0-1[pos=-1] *= 0.5", "L0.pattern = uniform", "L0H1.scores[key=0] = -inf", "L2.attn.q[head=1] += noise(0.1,7)",
    'L1.mlp.out -= mean(text("Tom saw"))', 'L3.resid_post[pos=-1] = text("Tom saw")', "L1.attn.k -= proj(ids(5,6,7,8,9))",
    "L4N3,7-9 = 0", 'blocks.*.attn.out[pos=" her"] *= 2', "logits[col=5] += 3", "dots[key=1] += 1"];
const WRONG = ["L9H0 = 0", "L1H2", "H2 = 0", "L0.foo = 1", "pattern[pos=99] = 0", "L0.out = 0", "L1 = 2", "L0H1[key=2] = 0", "L0H1 = noise(1)", "l0h1 = 0",
    "L0H1 *= uniform", "pos_embed = 0", "norms = 1", 'embed[pos="zebra"] = 0', "L0.H1 = 0", "L0.contxt = 0", "L0.PATTERN = 0", "blocks.1.patern = 0",
    "__proto__ = 0", "Attention=0", "rseid_post=0", 'L0H0[pos="日本"] = 0', 'L0H0[pos=" lily"] = 0', "L0H9 = 123456789012345678", "L0H9=1e21*ids(1)",
    `L0H9[pos="${"x日".repeat(60)}"] = 0`, "L0H1 = ids(99999)", 'L0H1 = text("")', "L0H1 = mean(ids(1", "L0H1 = mean(foo)", 'L0H1 = tezt("a")',
    "L0H1[pos=1] = ids(1,2)", 'L0H1 = text("a\\u0000")', `L0.${"a".repeat(80)} = 0`];
function edits() {
    const tried = [...WRONG];
    for (const edit of RIGHT)
        for (let at = 0; at < edit.length; at++)
            tried.push(edit.slice(0, at) + edit.slice(at + 1), edit.slice(0, at), edit.slice(0, at) + "x9=[(\"é"[at % 7] + edit.slice(at));
    const questions = [open("models/tiny"), { ask: "run", text: STORY }, ...RIGHT.map((e) => ({ ask: "run", text: STORY, edits: [e], keep: ["resid_post"] })),
        ...tried.map((e) => ({ ask: "run", text: "Lily lost her", edits: [e] }))];
    const wrong = both(["models/tiny"], questions, false).filter((a) => a.startsWith('{"error"')).length;
    return [questions.length - 2, wrong];
}

// Texts of many scripts, a model with each tokenizer.
const TEXTS = ["Hello, world! It's 3.14 o'clock.", " leading  and   runs\t\tof\n\n blanks ", "naïve café résumé Ångström — “quotes” … ™", "日本語のテキスト、中文文本。한국어 텍스트 각",
    "Привет мир, как дела?", "مرحبا بالعالم ١٢٣", "हिन्दी पाठ क्षत्रिय", "👩‍👩‍👧‍👦 🇩🇪🇫🇷 👍🏽 e\u0301\u0323 o\u0323\u0301 ﬁ ½ Ⅷ ㍿ ﷺ", "def f(x):\n    return x**2  # comment\n", "\u0000\u0007\u200b\u2028\ufeff\u00a0x", "ǅ ẞ ß ŉ İ ı ς Σ",
    "http://example.com/?q=a&b=c#d", "1234567 1,234,567.89 0x1F", "don't can't we'll I'M", "ก็ไม่ ភាសាខ្មែរ တရုတ်", "\u1100\u1161\u11a8 \uac00\u11a8 \u0915\u093c \u0344", "<s> </s> <|endoftext|> [INST] <unk>", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𠀁", "a".repeat(300),
    "Éé ÀÀ\u0300 ά\u03b1\u0301 \u212b \u2126 \u1e9b\u0323", "x\r\ny\rz\u0085w", "tab\tsep,csv;\"q\"\"q\"", "Ünïcödé ÜNÏCÖDÉ", "ﾊﾝｶｸ ｶﾞ ガ ㈱", "\u{1f600}\u{1f3fd}\u200d\u{2642}\ufe0f", "   ", "", "…", "٪ ‰ ∞ √ ∑ ≠ ≤"];
function tokens() {
    const dirs = [...glob("tests/golden/tokenizers"), ...(shared ? glob(join(shared, "tokenizers")) : [])].filter((d) => statSync(d).isDirectory());
    const made = mkdtempSync(join(tmpdir(), "engine-")), model = join(made, "model");
    execFileSync(cli, ["init", "-q", "--family", "llama", "--n-layer", "1", "--n-head", "1", "--d-model", "2", "--vocab-size", "262144", "--n-ctx", "8", "--seed", "1", "-o", model]);
    let n = 0;
    for (const d of dirs) {
        const files = readdirSync(d).filter((f) => f.startsWith("tokenizer"));
        files.forEach((f) => cpSync(join(d, f), join(model, f)));
        const vectors = readFileSync(join(d, "vectors.jsonl")).toString().trim().split("\n").filter((_, i) => i % 10 === 0).map((l) => JSON.parse(l).text);
        const said = both([model], [open(model), ...[...TEXTS, ...vectors.filter((t) => typeof t === "string")].map((t) => ({ ask: "tokens", text: t }))], false);
        n += said.filter((s) => s.startsWith('{"tokens"')).length;
        files.forEach((f) => rmSync(join(model, f)));
    }
    rmSync(made, { recursive: true });
    return [n, dirs.length];
}

const m = models(), k = kinds(), [e, wrong] = edits(), [t, tokenizers] = tokens();
console.log(`engine: ${m} models, ${k} kinds, ${e} edits (${wrong} refused), ${t} texts over ${tokenizers} tokenizers: ${compared} answers and ${arrays} arrays compared, ${failed} differ`);
process.exit(failed ? 1 : 0);

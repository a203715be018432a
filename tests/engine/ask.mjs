// ask.mjs ENGINE.wasm FILE... QUESTION... - what the engine of pages answers, a line each; questions begin with {.
import { Engine, compiled } from "./instance.mjs";

const [wasm, ...all] = process.argv.slice(2), engine = new Engine(compiled(wasm));
all.filter((a) => !a.startsWith("{")).forEach((f) => engine.file(f));
for (const question of all.filter((a) => a.startsWith("{")))
    console.log(engine.ask(question)[0]);

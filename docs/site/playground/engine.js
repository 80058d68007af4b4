// The native engine, compiled to WebAssembly (sim/native/web): one run at a time.
//
//   const engine = await Engine.of(bytes)
//   engine.start(machine, job); while (engine.step()) ...; engine.outcome()
//   engine.read(address, size)      memory after the run, as bytes
//   engine.trace()                  the trace, if the job asked for it
//   engine.stop(agent, line)        the stop at which the agent serves the line
//   engine.link(source, target, line, n)   the n-th link of the route of a message about the line
// Events, and time of the run, between two reports of progress.
const EVENTS = 200000;
const SPAN = 1e8; // ps

class Engine {
  static async of(bytes) {
    const nothing = () => 8; // EBADF: there are no files
    const wasi = { fd_close: nothing, fd_seek: nothing, fd_write: nothing };
    const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: wasi });
    instance.exports._initialize();
    return new Engine(instance.exports);
  }
  constructor(exports) {
    this.wasm = exports;
    this.shapes = this.answerAt(exports.uncore_shapes());
  }
  answerAt(at) {
    const memory = new Uint8Array(this.wasm.memory.buffer);
    return JSON.parse(new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at))));
  }
  start(machine, job) {
    [
      [machine, this.shapes.machine],
      [job, this.shapes.job],
    ].forEach(([value, shape], which) => {
      const words = wordsOf(value, shape, []);
      const at = this.wasm.uncore_room(which, words.length);
      new BigUint64Array(this.wasm.memory.buffer, at, words.length).set(words);
    });
    this.wasm.uncore_start();
  }
  step(span = SPAN) {
    return this.wasm.uncore_step(EVENTS, span) !== 0;
  }
  operations() {
    return this.wasm.uncore_operations();
  }
  outcome() {
    return this.answerAt(this.wasm.uncore_outcome());
  }
  trace() {
    return this.answerAt(this.wasm.uncore_trace());
  }
  stop(agent, line) {
    return this.wasm.uncore_stop(agent, line);
  }
  link(source, target, line, n) {
    return this.wasm.uncore_link(source, target, line, n);
  }
  read(address, size) {
    const at = this.wasm.uncore_memory(address, size);
    return new Uint8Array(this.wasm.memory.buffer, at, size).slice();
  }
}

// Converts a spec to the words that web/spec_words.hh reads. Numbers beyond 53 bits are texts.
function wordsOf(value, shape, words, name = 'spec') {
  if (value === undefined || value === null) throw new Error(`${name}: missing`);
  if (shape === 'number') words.push(BigInt.asUintN(64, BigInt(value)));
  else if (shape === 'bytes') packBytes(value, words);
  else if (Array.isArray(shape)) {
    words.push(BigInt(value.length));
    for (const item of value) wordsOf(item, shape[0], words, name);
  } else if (Array.isArray(shape.words)) words.push(BigInt(position(shape.words, value, name)));
  else for (const key in shape) wordsOf(value[key], shape[key], words, key);
  return words;
}
function position(words, word, name) {
  const at = words.indexOf(word);
  if (at < 0) throw new Error(`${name}: ${word}: no such word`);
  return at;
}
function packBytes(bytes, words) {
  words.push(BigInt(bytes.length));
  const whole = new Uint8Array(Math.ceil(bytes.length / 8) * 8);
  whole.set(bytes);
  for (const word of new BigUint64Array(whole.buffer)) words.push(word);
}

// The native engine, compiled to WebAssembly (sim/native/web). It executes one run at a time.
//
//   const engine = await Engine.from(bytes)
//   engine.start(machine, job); while (engine.step()) ...; engine.outcome()
//   engine.read(address, size)              memory after the run, as bytes
//   engine.trace()                          the trace, if the job requests one
//   engine.stop(agent, line)                the stop of the agent's slice that serves the line
//   engine.link(source, target, line, n)    n-th link on the route of a message about the line

// Limits of one step(): events, and simulated time.
const STEP_EVENTS = 200000;
const STEP_SPAN_PS = 1e8;

class Engine {
  static async from(bytes) {
    const noFile = () => 8; // WASI error code EBADF: there are no files
    const wasi = { fd_close: noFile, fd_seek: noFile, fd_write: noFile };
    const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: wasi });
    instance.exports._initialize();
    return new Engine(instance.exports);
  }
  constructor(exports) {
    this.wasm = exports;
    this.shapes = this.jsonAt(exports.uncore_shapes());
  }
  jsonAt(at) {
    const memory = new Uint8Array(this.wasm.memory.buffer);
    return JSON.parse(new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at))));
  }
  start(machine, job) {
    [
      [machine, this.shapes.machine],
      [job, this.shapes.job],
    ].forEach(([value, shape], slot) => {
      const words = wordsOf(value, shape, []);
      const at = this.wasm.uncore_room(slot, words.length);
      new BigUint64Array(this.wasm.memory.buffer, at, words.length).set(words);
    });
    this.wasm.uncore_start();
  }
  step(span = STEP_SPAN_PS) {
    return this.wasm.uncore_step(STEP_EVENTS, span) !== 0;
  }
  operations() {
    return this.wasm.uncore_operations();
  }
  outcome() {
    return this.jsonAt(this.wasm.uncore_outcome());
  }
  trace() {
    return this.jsonAt(this.wasm.uncore_trace());
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

// Converts a specification to the 64-bit words that web/spec_words.hh reads. In a specification,
// numbers beyond 53 bits are texts.
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
  const index = words.indexOf(word);
  if (index < 0) throw new Error(`${name}: ${word}: no such word`);
  return index;
}
function packBytes(bytes, words) {
  words.push(BigInt(bytes.length));
  const padded = new Uint8Array(Math.ceil(bytes.length / 8) * 8);
  padded.set(bytes);
  for (const word of new BigUint64Array(padded.buffer)) words.push(word);
}

// Assembles a workload that is written in the page. Its language is small, with one operation per
// line:
//
//   line NAME...       shared 64-bit words on one line of 64 bytes
//   each NAME...       such a line for every thread: NAME is the word of the thread that executes
//                      the operation, NAME[THREAD] that of another thread
//   VALUE = load NAME | add NAME SUM | swap NAME SUM | cas NAME EXPECTED to NEW (1: success)
//   VALUE = SUM        a SUM has numbers, values, me, threads and turns, joined by + - *; there are
//                      at most seven VALUEs
//   store NAME SUM     load.acquire, store.release and fence order accesses; others are relaxed
//   wait NAME == SUM   repeats a load with pauses until the comparison is true
//   if SUM == SUM, loop, break, end, pause; check SUM == SUM fails the run if it is false
//   at end             starts the part that thread 0 runs after all threads have returned
//
// Comparisons are == != < >= of unsigned numbers. The text is one turn, which each thread repeats.
//
//   await writtenProgram(frame, text)    returns the program of written.c (`frame`) with the
//                                        instructions, source lines and names of the text. Errors
//                                        state the line of the text and what to write instead.

const WORDS_OF_LINE = 8;
const MAX_THREADS = 64;
const VALUE_REGISTERS = [14, 15, 16, 17, 29, 30, 31]; // registers a4 to a7 and t4 to t6
const FIXED_REGISTERS = { me: 10, threads: 11, turns: 13 };
const [T0, T1, T2, T3, RA, ZERO, WORDS] = [5, 6, 7, 28, 1, 0, 12];

// ---- RISC-V
const rType = (op, f3, f7, rd, a, b) =>
  (f7 << 25) | (b << 20) | (a << 15) | (f3 << 12) | (rd << 7) | op;
const iType = (op, f3, rd, a, imm) =>
  ((imm & 0xfff) << 20) | (a << 15) | (f3 << 12) | (rd << 7) | op;
const addi = (rd, a, imm) => iType(0x13, 0, rd, a, imm);
const add = (rd, a, b) => rType(0x33, 0, 0, rd, a, b);
const atomic = (f5, rd, at, value) => rType(0x2f, 3, (f5 << 2) | 3, rd, at, value);
const LOAD = (rd, at) => iType(0x03, 3, rd, at, 0);
const STORE = (value, at) => rType(0x23, 3, 0, 0, at, value);
const PAUSE = 0x0100000f;
const FENCE = { all: 0x0330000f, acquire: 0x0230000f, release: 0x0310000f };
const BRANCH = { '==': 0, '!=': 1, '<': 6, '>=': 7 };
const SYNTAX = {
  line: 'line NAME...',
  each: 'each NAME...',
  store: 'store NAME SUM',
  'store.release': 'store.release NAME SUM',
  wait: 'wait NAME == SUM',
  if: 'if SUM == SUM',
  check: 'check SUM == SUM',
  load: 'VALUE = load NAME',
  'load.acquire': 'VALUE = load.acquire NAME',
  add: 'VALUE = add NAME SUM',
  swap: 'VALUE = swap NAME SUM',
  cas: 'VALUE = cas NAME EXPECTED to NEW',
  loop: 'loop',
  break: 'break',
  end: 'end',
  fence: 'fence',
  pause: 'pause',
};
const NEGATED = { '==': '!=', '!=': '==', '<': '>=', '>=': '<' };

class Assembler {
  constructor() {
    this.places = new Map(); // name -> { at: offset in bytes, each: true if every thread has one }
    this.size = 0; // number of memory lines in use
    this.values = new Map();
    // loops and ifs whose end has not been read: { kind, begin, leaves: branches to their end }
    this.open = [];
    this.code = []; // instructions; a branch is { f3, a, b, to } until all code is known
    this.lineNumbers = []; // line number in the text of each instruction
    this.number = 0;
    this.statement = ''; // first word of the current line
  }
  wrong(what, write = SYNTAX[this.statement]) {
    return new Error(`line ${this.number}: ${what}${write ? `; write ${write}` : ''}`);
  }
  expectEnd(words) {
    if (words.length) throw this.wrong(`'${words.join(' ')}': expected the end of the line`);
  }
  put(...instructions) {
    for (const instruction of instructions) {
      this.code.push(instruction);
      this.lineNumbers.push(this.number);
    }
  }
  declare(kind, names) {
    if (!names.length || names.length > WORDS_OF_LINE)
      throw this.wrong(`${names.length} names: expected 1 to ${WORDS_OF_LINE}`);
    for (const [n, name] of names.entries()) {
      if (!/^[a-z_]\w*$/i.test(name))
        throw this.wrong(`'${name}': expected a name of letters, digits and _`);
      if (this.places.has(name) || name in FIXED_REGISTERS)
        throw this.wrong(`'${name}' is there already: expected a new name`);
      const at = this.size * 64 + n * 8;
      this.places.set(name, { at, each: kind === 'each' });
    }
    this.size += kind === 'each' ? MAX_THREADS : 1;
    if (this.size > 1024)
      throw this.wrong('more than 1,024 lines of memory: each takes 64', 'fewer of them');
  }
  register(name, isNew = false) {
    if (name in FIXED_REGISTERS) return FIXED_REGISTERS[name];
    if (!this.values.has(name)) {
      if (this.places.has(name))
        throw this.wrong(
          `'${name}' is in memory: expected a value`,
          isNew ? `store ${name} SUM` : `VALUE = load ${name} above, and VALUE here`,
        );
      if (!isNew)
        throw this.wrong(
          `'${name}' has no value: expected a number or a name with one`,
          `${name} = 0 above`,
        );
      if (this.values.size === VALUE_REGISTERS.length)
        throw this.wrong(
          `'${name}' is one value too many: expected at most ${VALUE_REGISTERS.length}`,
          `one of ${[...this.values.keys()].join(', ')} instead`,
        );
      this.values.set(name, VALUE_REGISTERS[this.values.size]);
    }
    return this.values.get(name);
  }
  constant(rd, number) {
    const most = 2 ** 31 - 2049;
    if (number > most) throw this.wrong(`${number}: expected at most ${most}`, `${most}`);
    const low = (number << 20) >> 20;
    const high = (number - low) >>> 12;
    if (high) this.put((high << 12) | (rd << 7) | 0x37);
    this.put(addi(rd, high ? rd : ZERO, low));
  }
  // Appends code that computes a sum of products in the register `rd`.
  sum(words, rd) {
    let at = 0;
    const operand = to => {
      const word = words[at++];
      if (word === undefined) throw this.wrong('the line ends: expected a number or a value');
      if (/^\d+$/.test(word)) this.constant(to, Number(word));
      else this.put(addi(to, this.register(word), 0));
    };
    const product = to => {
      operand(to);
      while (words[at] === '*') {
        at++;
        operand(T2);
        this.put(rType(0x33, 0, 1, to, to, T2)); // mul
      }
    };
    product(rd);
    while (at < words.length) {
      const sign = words[at++];
      if (sign !== '+' && sign !== '-') throw this.wrong(`'${sign}': expected + - or *`);
      product(T3);
      this.put(rType(0x33, 0, sign === '+' ? 0 : 0x20, rd, rd, T3));
    }
  }
  // Appends code that puts the address of NAME or NAME[THREAD] into T0. Removes these words from
  // `words`.
  address(words) {
    const name = words.shift();
    const place = this.places.get(name);
    if (!place) {
      const names = [...this.places.keys()].join(', ') || 'a name';
      throw name
        ? this.wrong(`'${name}' is not in memory: expected ${names}`, `line ${name} above`)
        : this.wrong(`the line ends: expected ${names}`);
    }
    let whose = place.each ? ['me'] : undefined;
    if (words[0] === '[') {
      if (!place.each)
        throw this.wrong(`'${name}[' is one word for all: expected ${name}`, `each ${name} above`);
      if (!words.includes(']')) throw this.wrong(`'${name}[': expected ]`, `${name}[me]`);
      whose = words.splice(0, words.indexOf(']') + 1).slice(1, -1);
    }
    if (whose) {
      this.sum(whose, T1);
      this.put(iType(0x13, 1, T1, T1, 6), add(T1, T1, WORDS));
    }
    this.constant(T0, place.at);
    this.put(add(T0, T0, whose ? T1 : WORDS));
  }
  // Splits words at a comparison. Returns the words before it, the operator, and the words after
  // it.
  compared(words) {
    const at = words.findIndex(word => word in BRANCH);
    if (at < 1 || at === words.length - 1)
      throw this.wrong(`'${words.join(' ')}': expected a comparison by == != < or >=`);
    return [words.slice(0, at), words[at], words.slice(at + 1)];
  }
  branch(how, a, b) {
    const branch = { f3: BRANCH[how], a, b };
    this.put(branch);
    return branch;
  }
  setTargets(branches) {
    for (const branch of branches) branch.to = this.code.length;
  }
  finished() {
    if (this.open.length) {
      const { kind, number } = this.open.at(-1);
      this.number = number;
      throw this.wrong(`'${kind}': expected its end`, 'end below it');
    }
    this.put(addi(10, ZERO, 0), iType(0x67, 0, ZERO, RA, 0));
    return this.code.map((code, index) =>
      typeof code === 'number' ? code : encodedBranch(code, index),
    );
  }
}
function encodedBranch({ f3, a, b, to }, index) {
  const offset = (to - index) * 4;
  const high = (((offset >> 12) & 1) << 31) | (((offset >> 5) & 0x3f) << 25);
  return (
    high |
    (b << 20) |
    (a << 15) |
    (f3 << 12) |
    (((offset >> 1) & 0xf) << 8) |
    (((offset >> 11) & 1) << 7) |
    0x63
  );
}

// ---- Statements, by their first word.
const STATEMENTS = {
  line: (text, words) => text.declare('line', words),
  each: (text, words) => text.declare('each', words),
  fence: text => text.put(FENCE.all),
  pause: text => text.put(PAUSE),
  store: (text, words) => assembleStore(text, words),
  'store.release': (text, words) => assembleStore(text, words, FENCE.release),
  loop: text =>
    text.open.push({ kind: 'loop', begin: text.code.length, leaves: [], number: text.number }),
  if: (text, words) => {
    const [left, how, right] = text.compared(words);
    text.sum(left, T0);
    text.sum(right, T1);
    const leaves = [text.branch(NEGATED[how], T0, T1)];
    text.open.push({ kind: 'if', leaves, number: text.number });
  },
  check: (text, words) => {
    const [left, how, right] = text.compared(words);
    STATEMENTS.if(text, [...left, NEGATED[how], ...right]);
    text.constant(10, text.number);
    text.put(iType(0x67, 0, ZERO, RA, 0));
    STATEMENTS.end(text);
  },
  break: text => {
    const loop = text.open.findLast(({ kind }) => kind === 'loop');
    if (!loop) throw text.wrong("'break': expected it in a loop", 'loop above');
    loop.leaves.push(text.branch('==', ZERO, ZERO));
  },
  end: text => {
    const closed = text.open.pop();
    if (!closed) throw text.wrong("'end': nothing is open", 'loop or if SUM == SUM above');
    if (closed.kind === 'loop') text.branch('==', ZERO, ZERO).to = closed.begin;
    text.setTargets(closed.leaves);
  },
  wait: (text, words) => {
    text.address(words);
    if (!(words[0] in BRANCH))
      throw text.wrong(`'${words[0] ?? ''}': expected a comparison by == != < or >=`);
    const [how, ...right] = words;
    text.put(addi(T1, T0, 0));
    text.sum(right, T0);
    const begin = text.code.length;
    text.put(LOAD(T2, T1), FENCE.acquire);
    const leaves = text.branch(how, T2, T0);
    text.put(PAUSE);
    text.branch('==', ZERO, ZERO).to = begin;
    text.setTargets([leaves]);
  },
};
function assembleStore(text, words, fence) {
  text.address(words);
  text.put(addi(T1, T0, 0));
  text.sum(words, T0);
  if (fence) text.put(fence);
  text.put(STORE(T0, T1));
}
const WITHOUT_SUM = ['fence', 'pause', 'loop', 'break', 'end', 'load', 'load.acquire'];
const VALUE_OPERATIONS = {
  load: (text, rd) => text.put(LOAD(rd, T0)),
  'load.acquire': (text, rd) => text.put(LOAD(rd, T0), FENCE.acquire),
  add: (text, rd, words) => assembleAmo(text, rd, words, 0),
  swap: (text, rd, words) => assembleAmo(text, rd, words, 1),
  cas: (text, rd, words) => {
    const to = words.indexOf('to');
    if (to < 1) throw text.wrong(`'${words.join(' ')}': expected EXPECTED to NEW`);
    text.put(addi(T1, T0, 0));
    text.sum(words.slice(to + 1), T0);
    text.sum(words.slice(0, to), rd);
    const begin = text.code.length;
    text.put(atomic(2, T2, T1, ZERO)); // lr.d
    const other = text.branch('!=', T2, rd);
    text.put(atomic(3, T2, T1, T0)); // sc.d
    text.branch('!=', T2, ZERO).to = begin;
    text.put(addi(rd, ZERO, 1));
    const done = text.branch('==', ZERO, ZERO);
    text.setTargets([other]);
    text.put(addi(rd, ZERO, 0));
    text.setTargets([done]);
  },
};
function assembleAmo(text, rd, words, f5) {
  text.put(addi(T1, T0, 0));
  text.sum(words, T0);
  text.put(atomic(f5, rd, T1, T0));
}
function assign(text, name, words) {
  text.statement = '';
  if (name in FIXED_REGISTERS)
    throw text.wrong(`'${name}' is given: expected a name of yours`, `my_${name}`);
  const assembleValue = VALUE_OPERATIONS[words[0]];
  if (!assembleValue) {
    text.sum(words, T0);
    return text.put(addi(text.register(name, true), T0, 0));
  }
  text.statement = words.shift();
  text.address(words);
  if (WITHOUT_SUM.includes(text.statement)) text.expectEnd(words);
  assembleValue(text, text.register(name, true), words);
}

function unknownWord(text, word) {
  const words = Object.keys(STATEMENTS);
  const meant = Object.keys(SYNTAX).find(known => known.slice(0, 3) === word.slice(0, 3));
  return text.wrong(`'${word}': expected VALUE = ..., ${words.join(', ')}`, SYNTAX[meant]);
}

// Assembles the instructions of a turn and those after "at end". A name stands for the same memory in
// both parts.
function assembled(source) {
  const turn = new Assembler();
  const last = new Assembler();
  last.places = turn.places;
  let text = turn;
  for (const [n, written] of source.split('\n').entries()) {
    text.number = n + 1;
    const words = written.replace(/#.*/, '').match(/[\w.]+|[=!]=|>=|\S/g) ?? [];
    if (!words.length) continue;
    if (words.join(' ') === 'at end') {
      text = last;
      continue;
    }
    const [first, ...operands] = words;
    text.statement = first;
    if (operands[0] === '=') assign(text, first, operands.slice(1));
    else if (STATEMENTS[first]) {
      if (WITHOUT_SUM.includes(first)) text.expectEnd(operands);
      STATEMENTS[first](text, operands);
    } else throw unknownWord(text, first);
  }
  return { turn, last, codes: { written: turn.finished(), written_end: last.finished() } };
}

async function writtenProgram(frame, source) {
  const { turn, last, codes } = assembled(source);
  const segments = frame.segments.map(([at, bytes]) => [at, bytes.slice()]);
  const lines = [];
  for (const [name, code] of Object.entries(codes)) {
    const [, address, size] = frame.symbols.find(([label]) => label === name);
    if (code.length * 4 > size)
      throw new Error(
        `the text has ${code.length} instructions: expected at most ${size / 4}; write fewer lines`,
      );
    const [at, bytes] = segments.find(([a, b]) => a <= address && address < a + b.length);
    const view = new DataView(bytes.buffer, bytes.byteOffset + address - at);
    const { lineNumbers } = name === 'written' ? turn : last;
    for (const [n, instruction] of code.entries()) {
      view.setUint32(4 * n, instruction, true);
      lines.push([address + 4 * n, `written:${lineNumbers[n]}`]);
    }
    lines.push([address + size, '']);
  }
  const outsideText = ([address]) => lines.every(([at]) => at !== address);
  const [, base] = frame.symbols.find(([label]) => label === 'written_words');
  const namedWords = [...turn.places].flatMap(([name, { at, each }]) =>
    each
      ? Array.from({ length: MAX_THREADS }, (_, n) => [`${name}[${n}]`, base + at + 64 * n])
      : [[name, base + at]],
  );
  const wordsName = 'written_words';
  const kind = frame.types[frame.variables.find(([, name]) => name === wordsName)[2]].element;
  const isOther = name => name !== wordsName;
  const symbols = [
    ...frame.symbols.filter(([name]) => isOther(name)),
    ...namedWords.map(([n, a]) => [n, a, 8]),
  ];
  return {
    ...frame,
    name: 'written',
    sha256: await digestOf(source),
    segments,
    symbols: symbols.sort((a, b) => a[1] - b[1]),
    variables: [
      ...frame.variables.filter(([, name]) => isOther(name)),
      ...namedWords.map(([name, address]) => [address, name, kind]),
    ],
    lines: [...frame.lines.filter(outsideText), ...lines].sort((a, b) => a[0] - b[0]),
    sources: {
      ...frame.sources,
      ...Object.fromEntries(source.split('\n').map((t, n) => [`written:${n + 1}`, t.trim()])),
    },
  };
}

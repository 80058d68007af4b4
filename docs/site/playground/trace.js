// The stepper's document of a run, as uncore.trace and uncore.report.stepper.data make it.
//
//   traceOf(K, asked, threads, seed, engine, command)     runs the job twice: to find where what is
//                                                         measured begins, then traced from there
const NOT = -1;
const LINE = 64;
const SNOOPS = ['ProbeS', 'ProbeM', 'Inv', 'Answer', 'Unblock'];
const WHEN = {
  messages: 'sent',
  transactions: 'request',
  states: 'at',
  holds: 'at',
  turns: 'at',
  accesses: 'at',
  harts: 'at',
};

function traceOf(K, asked, threads, seed, engine, command) {
  const {
    program,
    machine: { resolved: machine, drawing },
  } = asked;
  const begun = begin(
    K,
    traced(K, asked, threads, seed, engine, { lines: [K.spec.lookahead] }).harts,
  );
  const tables = traced(K, asked, threads, seed, engine, { start: begun });
  const read = cached((a, n) => engine.read(a, n));
  const fields = fieldsOf(K, program, read, namesOf(K, program, read, threads));
  const texts = textsOf();
  const named = naming(program, fields);
  for (const s of tables.states) s.cell = K.protocols[machine.protocol].cells[s.before][s.event];
  for (const a of tables.accesses) {
    a.object = named.part(a.address);
    a.line = a.address - (a.address % LINE);
  }
  for (const row of [...tables.accesses, ...tables.harts]) row.source = named.source(row.pc);
  tables.transactions = tables.transactions.filter(x => x.close >= begun);
  const cores = machine.core_stops.length;
  const lines = linesOf(tables.messages);
  const used = usedOf(tables.accesses);
  const nameOf = line => (used.get(line) || []).slice(0, 3).join(', ') || fields.at(line);
  const rows = name =>
    tables[name]
      .filter(row => name !== 'harts' || row.what !== 'marks')
      .map(row => K.columns[name].map(column => said(K, texts, begun, column, row[column])));
  const found = Object.fromEntries(Object.keys(K.columns).map(name => [name, rows(name)]));
  return {
    title: `${program.name} on ${machine.name}`,
    about: aboutOf(asked, threads, seed),
    command,
    protocol: machine.protocol,
    states: K.protocols[machine.protocol].states,
    until: untilOf(tables, begun) - begun,
    machine: drawing,
    lines: lines.map(line => [
      line,
      nameOf(line),
      machine.resolvers.map((_, n) => engine.stop(cores + n, line / LINE)),
    ]),
    harts: machineHarts(asked, threads).map((at, hart) => [hart, asked.machine.cores[at]]),
    operations: operationsOf(K, tables.harts).map(([hart, from, to]) => [
      hart,
      from - begun,
      to - begun,
    ]),
    ways: waysOf(machine, tables.messages, begun, engine),
    columns: K.columns,
    tables: found,
    rows: K.protocols[machine.protocol].rows,
    texts: texts.found,
    sources: sourcesOf(program, texts.found),
  };
}

const machineHarts = (asked, threads) => asked.machine.harts[asked.placement].slice(0, threads);

// One traced run, its columns as rows, numbers as the names that tables and rules have for them.
function traced(K, asked, threads, seed, engine, window) {
  engine.start(machineSpec(asked.machine), jobSpec(K, asked, threads, seed, window));
  while (engine.step());
  const columns = engine.trace();
  const words = K.protocols[asked.machine.resolved.protocol].words;
  const found = {};
  for (const name in columns) {
    const table = columns[name];
    const keys = Object.keys(table);
    const of = words[name] || {};
    found[name] = table[keys[0]].map((_, i) =>
      Object.fromEntries(keys.map(key => [key, of[key] ? of[key][table[key][i]] : table[key][i]])),
    );
  }
  const links = linksOf(found.messages, found.crossings);
  found.messages.forEach((m, i) => {
    m.waited = [...links[i].values()].reduce((a, b) => a + b, 0);
    m.links = links[i];
  });
  for (const name in WHEN) found[name].sort((x, y) => x[WHEN[name]] - y[WHEN[name]]);
  return found;
}

const marks = harts =>
  harts
    .filter(row => row.what === 'marks')
    .map(row => {
      const value = BigInt(`0x${row.value}`);
      return {
        at: row.at,
        hart: row.hart,
        code: Number(value >> 56n),
        value: Number(value & ((1n << 56n) - 1n)),
      };
    });
const markers = K =>
  ['START', 'ROI_ON', 'ROI_OFF', 'OP'].map(name => K.constants[`UC_MARK_${name}`]);
function begin(K, harts) {
  const [start, on] = markers(K);
  const first = marks(harts).find(mark => mark.code === start || mark.code === on);
  return first ? first.at : 0;
}
function operationsOf(K, harts) {
  const [start, on, off, op] = markers(K);
  const began = new Map();
  const found = [];
  for (const { at, hart, code } of marks(harts)) {
    if (code === start || code === on) began.set(hart, at);
    else if (code === off) began.delete(hart);
    else if (code === op && began.has(hart)) {
      found.push([hart, began.get(hart), at]);
      began.set(hart, at);
    }
  }
  return found.sort((x, y) => x[2] - y[2] || x[0] - y[0]);
}

function textsOf() {
  const found = [];
  const number = new Map();
  return {
    found,
    of: text => {
      if (!number.has(text)) {
        number.set(text, found.length);
        found.push(text);
      }
      return number.get(text);
    },
  };
}
function said(K, texts, start, column, value) {
  if (K.times.includes(column)) return value === NOT ? value : value - start;
  if (K.interned.includes(column)) return texts.of(value);
  if (column === 'value') return Number(BigInt(`0x${value}`));
  return value;
}
function naming(program, fields) {
  const parts = new Map();
  const part = address => {
    if (!parts.has(address)) parts.set(address, fields.at(address));
    return parts.get(address);
  };
  const source = pc => {
    const at = notAfter(program.lines, pc, l => l[0]) - 1;
    return at >= 0 ? program.lines[at][1] || '' : '';
  };
  return { part, source };
}
function sourcesOf(program, texts) {
  return Object.fromEntries(
    texts
      .filter(text => program.sources[text] !== undefined)
      .map(text => [text, program.sources[text]]),
  );
}
function aboutOf(asked, threads, seed) {
  const parameters = asked.parameters
    .map(([name, , text]) => `${name}=${text}`)
    .sort()
    .join(', ');
  return [
    `${threads} threads`,
    seed === null ? 'lockstep' : `seed ${seed}`,
    asked.machine.resolved.protocol,
    parameters,
  ]
    .filter(Boolean)
    .join(', ');
}
function untilOf(tables, start) {
  const latest = (rows, key) => rows.reduce((most, row) => Math.max(most, row[key]), 0);
  return (
    Math.max(
      latest(tables.messages, 'arrived'),
      latest(tables.states, 'at'),
      latest(tables.accesses, 'at'),
    ) || start
  );
}
// Those of most messages first.
function linesOf(messages) {
  const counts = new Map();
  for (const { line } of messages) if (line > 0) counts.set(line, (counts.get(line) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([line]) => line);
}
function usedOf(accesses) {
  const found = new Map();
  for (const { line, object } of accesses)
    found.set(line, (found.get(line) || new Set()).add(object));
  return new Map(
    [...found].map(([line, names]) => [line, [...names].sort((a, b) => (a < b ? -1 : 1))]),
  );
}
function linksOf(messages, crossings) {
  const found = messages.map(() => new Map());
  for (const { message, link, head, start } of crossings) found[message].set(link, start - head);
  return found;
}

// ---- where messages are (uncore.trace.places)
function waysOf({ links }, messages, start, engine) {
  const known = new Map();
  const path = (source, target) => {
    const key = `${source} ${target}`;
    if (!known.has(key)) {
      const found = [];
      for (let at = source; at !== target; at = links[found[found.length - 1]].target)
        found.push(engine.link(at, target));
      known.set(key, found);
    }
    return known.get(key);
  };
  return messages.map(m => {
    const size = m.carries ? 'data' : SNOOPS.includes(m.kind) ? 'snoop' : 'control';
    const stops = [engine.stop(m.sender, m.line / LINE)];
    const times = [m.sent - start];
    for (const number of path(stops[0], engine.stop(m.receiver, m.line / LINE))) {
      stops.push(links[number].target);
      times.push(times[times.length - 1] + (m.links.get(number) || 0) + links[number][size]);
    }
    return [stops, times];
  });
}

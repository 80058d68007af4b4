// Makes the stepper's document of a run, like uncore.trace and uncore.trace.stepper.data.
//
//   traceOf(K, job, threads, seed, engine, command)
//
// The job is run twice: first until an operation ends, to find the start of the measured part; then
// with a trace. If there is a job.window = [skip, span] in ps, tracing begins `skip` after the start
// of the measured part and lasts `span`; then the run ends. Otherwise the whole run is traced.

const NEVER = -1;
const LINE_BYTES = 64; // size of a line; the number of a line is its address divided by this
const CHECK_PS = 1e7; // simulated time between two checks whether the run can end
const SNOOPS = ['ProbeS', 'ProbeM', 'Inv', 'Answer', 'Unblock'];
const TIME_COLUMNS = {
  messages: 'sent',
  transactions: 'request',
  states: 'at',
  holds: 'at',
  turns: 'at',
  accesses: 'at',
  harts: 'at',
};

function traceOf(K, job, threads, seed, engine, command) {
  const {
    program,
    machine: { resolved: machine, drawing },
  } = job;
  const run = (window, isEnough) => traced(K, job, threads, seed, engine, window, isEnough);
  const first = measuredStart(
    K,
    run({ lines: [K.spec.lookahead] }, () => engine.operations() > 0).harts,
  );
  const begun = first + (job.window ? job.window[0] : 0);
  const until = job.window ? begun + job.window[1] : K.spec.trace.until;
  const tables = run(
    { start: begun, until },
    () => job.window !== undefined && engine.outcome().now > until,
  );
  const read = cached((a, n) => engine.read(a, n));
  const fields = fieldsOf(K, program, read, namesOf(K, program, read, threads));
  const protocol = K.protocols[machine.protocol];
  addNames(tables, protocol.cells, machine.line, naming(program, fields));
  tables.transactions = tables.transactions.filter(x => x.close >= begun && x.request <= until);
  const lineObjects = lineObjectsOf(tables.accesses);
  const nameOf = line => (lineObjects.get(line) || []).slice(0, 3).join(', ') || fields.at(line);
  const texts = textTable();
  const rows = rowsOf(K, tables, texts, begun);
  return {
    title: `${program.name} on ${machine.name}`,
    about: summaryOf(job, threads, seed),
    command,
    protocol: machine.protocol,
    states: protocol.states,
    diagram: protocol.diagram,
    until: endOf(tables, begun) - begun,
    machine: drawing,
    lines: linesOf(tables.messages).map(line => [
      line,
      nameOf(line),
      slicesOf(machine, line, engine),
    ]),
    harts: machineHarts(job, threads).map((hart, n) => [n, job.machine.cores[hart]]),
    operations: operationsOf(K, tables.harts).map(([hart, from, to]) => [
      hart,
      from - begun,
      to - begun,
    ]),
    ways: waysOf(machine, tables.messages, begun, engine),
    columns: K.columns,
    tables: rows,
    rows: protocol.rows,
    texts: texts.list,
    sources: sourcesOf(program, texts.list),
  };
}

// Adds names to the rows: the cell of the protocol table that changed a state, the object of an
// access, and the source line of an instruction.
function addNames(tables, cells, size, named) {
  for (const s of tables.states) s.cell = cells[s.before][s.event];
  for (const a of tables.accesses) {
    a.object = named.part(a.address);
    a.line = a.address - (a.address % size);
  }
  for (const row of [...tables.accesses, ...tables.harts]) row.source = named.source(row.pc);
}

// Returns each table as rows of values in the order of K.columns. Texts are replaced by indices.
function rowsOf(K, tables, texts, start) {
  const rows = (name, columns) =>
    tables[name]
      .filter(row => name !== 'harts' || row.what !== 'marks')
      .map(row => columns.map(column => cellOf(K, texts, start, column, row[column])));
  return Object.fromEntries(
    Object.entries(K.columns).map(([name, columns]) => [name, rows(name, columns)]),
  );
}

// Returns, for each resolver, the stop of the slice that serves the line.
const slicesOf = (machine, line, engine) =>
  machine.resolvers.map((_, n) => engine.stop(machine.core_stops.length + n, line / LINE_BYTES));

const machineHarts = (job, threads) => job.machine.harts[job.placement].slice(0, threads);

// Runs the job with a trace. Returns each table as rows, in which states, events and kinds have
// their names instead of numbers.
function traced(K, job, threads, seed, engine, window, isEnough) {
  engine.start(machineSpec(job.machine), jobSpec(K, job, threads, seed, window));
  while (engine.step(CHECK_PS) && !isEnough());
  const columns = engine.trace();
  const words = K.protocols[job.machine.resolved.protocol].words;
  const tables = {};
  for (const name in columns) {
    const table = columns[name];
    const keys = Object.keys(table);
    const names = words[name] || {};
    tables[name] = table[keys[0]].map((_, i) =>
      Object.fromEntries(
        keys.map(key => [key, names[key] ? names[key][table[key][i]] : table[key][i]]),
      ),
    );
  }
  const links = linksOf(tables.messages, tables.crossings);
  tables.messages.forEach((m, i) => {
    m.waited = [...links[i].values()].reduce((a, b) => a + b, 0);
    m.links = links[i];
  });
  for (const name in TIME_COLUMNS)
    tables[name].sort((x, y) => x[TIME_COLUMNS[name]] - y[TIME_COLUMNS[name]]);
  return tables;
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
function measuredStart(K, harts) {
  const [start, on] = markers(K);
  const first = marks(harts).find(mark => mark.code === start || mark.code === on);
  return first ? first.at : 0;
}
function operationsOf(K, harts) {
  const [start, on, off, op] = markers(K);
  const began = new Map();
  const operations = [];
  for (const { at, hart, code } of marks(harts)) {
    if (code === start || code === on) began.set(hart, at);
    else if (code === off) began.delete(hart);
    else if (code === op && began.has(hart)) {
      operations.push([hart, began.get(hart), at]);
      began.set(hart, at);
    }
  }
  return operations.sort((x, y) => x[2] - y[2] || x[0] - y[0]);
}

function textTable() {
  const list = [];
  const number = new Map();
  return {
    list,
    indexOf: text => {
      if (!number.has(text)) {
        number.set(text, list.length);
        list.push(text);
      }
      return number.get(text);
    },
  };
}
function cellOf(K, texts, start, column, value) {
  if (K.times.includes(column)) return value === NEVER ? value : value - start;
  if (K.interned.includes(column)) return texts.indexOf(value);
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
function summaryOf(job, threads, seed) {
  const parameters = job.parameters
    .map(([name, , text]) => `${name}=${text}`)
    .sort()
    .join(', ');
  return [
    `${threads} threads`,
    seed === null ? 'lockstep' : `seed ${seed}`,
    job.machine.resolved.protocol,
    parameters,
  ]
    .filter(Boolean)
    .join(', ');
}
function endOf(tables, start) {
  const latest = (rows, key) => rows.reduce((most, row) => Math.max(most, row[key]), 0);
  return (
    Math.max(
      latest(tables.messages, 'arrived'),
      latest(tables.states, 'at'),
      latest(tables.accesses, 'at'),
    ) || start
  );
}
// Returns the addresses of all lines; those with most messages are first.
function linesOf(messages) {
  const counts = new Map();
  for (const { line } of messages) if (line > 0) counts.set(line, (counts.get(line) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([line]) => line);
}
function lineObjectsOf(accesses) {
  const objects = new Map();
  for (const { line, object } of accesses)
    objects.set(line, (objects.get(line) || new Set()).add(object));
  return new Map(
    [...objects].map(([line, names]) => [line, [...names].sort((a, b) => (a < b ? -1 : 1))]),
  );
}
function linksOf(messages, crossings) {
  const links = messages.map(() => new Map());
  for (const { message, link, head, start } of crossings) links[message].set(link, start - head);
  return links;
}

// ---- Positions of messages over time, like uncore.trace.places.
function waysOf({ links }, messages, start, engine) {
  const routes = new Map();
  const path = (source, target, line) => {
    const key = `${source} ${target} ${line}`;
    if (!routes.has(key)) {
      const route = [];
      for (let at = source; at !== target; at = links[route[route.length - 1]].target)
        route.push(engine.link(source, target, line, route.length));
      routes.set(key, route);
    }
    return routes.get(key);
  };
  return messages.map(m => {
    const size = m.carries ? 'data' : SNOOPS.includes(m.kind) ? 'snoop' : 'control';
    const line = m.line / LINE_BYTES;
    const stops = [engine.stop(m.sender, line)];
    const times = [m.sent - start];
    const waits = [];
    for (const number of path(stops[0], engine.stop(m.receiver, line), line)) {
      stops.push(links[number].target);
      waits.push(m.links.get(number) || 0);
      times.push(times[times.length - 1] + waits[waits.length - 1] + links[number][size]);
    }
    return [stops, times, waits];
  });
}

// Converts a run's document to objects, and computes the state of a line, a hart or a message at a
// moment, which is given in ps.
const CORES = D.machine.cores.length;
const INTERNED = new Set(['source', 'object', 'kind', 'cell', 'event', 'what']);

function table(name) {
  const columns = D.columns[name];
  return D.tables[name].map(row => {
    const record = {};
    columns.forEach((column, i) => {
      record[column] = INTERNED.has(column) ? D.texts[row[i]] : row[i];
    });
    return record;
  });
}

const messages = table('messages');
messages.forEach((m, i) => {
  [m.stops, m.times, m.waits] = D.ways[i];
  m.index = i;
  m.isRegister = ['write', 'read', 'value'].includes(m.kind);
});
const states = table('states');
const holds = table('holds');
const turns = table('turns');
const accesses = table('accesses');
const hartEvents = table('harts');
const held = table('held');
const transactions = table('transactions');
const operations = D.operations.map(([hart, begin, end]) => ({ hart, begin, end }));
const lineName = new Map(D.lines);
const agentName = agent => (agent < 0 ? 'nobody' : D.machine.agents[agent]);

function grouped(rows, keyOf) {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  return groups;
}

const byLine = {
  messages: grouped(messages, m => m.line),
  states: grouped(states, s => s.line),
  turns: grouped(turns, t => t.line),
  accesses: grouped(accesses, a => a.line),
  held: grouped(held, h => h.line),
  holds: grouped(holds, h => h.line),
  transactions: grouped(transactions, t => t.line),
};
const of = (name, line) => byLine[name].get(line) || [];

// Returns a map from each agent that has the line in a valid state to this state.
function statesAt(line, t) {
  const copies = new Map(of('held', line).map(h => [h.agent, h.state]));
  for (const change of of('states', line)) {
    if (change.at > t) break;
    copies.set(change.agent, change.after);
  }
  for (const [agent, state] of copies) if (roleOf(state) === 'invalid') copies.delete(agent);
  return copies;
}

// Return properties of a state, from the tables of the protocol; a missing state is invalid.
const roleOf = state => D.states[state]?.role ?? 'invalid';
const isTransient = state => D.states[state]?.transient ?? false;
// The roles of states that hold a copy, with a description; those with most rights come first.
const COPY_ROLES = {
  modified: 'may write',
  exclusive: 'may write, clean',
  owned: 'owner, dirty',
  forwarding: 'owner, clean',
  shared: 'may read',
};
const holdsCopy = state => roleOf(state) in COPY_ROLES;

function underWay(line, t) {
  return of('messages', line).filter(m => m.sent <= t && (m.arrived === NEVER || t < m.arrived));
}
const registers = messages.filter(m => m.isRegister);
const registersUnderWay = t => registers.filter(m => m.sent <= t && t < m.arrived);
function openTransactions(line, t) {
  return of('transactions', line).filter(x => x.request <= t && (x.close === NEVER || t < x.close));
}

// Returns the latest value of each object on the line, which every readable copy holds.
function valuesAt(line, t) {
  const values = new Map();
  for (const a of of('accesses', line)) {
    if (a.at <= t) values.set(a.object, a.left);
    else if (!values.has(a.object)) values.set(a.object, a.found);
  }
  return values;
}

const hartRows = grouped(hartEvents, e => e.hart);
const hartAccesses = grouped(accesses, a => a.hart);
function hartAt(hart, t) {
  const events = hartRows.get(hart) || [];
  const done = hartAccesses.get(hart) || [];
  const event = events[notAfter(events, t, e => e.at) - 1];
  const access = done[notAfter(done, t, a => a.at) - 1];
  const does = !event || ['goes on', 'wakes', 'returns'].includes(event.what) ? 'runs' : event.what;
  const later =
    event && (!access || event.at >= access.at) && event.source ? event : access || event;
  if (!later) {
    // before the first event of the hart, its source line is that of this event
    const next = [events[0], done[0]].filter(Boolean).sort((x, y) => x.at - y.at)[0];
    return { does: 'runs', source: next ? next.source : '', value: 0 };
  }
  return {
    does: does === 'interrupted' || does === 'traps' ? 'interrupt' : does,
    source: later.source,
    value: event ? event.value : 0,
  };
}

// Returns the points of the path between two stops. A path to a bus first goes vertically to the bus
// and then along it.
function way(from, to) {
  const [a, b_] = [D.machine.stops[from], D.machine.stops[to]];
  if (D.machine.buses.includes(to)) return [a, [a[0], b_[1]], b_];
  return D.machine.buses.includes(from) ? [a, [b_[0], a[1]], b_] : [a, b_];
}
// Returns the position of a message at a moment, as a point of the drawing.
function position(m, t) {
  const next = Math.max(1, notAfter(m.times, t));
  if (next >= m.stops.length) return D.machine.stops[m.stops[m.stops.length - 1]];
  const points = way(m.stops[next - 1], m.stops[next]);
  const [from, to] = [m.times[next - 1], m.times[next]];
  const share = (to > from ? (t - from) / (to - from) : 1) * (points.length - 1);
  const leg = Math.min(Math.floor(share), points.length - 2);
  return [0, 1].map(i => points[leg][i] + (points[leg + 1][i] - points[leg][i]) * (share - leg));
}

const KINDS = {
  ProbeS: 'probe',
  ProbeM: 'probe',
  Inv: 'probe',
  Data: 'data',
  Grant: 'data',
  Value: 'data',
  PutAck: 'answer',
  Answer: 'answer',
  Unblock: 'answer',
  write: 'interrupt',
  read: 'interrupt',
  value: 'interrupt',
};
const familyOf = m => KINDS[m.kind] || 'request';
const shown = m =>
  m.kind === 'Data' && m.right ? `Data ${m.right}` : m.kind === 'write' ? 'IPI' : m.kind;

// Returns the moments at which an event of this unit happens, in ascending order and without
// duplicates.
function moments(line, unit) {
  let times;
  if (unit === 'message') times = of('messages', line).flatMap(m => [m.sent, m.arrived]);
  else if (unit === 'transaction')
    times = of('transactions', line).flatMap(x => [x.request, x.close]);
  else times = operations.map(o => o.end);
  return [...new Set(times.filter(t => t >= 0 && t <= D.until))].sort((a, b) => a - b);
}

// Returns the first moment at which two requests for the line overlap; if none do, the moment of the
// first message.
function contended(line) {
  let busy = NEVER;
  for (const x of of('transactions', line).toSorted((a, b) => a.request - b.request)) {
    if (x.request >= 0 && x.request < busy) return x.request;
    busy = Math.max(busy, x.close === NEVER ? D.until : x.close);
  }
  return moments(line, 'message')[0] ?? 0;
}

const short = value => {
  const n = BigInt(`0x${value}`);
  return n > 0xffffffn ? `0x${value}` : n.toString();
};

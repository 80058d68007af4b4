// What happens, in words: sentences for the log, each with the rule of docs/model.md that it follows.
const esc = text =>
  String(text).replace(
    /[&<>"]/g,
    c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c],
  );
const called = agent => {
  const r = D.machine.resolvers[agent - CORES];
  return r ? `${r[3]} ` : '';
};
const b = agent => `${called(agent)}<b>${esc(agentName(agent))}</b>`;
const upper = text => (text[0] === '<' ? text : text[0].toUpperCase() + text.slice(1));
const named = line => `<code>${esc(lineName.get(line) || `0x${line.toString(16)}`)}</code>`;
const rule = numbers => ` <small>${numbers}</small>`;

const SENT = {
  GetS: m =>
    `${upper(b(m.sender))} asks ${b(m.receiver)} for ${named(m.line)}, to read it${rule('C1')}`,
  GetM: m =>
    `${upper(b(m.sender))} asks ${b(m.receiver)} for ${named(m.line)}, to write it${rule('C1')}`,
  Upg: m =>
    `${upper(b(m.sender))} has a copy of ${named(m.line)} and asks ${b(m.receiver)} for the right to write it${rule('C1')}`,
  Amo: m =>
    `${upper(b(m.sender))} sends an atomic operation on ${named(m.line)} to ${b(m.receiver)}${rule('C8.1')}`,
  Put: m => `${upper(b(m.sender))} writes ${named(m.line)} back to ${b(m.receiver)}${rule('C5')}`,
  ProbeS: m =>
    `${upper(b(m.sender))} tells ${b(m.receiver)} to share ${named(m.line)}${to(m)}${rule('R3, R4')}`,
  ProbeM: m =>
    `${upper(b(m.sender))} tells ${b(m.receiver)} to give ${named(m.line)} up${to(m)}${rule('R3, R4')}`,
  Inv: m =>
    `${upper(b(m.sender))} tells ${b(m.receiver)} that its copy of ${named(m.line)} is no longer valid${rule('R3')}`,
  Data: m =>
    `${upper(b(m.sender))} hands ${named(m.line)} to ${b(m.receiver)}${m.right ? `, in ${m.right}` : ''}${rule('R4, R6')}`,
  Grant: m =>
    `${upper(b(m.sender))} grants ${b(m.receiver)} the right to write ${named(m.line)}${rule('R2')}`,
  Value: m =>
    `${upper(b(m.sender))} sends ${b(m.receiver)} what the atomic has read of ${named(m.line)}${rule('C8.3')}`,
  PutAck: m =>
    `${upper(b(m.sender))} tells ${b(m.receiver)} that ${named(m.line)} is written back${rule('C5')}`,
  Answer: m => `${upper(b(m.sender))} answers ${b(m.receiver)}: ${answered(m)}${rule('C2')}`,
  Unblock: m =>
    `${upper(b(m.sender))} tells ${b(m.receiver)} that ${named(m.line)} has come${rule('R5')}`,
  write: m => `${upper(b(m.sender))} sends an interrupt to ${b(m.receiver)}${rule('I1')}`,
  read: m => `${upper(b(m.sender))} asks ${b(m.receiver)} for a register${rule('I4')}`,
  value: m => `${upper(b(m.sender))} answers ${b(m.receiver)} with a register${rule('I4')}`,
};
const to = m =>
  m.requester >= 0 ? `, and to hand the data to ${b(m.requester)}` : ', and to send the data back';

// The flags of an Answer (sim/native/coherence/message.hh).
function answered(m) {
  const has = flag => (m.flags & flag) !== 0;
  const said = [];
  if (has(32)) said.push('the data went to who asked');
  else if (has(16)) said.push('here are the data');
  else if (has(1)) said.push('the data are given');
  if (has(2)) said.push('and were written');
  if (has(4)) said.push('a copy stays');
  if (has(8)) said.push('it stays the owner');
  return said.length ? said.join(', ') : 'nothing is here';
}

const FOUND = {
  N: 'nobody below has it',
  S: 'others share it',
  W: 'one below owns it',
  B: 'one owns it and others share it',
  R: 'who asks is its owner already',
  U: 'every other is asked',
};
const DOES = {
  load: 'reads',
  store: 'writes',
  amo: 'does an atomic on',
  cas_pair: 'does an atomic on',
  lr: 'reserves',
  sc: 'stores conditionally to',
};
const WRITES = ['store', 'amo', 'cas_pair', 'sc'];

function turned(t) {
  const op =
    of('transactions', t.line).find(x => x.requester === t.requester && x.number === t.number)
      ?.op || '';
  const cell = op && D.rows[t.children] ? D.rows[t.children][op] : '';
  const owner = t.owner >= 0 && t.children !== 'N' ? ` (${b(t.owner)})` : '';
  return `${upper(b(t.resolver))} serves ${b(t.requester)}: ${FOUND[t.children]}${owner}; row ${t.children}, ${op}: <code>${esc(cell || '-')}</code>${rule('R2')}`;
}
function changed(s) {
  const became = s.before === s.after ? `stays ${s.after}` : `${s.before} → ${s.after}`;
  return `${upper(b(s.agent))}: ${became} at ${s.event}, <code>${esc(s.cell || '-')}</code>${rule('C1')}`;
}
function performed(a) {
  const where = a.source ? ` at ${esc(a.source)}` : '';
  const waited = a.at - a.issued;
  const value =
    a.left !== a.found ? `: ${short(a.found)} becomes ${short(a.left)}` : `: ${short(a.found)}`;
  const long = waited > 0 ? `, having waited ${time(waited)}` : '';
  return `<b>hart ${a.hart}</b> ${DOES[a.kind] || a.kind} <code>${esc(a.object)}</code>${value}${where}${long}${rule(waited > 0 ? 'H5' : 'H1')}`;
}
const putOff = m =>
  `${upper(b(m.receiver))} has let the probe wait ${time(m.acts - m.arrived)}: it keeps what it has won or works on, ${named(m.line)}${rule('C4')}`;

// What is told of the line: [time, order at one time, sentence as a function]
function sentences(line) {
  const found = [];
  for (const m of of('messages', line)) {
    found.push([m.sent, 3, () => SENT[m.kind](m)]);
    if (m.receiver < CORES && m.acts > m.arrived && m.arrived !== NOT)
      found.push([m.acts, 0, () => putOff(m)]);
  }
  for (const m of registers) found.push([m.sent, 3, () => SENT[m.kind](m)]);
  for (const s of of('states', line)) found.push([s.at, 1, () => changed(s)]);
  for (const t of of('turns', line)) found.push([t.at, 2, () => turned(t)]);
  for (const a of of('accesses', line))
    if (a.issued < a.at || WRITES.includes(a.kind)) found.push([a.at, 4, () => performed(a)]);
  for (const e of hartEvents)
    if (e.what === 'sleeps' && e.value - (e.value % 64) === line)
      found.push([
        e.at,
        5,
        () =>
          `<b>hart ${e.hart}</b> sees nothing new in its loop${e.source ? ` at ${esc(e.source)}` : ''}, until ${named(line)} changes${rule('S1')}`,
      ]);
  for (const o of operations)
    found.push([
      o.end,
      6,
      () => `<b>hart ${o.hart}</b> has done an operation in ${time(o.end - o.begin)}`,
    ]);
  return found.filter(([t]) => t >= 0 && t <= D.until).sort((x, y) => x[0] - y[0] || x[1] - y[1]);
}

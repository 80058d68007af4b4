// Describes events in sentences for the log, each with the rule of docs/model.md that it follows.
const resolverKind = agent => {
  const r = D.machine.resolvers[agent - CORES];
  return r ? `${r[3]} ` : '';
};
const b = agent => `${resolverKind(agent)}<b>${esc(agentName(agent))}</b>`;
const capitalized = text => (text[0] === '<' ? text : text[0].toUpperCase() + text.slice(1));
const code = text => `<code>${esc(text)}</code>`;
const lineCode = line => code(lineName.get(line) || `0x${line.toString(16)}`);
const ruleText = numbers => ` <small>${numbers}</small>`;

const event = (agent, text, numbers) => `${capitalized(b(agent))} ${text}${ruleText(numbers)}`;

// For each kind of message: a function that describes the sender's action, and the rule.
const SENT = {
  GetS: [(to, line) => `asks ${to} for ${line}, to read it`, 'C1'],
  GetM: [(to, line) => `asks ${to} for ${line}, to write it`, 'C1'],
  Upg: [(to, line) => `has a copy of ${line} and asks ${to} for the right to write it`, 'C1'],
  Amo: [(to, line) => `sends an atomic operation on ${line} to ${to}`, 'C8.1'],
  Put: [(to, line) => `writes ${line} back to ${to}`, 'C5'],
  ProbeS: [(to, line, m) => `tells ${to} to share ${line}${dataTo(m)}`, 'R3, R4'],
  ProbeM: [(to, line, m) => `tells ${to} to give ${line} up${dataTo(m)}`, 'R3, R4'],
  Inv: [(to, line) => `tells ${to} that its copy of ${line} is no longer valid`, 'R3'],
  Data: [(to, line, m) => `hands ${line} to ${to}${m.right ? `, in ${m.right}` : ''}`, 'R4, R6'],
  Grant: [(to, line) => `grants ${to} the right to write ${line}`, 'R2'],
  Value: [(to, line) => `sends ${to} what the atomic has read of ${line}`, 'C8.3'],
  PutAck: [(to, line) => `tells ${to} that ${line} is written back`, 'C5'],
  Answer: [(to, _line, m) => `answers ${to}: ${flagsInWords(m)}`, 'C2'],
  Unblock: [(to, line) => `tells ${to} that ${line} has come`, 'R5'],
  write: [to => `sends an interrupt to ${to}`, 'I1'],
  read: [to => `asks ${to} for a register`, 'I4'],
  value: [to => `answers ${to} with a register`, 'I4'],
};
function sent(m) {
  const [words, numbers] = SENT[m.kind];
  return event(m.sender, words(b(m.receiver), lineCode(m.line), m), numbers);
}
const dataTo = m =>
  m.requester >= 0 ? `, and to hand the data to ${b(m.requester)}` : ', and to send the data back';

// Describes the flags of an Answer (sim/native/coherence/message.hh).
function flagsInWords(m) {
  const has = flag => (m.flags & flag) !== 0;
  const parts = [];
  if (has(32)) parts.push('the data went to who asked');
  else if (has(16)) parts.push('here are the data');
  else if (has(1)) parts.push('the data are given');
  if (has(2)) parts.push('and were written');
  if (has(4)) parts.push('a copy stays');
  if (has(8)) parts.push('it stays the owner');
  return parts.length ? parts.join(', ') : 'nothing is here';
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
  const transaction = of('transactions', t.line).find(
    x => x.requester === t.requester && x.number === t.number,
  );
  const op = transaction?.op || '';
  const cell = op && D.rows[t.children] ? D.rows[t.children][op] : '';
  const owner = t.owner >= 0 && t.children !== 'N' ? ` (${b(t.owner)})` : '';
  const row = `row ${t.children}, ${op}: ${code(cell || '-')}`;
  return event(t.resolver, `serves ${b(t.requester)}: ${FOUND[t.children]}${owner}; ${row}`, 'R2');
}
function changed(s) {
  const became = s.before === s.after ? `stays ${s.after}` : `${s.before} → ${s.after}`;
  return `${capitalized(b(s.agent))}: ${became} at ${s.event}, ${code(s.cell || '-')}${ruleText('C1')}`;
}
function accessed(a) {
  const where = a.source ? ` at ${esc(a.source)}` : '';
  const waited = a.at - a.issued;
  const value =
    a.left !== a.found ? `: ${short(a.found)} becomes ${short(a.left)}` : `: ${short(a.found)}`;
  const long = waited > 0 ? `, having waited ${time(waited)}` : '';
  const access = `${DOES[a.kind] || a.kind} ${code(a.object)}${value}${where}${long}`;
  return `<b>hart ${a.hart}</b> ${access}${ruleText(waited > 0 ? 'H5' : 'H1')}`;
}
function delayed(m) {
  const delay = `has let the probe wait ${time(m.acts - m.arrived)}`;
  return event(
    m.receiver,
    `${delay}: it keeps what it has won or works on, ${lineCode(m.line)}`,
    'C4',
  );
}
function slept(e) {
  const where = e.source ? ` at ${esc(e.source)}` : '';
  const until = `until ${lineCode(e.value)} changes`;
  return `<b>hart ${e.hart}</b> sees nothing new in its loop${where}, ${until}${ruleText('S1')}`;
}

// Returns the log of a line. Each entry is [time, order among the events of this time, function that
// returns the sentence, text of the event without its time, by which two runs are compared].
function sentences(line) {
  const log = [];
  const add = (t, order, say, ...what) => log.push([t, order, say, [order, ...what].join(' ')]);
  for (const m of of('messages', line)) {
    add(m.sent, 3, () => sent(m), m.kind, m.sender, m.receiver, m.requester, m.right, m.flags);
    if (m.receiver < CORES && m.acts > m.arrived && m.arrived !== NEVER)
      add(m.acts, 0, () => delayed(m), m.kind, m.receiver);
  }
  for (const m of registers) add(m.sent, 3, () => sent(m), m.kind, m.sender, m.receiver);
  for (const s of of('states', line))
    add(s.at, 1, () => changed(s), s.agent, s.before, s.event, s.after);
  for (const t of of('turns', line))
    add(t.at, 2, () => turned(t), t.resolver, t.requester, t.children, t.owner, t.sharers);
  for (const a of of('accesses', line))
    if (a.issued < a.at || WRITES.includes(a.kind))
      add(a.at, 4, () => accessed(a), a.hart, a.kind, a.object, a.found, a.left);
  for (const e of hartEvents)
    if (e.what === 'sleeps' && e.value === line) add(e.at, 5, () => slept(e), e.hart);
  for (const o of operations)
    add(
      o.end,
      6,
      () => `<b>hart ${o.hart}</b> has done an operation in ${time(o.end - o.begin)}`,
      o.hart,
    );
  return log.filter(([t]) => t >= 0 && t <= D.until).sort((x, y) => x[0] - y[0] || x[1] - y[1]);
}

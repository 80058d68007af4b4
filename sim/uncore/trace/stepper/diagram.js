// The state diagram of the protocol. It highlights the state of the chosen core's copy of the line,
// and the cell of the client table that led to this state.
const diagram = new DOMParser().parseFromString(D.diagram, 'image/svg+xml').documentElement;
diagram.setAttribute('role', 'img');
diagram.setAttribute('aria-label', `states of ${D.protocol}`);
$('diagram').append(diagram);
for (const core of [...usedCores].sort((a, b_) => a - b_))
  $('agent').append(new Option(agentName(core), core));

// Returns the last event of the copy, even if it did not change the state.
function lastCell(line, agent, t) {
  const events = of('states', line).filter(s => s.agent === agent && s.at <= t);
  return events[events.length - 1];
}
function showDiagram(line, t) {
  const agent = Number($('agent').value);
  const last = lastCell(line, agent, t);
  const first = of('held', line).find(h => h.agent === agent);
  const state = last?.after ?? first?.state ?? 'I';
  for (const node of diagram.querySelectorAll('.node'))
    node.classList.toggle('lit', node.dataset.state === state);
  for (const arrow of diagram.querySelectorAll('.move')) {
    const { from, to, events } = arrow.dataset;
    const isLast = last && from === last.before && to === last.after;
    arrow.classList.toggle('lit', Boolean(isLast) && events.split(' ').includes(last.event));
  }
  $('cell').innerHTML = last
    ? `<b>${esc(last.before)}</b>, ${esc(last.event)}: ${code(last.cell || '-')} at ${time(last.at)}`
    : `<b>${esc(state)}</b>: nothing has happened to this copy yet`;
}

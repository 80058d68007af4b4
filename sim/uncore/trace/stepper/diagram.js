// The diagram of the protocol's states beside the run. It marks the state of the chosen core's copy
// of the line, and the client table's cell that led to it.
const diagram = new DOMParser().parseFromString(D.diagram, 'image/svg+xml').documentElement;
diagram.setAttribute('role', 'img');
diagram.setAttribute('aria-label', `states of ${D.protocol}`);
$('diagram').append(diagram);
for (const core of [...usedCores].sort((a, b_) => a - b_))
  $('agent').append(new Option(agentName(core), core));

// Returns the last event of the copy, whether or not it changed its state.
function lastCell(line, agent, t) {
  const mine = of('states', line).filter(s => s.agent === agent && s.at <= t);
  return mine[mine.length - 1];
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

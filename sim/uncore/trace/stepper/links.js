// Shows the busiest links over time. The run is divided into COLUMNS parts. For each part, `use` is
// the mean number of messages that cross a link, and `queue` of those that wait for it.
const COLUMNS = 160;
const MAX_LINKS = 6; // number of links shown
// Maps "stop-stop" to { use, queue }, which have one number for each part of the run.
const linkLoads = new Map();
for (const m of messages)
  for (let i = 1; i < m.stops.length; i++) addLoad(m.stops[i - 1], m.stops[i], m, i);

function addLoad(from, to, { times, waits }, i) {
  const wire = [from, to].sort((a, b_) => a - b_).join('-');
  const none = () => new Array(COLUMNS).fill(0);
  if (!linkLoads.has(wire)) linkLoads.set(wire, { use: none(), queue: none() });
  const { use, queue } = linkLoads.get(wire);
  const begun = times[i - 1] + waits[i - 1];
  addTime(queue, times[i - 1], begun);
  addTime(use, begun, times[i]);
}
function addTime(load, from, to) {
  const part = Math.max(1, D.until) / COLUMNS;
  const [begin, end] = [Math.max(0, from), Math.min(D.until, to)];
  for (let n = Math.floor(begin / part); n * part < end && n < COLUMNS; n++)
    load[n] += Math.max(0, Math.min(end, (n + 1) * part) - Math.max(begin, n * part)) / part;
}
function stopName(stop) {
  const [agent] = agentsAt.get(stop) ?? [];
  return agent === undefined ? D.machine.names[stop] : agentName(agent);
}

const cursors = [];
const sum = load => load.reduce((a, b_) => a + b_, 0);
function drawLinks() {
  const total = ({ use, queue }) => sum(use) + sum(queue);
  const busiest = [...linkLoads].sort((a, b_) => total(b_[1]) - total(a[1])).slice(0, MAX_LINKS);
  const most = Math.max(1, ...busiest.flatMap(([, { use, queue }]) => [...use, ...queue]));
  for (const [wire, loads] of busiest) {
    const name = wire.split('-').map(Number).map(stopName).join(' – ');
    const row = document.createElement('div');
    row.innerHTML = `<span>${esc(name)}</span>`;
    for (const [what, load] of Object.entries(loads)) drawStrip(row, name, what, load, most);
    $('links').append(row);
  }
}
function drawStrip(row, name, what, load, most) {
  const box = { viewBox: `0 0 ${COLUMNS} 1`, preserveAspectRatio: 'none', 'aria-hidden': 'true' };
  const svg = make('svg', { class: what, ...box }, row);
  load.forEach((value, x) => {
    const height = value / most;
    if (value) make('rect', { x, y: 1 - height, width: 1, height, fill: 'currentColor' }, svg);
  });
  cursors.push(make('rect', { class: 'now', y: 0, width: 0.5, height: 1 }, svg));
  make('title', {}, svg, `${name}, ${what}: ${(sum(load) / COLUMNS).toFixed(2)} in the mean`);
  svg.addEventListener('click', event => {
    const { left, width } = svg.getBoundingClientRect();
    run.timeChosen(((event.clientX - left) / width) * D.until);
  });
  const words = document.createElement('small');
  words.textContent = `${what} ${Math.max(...load).toFixed(1)} at most`;
  row.append(words);
}
function showLinks(t) {
  for (const cursor of cursors) cursor.setAttribute('x', (t / Math.max(1, D.until)) * COLUMNS);
}

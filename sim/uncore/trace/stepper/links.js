// The busiest links over time: how many messages, about any line, are on each, waiting for it or
// crossing it; the mean of each of so many parts of the run.
const COLUMNS = 160;
const MOST_LINKS = 6; // strips
const linkLoads = new Map(); // "stop-stop" -> mean number of messages in each part
for (const m of messages)
  for (let i = 1; i < m.stops.length; i++) addLoad(m.stops[i - 1], m.stops[i], m.times, i);

function addLoad(from, to, times, i) {
  const wire = [from, to].sort((a, b_) => a - b_).join('-');
  if (!linkLoads.has(wire)) linkLoads.set(wire, new Array(COLUMNS).fill(0));
  const load = linkLoads.get(wire);
  const part = Math.max(1, D.until) / COLUMNS;
  const [begin, end] = [Math.max(0, times[i - 1]), Math.min(D.until, times[i])];
  for (let n = Math.floor(begin / part); n * part < end && n < COLUMNS; n++)
    load[n] += Math.max(0, Math.min(end, (n + 1) * part) - Math.max(begin, n * part)) / part;
}
function stopName(stop) {
  const [agent] = seats.get(stop) ?? [];
  return agent === undefined ? D.machine.names[stop] : agentName(agent);
}

const cursors = [];
function drawLinks() {
  const sum = load => load.reduce((a, b_) => a + b_, 0);
  const busiest = [...linkLoads].sort((a, b_) => sum(b_[1]) - sum(a[1])).slice(0, MOST_LINKS);
  const most = Math.max(1, ...busiest.flatMap(([, load]) => load));
  for (const [wire, load] of busiest) {
    const name = wire.split('-').map(Number).map(stopName).join(' – ');
    const row = document.createElement('div');
    row.innerHTML = `<span>${esc(name)}</span>`;
    row.title = `${name}: ${(sum(load) / COLUMNS).toFixed(2)} messages in the mean`;
    const strip = {
      viewBox: `0 0 ${COLUMNS} 1`,
      preserveAspectRatio: 'none',
      'aria-hidden': 'true',
    };
    const svg = make('svg', strip, row);
    load.forEach((value, x) => {
      const height = value / most;
      if (value) make('rect', { x, y: 1 - height, width: 1, height, fill: 'currentColor' }, svg);
    });
    cursors.push(make('rect', { class: 'now', y: 0, width: 0.5, height: 1 }, svg));
    make('title', {}, svg, row.title);
    svg.addEventListener('click', event => {
      const { left, width } = svg.getBoundingClientRect();
      run.asked(((event.clientX - left) / width) * D.until);
    });
    row.append(`${Math.max(...load).toFixed(1)} at most`);
    $('links').append(row);
  }
}
function showLinks(t) {
  for (const cursor of cursors) cursor.setAttribute('x', (t / Math.max(1, D.until)) * COLUMNS);
}

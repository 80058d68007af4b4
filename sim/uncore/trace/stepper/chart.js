// The message-sequence chart: it has a vertical line for each agent, an arrow for each message, and a
// row for each moment. It shows as many rows as fit; about two thirds are before the current moment.
const ROW_HEIGHT = 27;
const HEAD_HEIGHT = 26;
const LEFT_MARGIN = 70;
const LABEL_FONT_PX = 12.5; // font size of the labels of messages
const badgeBox = (x, y) => [x - 12, y - 9, x + 12, y + 9];
const rowsOf = new Map();
function chartTimes(line) {
  if (!rowsOf.has(line)) {
    const times = of('messages', line)
      .flatMap(m => [m.sent, m.arrived])
      .concat(
        of('states', line)
          .filter(s => s.before !== s.after)
          .map(s => s.at),
      );
    rowsOf.set(
      line,
      [...new Set(times)].filter(t => t >= 0).sort((a, b_) => a - b_),
    );
  }
  return rowsOf.get(line);
}

// Returns the part of the chart that fits: its moments, and the messages and changes of state in it.
function visiblePart(line, t, height) {
  const times = chartTimes(line);
  const maxRows = Math.max(6, Math.floor((height - HEAD_HEIGHT) / ROW_HEIGHT - 0.6));
  const here = notAfter(times, t);
  const first = Math.max(0, Math.min(here - Math.ceil(maxRows * 0.65), times.length - maxRows));
  const rows = times.slice(first, first + maxRows);
  const [from, to] = [rows[0], rows[rows.length - 1]];
  const visible = of('messages', line).filter(
    m => m.sent <= to && (m.arrived === NEVER ? m.sent >= from : m.arrived >= from),
  );
  const changes = of('states', line).filter(
    s => s.before !== s.after && s.at >= from && s.at <= to,
  );
  return { rows, visible, changes };
}

function showChart(line, t, go, partings) {
  const svg = $('chart');
  const width = Math.max(320, svg.clientWidth);
  const height = Math.max(240, svg.clientHeight);
  const { rows, visible, changes } = visiblePart(line, t, height);
  const agents = [
    ...new Set([...visible.flatMap(m => [m.sender, m.receiver]), ...changes.map(s => s.agent)]),
  ].sort((a, b_) => order(a) - order(b_));
  const column = (width - LEFT_MARGIN - 70) / Math.max(1, agents.length - 1);
  const x = agent =>
    agents.length === 1 ? width / 2 : LEFT_MARGIN + 28 + agents.indexOf(agent) * column;
  const row = new Map(rows.map((when, i) => [when, HEAD_HEIGHT + (i + 0.8) * ROW_HEIGHT]));
  const y = when => (when < rows[0] ? HEAD_HEIGHT : (row.get(when) ?? height));
  svg.replaceChildren();
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  drawLifeLines(svg, agents, x, height);
  for (const when of rows)
    make('text', { class: 'row-time', x: LEFT_MARGIN - 14, y: y(when) + 4 }, svg, time(when));
  const labels = new Labels();
  labels.reserve([0, 0, width, HEAD_HEIGHT]); // the names of the agents
  for (const s of changes) labels.reserve(badgeBox(x(s.agent), y(s.at)));
  for (const m of visible) drawArrow(svg, m, t, x, y, go, labels);
  for (const s of changes) drawBadge(svg, s, t, x, y);
  for (const when of rows) {
    if (!partings.has(when)) continue;
    const at = y(when) - ROW_HEIGHT / 2;
    make('line', { class: 'parting', x1: 0, x2: width, y1: at, y2: at }, svg);
  }
  if (rows.length) {
    const next = rows.findIndex(when => when > t);
    const at =
      next < 0
        ? height - 4
        : next === 0
          ? HEAD_HEIGHT + 2
          : (y(rows[next - 1]) + y(rows[next])) / 2;
    make('line', { class: 'cursor', x1: 0, x2: width, y1: at, y2: at }, svg);
  }
}

function drawLifeLines(svg, agents, x, height) {
  const crowded = agents.length > 7;
  const column = agents.length > 1 ? x(agents[1]) - x(agents[0]) : 99;
  for (const agent of agents) {
    make(
      'line',
      { class: 'life', x1: x(agent), x2: x(agent), y1: HEAD_HEIGHT - 4, y2: height },
      svg,
    );
    const name = crowded ? agentName(agent).replace('core ', 'c') : agentName(agent);
    const size = Math.min(13, column / (LETTER_WIDTH * (name.length + 0.5)));
    const style = `font-size:${size}px`;
    make('text', { class: 'life-name', x: x(agent), y: 16, style }, svg, name);
  }
}

// Columns are ordered by core number; resolvers and memories are in the middle.
const middle = CORES / 2 - 0.5;
const order = agent => (agent < CORES ? agent : middle + (agent - CORES + 1) / 1000);

function timesOf(m) {
  const arrived = m.arrived === NEVER ? '-' : time(m.arrived);
  const waited = m.waited ? `, waited ${time(m.waited)}` : '';
  const sender = `${agentName(m.sender)} ${time(m.sent)}`;
  return `${shown(m)}: ${sender}, ${agentName(m.receiver)} ${arrived}${waited}`;
}

function drawArrow(svg, m, t, x, y, go, labels) {
  const kind = familyOf(m);
  const x1 = x(m.sender);
  const x2 = x(m.receiver);
  const y1 = y(m.sent);
  const y2 = m.arrived === NEVER ? y1 + ROW_HEIGHT : y(m.arrived);
  const when = m.sent > t ? ' later' : m.arrived === NEVER || t < m.arrived ? ' flying' : '';
  const g = make('g', { class: `arrow ${kind}${when}` }, svg);
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  make(
    'line',
    {
      x1,
      y1,
      x2: x2 - 6 * ux,
      y2: y2 - 6 * uy,
      'stroke-dasharray': kind === 'answer' ? '5 4' : kind === 'probe' ? '9 3' : '',
    },
    g,
  );
  make(
    'path',
    {
      d: `M0,0L-11,5L-11,-5Z`,
      transform: `matrix(${ux},${uy},${-uy},${ux},${x2},${y2})`,
    },
    g,
  );
  const places = [0.42, 0.55, 0.3, 0.68, 0.2, 0.8].map(share => [
    x1 + (x2 - x1) * share,
    y1 + (y2 - y1) * share - 4,
  ]);
  const place = labels.place(places, shown(m), LABEL_FONT_PX);
  if (place) make('text', { class: kind, x: place[0], y: place[1] }, g, shown(m));
  make('title', {}, g, timesOf(m));
  g.addEventListener('click', () => go(m.sent));
}

function drawBadge(svg, s, t, x, y) {
  const hasCopy = holdsCopy(s.after);
  const g = make(
    'g',
    {
      class:
        'badge' +
        (isTransient(s.after) ? ' pending' : '') +
        (hasCopy ? '' : ' none') +
        (s.at > t ? ' later' : ''),
      transform: `translate(${x(s.agent)},${y(s.at)})`,
    },
    svg,
  );
  make(
    'rect',
    {
      x: -12,
      y: -9,
      width: 24,
      height: 18,
      rx: 4,
      class: hasCopy ? `copy ${roleOf(s.after)}` : '',
      fill: 'var(--panel)',
    },
    g,
  );
  make('text', { y: 4 }, g, s.after);
  make(
    'title',
    {},
    g,
    `${agentName(s.agent)}: ${s.before} to ${s.after} at ${s.event} (${s.cell})`,
  );
}

// Draws the machine: stops, wires and frames once; copies and messages again at every moment.
const STOP_SIZE = 100; // size of one stop in the drawing
let stretch = 1; // horizontal scale at which the drawing fills its box
const across = x => x * stretch * STOP_SIZE;
const down = y => y * 1.25 * STOP_SIZE; // leaves space for the wire between a stop and the parts below it
// Maps a stop to its agents, which are drawn side by side.
const agentsAt = new Map();
function placeAgent(stop, agent) {
  if (!agentsAt.has(stop)) agentsAt.set(stop, []);
  if (!agentsAt.get(stop).includes(agent)) agentsAt.get(stop).push(agent);
}
for (const [core, stop] of D.machine.cores.entries()) placeAgent(stop, core);
for (const [n, [, , stops]] of D.machine.resolvers.entries())
  for (const stop of new Set(stops)) placeAgent(stop, CORES + n);
for (const [n, stop] of D.machine.memories.entries())
  placeAgent(stop, CORES + D.machine.resolvers.length + n);

// Returns the width that is available to the agents of a stop, up to the next stop in its row.
function widthAt(stop) {
  const [x, y] = D.machine.stops[stop];
  let distance = 2.5;
  for (const other of agentsAt.keys()) {
    const [ox, oy] = D.machine.stops[other];
    if (other !== stop && Math.abs(oy - y) < 0.7) distance = Math.min(distance, Math.abs(ox - x));
  }
  return 0.92 * distance;
}

const drawn = { agents: new Map(), wires: new Map(), boxes: [] };
const usedCores = new Set(D.harts.map(([, core]) => core));

// The part of the drawing in which harts run and messages travel. hasPart is false if this is nearly
// the whole drawing.
const WHOLE_DRAWING = [-0.35, 0.2, D.machine.size[0] + 0.7, D.machine.size[1] - 0.3];
const ACTIVE_PART = activePart();
const hasPart = ACTIVE_PART[2] * ACTIVE_PART[3] < 0.8 * WHOLE_DRAWING[2] * WHOLE_DRAWING[3];
let cropped = hasPart;
function activePart() {
  const stops = new Set(D.harts.map(([, core]) => D.machine.cores[core]));
  for (const [way] of D.ways) for (const stop of way) stops.add(stop);
  const ends = i => {
    const coordinates = [...stops].map(stop => D.machine.stops[stop][i]);
    return [Math.min(...coordinates) - 1.6, Math.max(...coordinates) + 1.6];
  };
  const [[x1, x2], [y1, y2]] = [ends(0), ends(1)];
  const [x, y, width, height] = WHOLE_DRAWING;
  const left = Math.max(x, x1);
  const top = Math.max(y, y1);
  return [left, top, Math.min(x + width, x2) - left, Math.min(y + height, y2) - top];
}

// Switches between the active part and the whole drawing.
function toggleCrop() {
  cropped = !cropped;
  $('crop').setAttribute('aria-pressed', String(!cropped));
  drawMachine();
}

function drawMachine() {
  const svg = $('machine');
  const [x, y, width, height] = cropped ? ACTIVE_PART : WHOLE_DRAWING;
  stretch = Math.min(
    2.2,
    Math.max(
      1,
      ((svg.clientWidth / Math.max(1, svg.clientHeight)) * down(height)) / (width * STOP_SIZE),
    ),
  );
  drawn.area = [across(x), down(y), across(x + width), down(y + height)];
  svg.setAttribute('viewBox', `${across(x)} ${down(y)} ${across(width)} ${down(height)}`);
  svg.replaceChildren();
  drawn.agents.clear();
  drawn.wires.clear();
  drawn.boxes = [];
  for (const [label, x, y, w, h] of D.machine.frames) {
    make(
      'rect',
      { class: 'frame', x: across(x), y: down(y), width: across(w), height: down(h), rx: 12 },
      svg,
    );
    make('text', { class: 'frame-name', x: across(x) + 14, y: down(y) + 32 }, svg, label);
  }
  for (const bus of D.machine.buses) drawBar(svg, bus);
  for (const [a, b_] of D.machine.wires) {
    const points = way(a, b_).map(([x, y]) => `${across(x)},${down(y)}`);
    const wire = make('polyline', { class: 'wire', points: points.join(' ') }, svg);
    drawn.wires.set(`${a}-${b_}`, wire);
  }
  D.machine.stops.forEach(([x, y], stop) => {
    if (!agentsAt.has(stop))
      make('circle', { class: 'stop', cx: across(x), cy: down(y), r: 6 }, svg);
  });
  for (const [stop, agents] of agentsAt)
    for (const [i, agent] of agents.entries()) drawAgent(svg, stop, agent, i, agents.length);
  drawn.flying = make('g', { class: 'flying' }, svg);
}

// Draws a bus as a bar that spans all stops connected to it.
function drawBar(svg, bus) {
  const ends = D.machine.wires.map(([a, b_]) => [a, b_]).filter(both => both.includes(bus));
  const xs = ends.flat().map(stop => across(D.machine.stops[stop][0]));
  const y = down(D.machine.stops[bus][1]);
  const [x1, x2] = [Math.min(...xs) - 30, Math.max(...xs) + 30];
  make('line', { class: 'bar', x1, x2, y1: y, y2: y }, svg);
}

// Height of an agent's box, and the positions of the texts in it. Cores have the largest boxes.
const CORE_BOX = { tall: 1.26, name: -34, state: { y: 21 } };
const OTHER_BOX = { tall: 0.64, name: -5, state: { y: 23, style: 'font-size:26px' } };

function kindOf(agent) {
  if (agent < CORES) return 'core';
  return agent < CORES + D.machine.resolvers.length ? 'resolver' : 'memory';
}

function drawAgent(svg, stop, agent, i, count) {
  const [x, y] = D.machine.stops[stop];
  const kind = kindOf(agent);
  const { tall, name, state } = kind === 'core' ? CORE_BOX : OTHER_BOX;
  const wide = Math.min(1.38, widthAt(stop) / count - 0.04);
  const cx = across(x + (i - (count - 1) / 2) * (wide + 0.04));
  const w = across(wide);
  const h = tall * STOP_SIZE;
  const base = `agent ${kind}${kind === 'core' && !usedCores.has(agent) ? ' unused' : ''}`;
  const g = make('g', { class: base, transform: `translate(${cx},${down(y)})` }, svg);
  const box = make('rect', { x: -w / 2, y: -h / 2, width: w, height: h, rx: 8 }, g);
  drawn.boxes.push([cx - w / 2, down(y) - h / 2, cx + w / 2, down(y) + h / 2]);
  if (kind === 'core') g.addEventListener('click', () => chooseCore(agent));
  make('title', {}, g, `${agentName(agent)}, at ${D.machine.names[stop]}`);
  const size = Math.min(27, (1.5 * w) / Math.max(4, agentName(agent).length));
  make('text', { class: 'name', y: name, style: `font-size:${size}px` }, g, agentName(agent));
  const parts = {
    state: make('text', { class: 'state', ...state }, g),
    value: make('text', { class: 'value', y: h / 2 - 7 }, g),
  };
  if (!drawn.agents.has(agent)) drawn.agents.set(agent, []);
  drawn.agents.get(agent).push({ g, stop, box, base, ...parts });
}

function showMachine(line, t) {
  const copies = statesAt(line, t);
  const values = [...valuesAt(line, t)].slice(0, 2);
  const open = new Set(openTransactions(line, t).map(x => x.resolver));
  const slices = (D.lines.find(([l]) => l === line) || [])[2] || [];
  for (const [agent, places] of drawn.agents)
    for (const d of places) {
      const resolver = agent - CORES;
      const here = !(resolver in slices) || slices[resolver] === d.stop;
      const state = (here && copies.get(agent)) || '';
      const hasCopy = holdsCopy(state);
      d.g.setAttribute(
        'class',
        d.base +
          (hasCopy ? ' held' : '') +
          (isTransient(state) ? ' pending' : '') +
          (here && open.has(agent) ? ' busy' : ''),
      );
      d.box.setAttribute('class', hasCopy ? `copy ${roleOf(state)}` : '');
      d.state.textContent = state;
      d.value.textContent =
        agent < CORES && hasCopy ? values.map(([, v]) => short(v)).join(' · ') : '';
    }
  $('values').textContent = values.map(([object, v]) => `${object} = ${short(v)}`).join(', ');
  showFlying(line, t);
}

const SHAPES = {
  request: 'M0,-13A13,13 0 1 1 0,13A13,13 0 1 1 0,-13Z',
  probe: 'M-14,-11L14,-11L0,14Z',
  data: 'M-12,-12H12V12H-12Z',
  answer: 'M0,-14L14,0L0,14L-14,0Z',
  interrupt: 'M0,-15L4,-4L15,-4L6,3L10,14L0,7L-10,14L-6,3L-15,-4L-4,-4Z',
};

const FLYING_FONT_SIZE = 31; // font size of the labels of messages, in units of the drawing
function showFlying(line, t) {
  for (const wire of drawn.wires.values()) wire.classList.remove('busy');
  drawn.flying.replaceChildren();
  const labels = new Labels(drawn.boxes, drawn.area);
  for (const m of [...underWay(line, t), ...registersUnderWay(t)]) {
    m.stops.slice(1).forEach((stop, i) => {
      const w = drawn.wires.get([m.stops[i], stop].sort((x, y) => x - y).join('-'));
      if (w) w.classList.add('busy');
    });
    const [px, py] = position(m, t);
    const [x, y] = [across(px), down(py)];
    const kind = familyOf(m);
    const g = make('g', { transform: `translate(${x},${y})` }, drawn.flying);
    make('path', { d: SHAPES[kind], class: kind }, g);
    const offset = 20 + (LETTER_WIDTH * FLYING_FONT_SIZE * shown(m).length) / 2;
    const rows = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5];
    const places = rows.flatMap(row =>
      [offset, -offset].map(dx => [x + dx, y + 10 + 1.3 * FLYING_FONT_SIZE * row]),
    );
    const place = labels.place(places, shown(m), FLYING_FONT_SIZE);
    if (place) make('text', { class: kind, x: place[0] - x, y: place[1] - y }, g, shown(m));
    make('title', {}, g, `${shown(m)}, ${agentName(m.sender)} to ${agentName(m.receiver)}`);
  }
}

// Returns the states with this role that occur in the run, in the order of the tables.
function statesThatOccur(role) {
  const names = new Set(states.flatMap(s => [s.before, s.after]).concat(held.map(h => h.state)));
  return Object.keys(D.states).filter(state => names.has(state) && roleOf(state) === role);
}

function drawLegend() {
  for (const [role, words] of Object.entries(COPY_ROLES)) {
    const names = statesThatOccur(role);
    if (names.length)
      legendEntry('rect', { ...SWATCH, class: `copy ${role}` }, `${names.join(', ')} ${words}`);
  }
  legendEntry('rect', { ...SWATCH, class: 'transient' }, 'waits for an answer');
  for (const kind of ['request', 'probe', 'data', 'answer'])
    legendEntry(
      'path',
      { d: SHAPES[kind], class: kind, transform: 'translate(8,8) scale(.5)' },
      kind === 'data' ? 'data or grant' : kind,
    );
}

const SWATCH = { x: 1, y: 1, width: 14, height: 14, rx: 3 };
function legendEntry(shape, attributes, text) {
  const span = document.createElement('span');
  const svg = make('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, span);
  make(shape, attributes, svg);
  span.append(` ${text}`);
  $('legend').append(span);
}

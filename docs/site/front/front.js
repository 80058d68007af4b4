// The script of the front page. A worker simulates two locks, and the page animates the messages of
// both runs on a picture of the machine. Then the worker measures throughput curves of both locks.
const $ = id => document.getElementById(id);
const D = JSON.parse($('data').textContent);
const PS_PER_SECOND = 4e5; // ps of simulated time per second of animation
const PAUSE_S = 2; // seconds between the end of the animation and its restart
const COLOURED_PS = 5e5; // simulated time for which a core is coloured after an operation
const TAIL_PS = 1e4; // a message leaves a trail, which shows its route in the last ps of this time
const KINDS = { ask: ['GetS', 'GetM', 'Upg', 'Put', 'Amo'], give: ['Data', 'Grant', 'Value'] };
const SVG = 'http://www.w3.org/2000/svg';

let worker;
const races = [];
let now = 0;
let playing = false;
let lastFrameTime;

// ---- simulation
function replyTo(message) {
  return new Promise((resolve, reject) => {
    const points = [];
    worker.onmessage = ({ data }) => {
      if (data.point) points.push(data.point);
      if (data.wrong) reject(new Error(data.wrong));
      if (data.trace) resolve(data.trace);
      if (data.hash !== undefined) resolve(points);
    };
    worker.postMessage(message);
  });
}
function job(machine, program, threads, window) {
  const parameters = [['ops', D.ops, String(D.ops)]];
  return { machine, program, threads, seeds: [1], parameters, placement: 'compact', window };
}
async function simulate() {
  const source = new Blob([$('engine').textContent], { type: 'text/javascript' });
  worker = new Worker(URL.createObjectURL(source));
  const [wasm, shared, machine, ...programs] = await Promise.all([
    unpacked(D.wasm),
    ...[D.shared, D.machine, ...D.programs].map(unpackedValue),
  ]);
  worker.postMessage({ wasm, shared });
  const locks = programs.map(unpackedProgram);
  for (const program of locks) {
    const windowJob = job({ id: D.id, ...machine }, program, [D.threads], [D.skip, D.span]);
    races.push(raceOf(await replyTo({ job: windowJob, watch: [D.threads, 1], command: '' })));
    if (races.length === 1) startAnimation(); // the second run joins when it has finished
  }
  showComparison();
  const curves = locks.map(() => []);
  for (const threads of D.counts)
    for (const [n, program] of locks.entries()) {
      const [point] = await replyTo({ job: job({ id: D.id, ...machine }, program, [threads]) });
      curves[n].push([threads, (point.ops / point.elapsed_ps) * 1e6]);
      drawCurves(curves);
    }
}
// Converts a trace into messages with their routes, operations of cores, and the machine's drawing.
function raceOf({ machine, ways, tables, columns, texts, operations, harts }) {
  const kind = columns.messages.indexOf('kind');
  const messages = tables.messages.map((row, n) => ({
    kind: kindOf(texts[row[kind]]),
    stops: ways[n][0],
    times: ways[n][1],
  }));
  const core = new Map(harts);
  const turns = operations.filter(([, , end]) => end > 0).map(([h, , end]) => [core.get(h), end]);
  messages.sort((a, b) => a.times[0] - b.times[0]);
  return { machine, messages, turns, heat: heatOf(messages) };
}
const kindOf = text => Object.keys(KINDS).find(name => KINDS[name].includes(text)) || 'take';
function heatOf(messages) {
  const heat = new Map();
  for (const { stops } of messages)
    for (let i = 1; i < stops.length; i++) {
      const wire = [stops[i - 1], stops[i]].sort((a, b) => a - b).join();
      heat.set(wire, (heat.get(wire) || 0) + 1);
    }
  return heat;
}

// Returns a colour of the current theme, in a form that a canvas accepts.
function colour(name) {
  $('clock').style.outlineColor = `var(--${name})`;
  return getComputedStyle($('clock')).outlineColor;
}
function painterOf(canvas, machine) {
  const [width, height] = machine.size;
  const cssWidth = canvas.clientWidth;
  const scale = cssWidth / (width + 0.6);
  const dots = window.devicePixelRatio || 1;
  canvas.style.height = `${(height + 0.6) * scale}px`;
  canvas.width = cssWidth * dots;
  canvas.height = (height + 0.6) * scale * dots;
  const paint = canvas.getContext('2d');
  paint.setTransform(dots * scale, 0, 0, dots * scale, 0.3 * dots * scale, 0.3 * dots * scale);
  return paint;
}
function drawRace(n, colours) {
  const { machine, messages, turns, heat } = races[n];
  const paint = painterOf($(`machine${n}`), machine);
  const pointOf = stop => machine.stops[stop];
  drawWires(paint, machine, heat, colours, pointOf);
  const colouredCores = new Map(turns.filter(([, end]) => end <= now && end > now - COLOURED_PS));
  const half = 0.3;
  for (const [core, stop] of machine.cores.entries()) {
    const [x, y] = pointOf(stop);
    paint.fillStyle = colouredCores.has(core) ? colours.ask : colours.panel;
    paint.strokeStyle = colours.soft;
    paint.lineWidth = 0.05;
    paint.fillRect(x - half, y - half, 2 * half, 2 * half);
    paint.strokeRect(x - half, y - half, 2 * half, 2 * half);
  }
  for (const message of messages) {
    if (message.times[0] > now) break;
    drawMessage(paint, message, colours, pointOf);
  }
  $(`done${n}`).textContent = turns.filter(([, end]) => end <= now).length;
}
function drawWires(paint, machine, heat, colours, pointOf) {
  const busiestUse = Math.max(...races.flatMap(race => [...race.heat.values()]));
  paint.strokeStyle = colours.wire;
  for (const [a, b] of machine.wires) {
    paint.lineWidth = 0.05 + 0.3 * ((heat.get([a, b].join()) || 0) / busiestUse);
    paint.beginPath();
    paint.moveTo(...pointOf(a));
    paint.lineTo(...pointOf(b));
    paint.stroke();
  }
}
function drawMessage(paint, { kind, stops, times }, colours, pointOf) {
  if (times[times.length - 1] + TAIL_PS < now) return;
  const [x, y] = placeOf(stops, times, now, pointOf);
  paint.strokeStyle = paint.fillStyle = colours[kind];
  paint.lineWidth = 0.09;
  paint.beginPath();
  paint.moveTo(...placeOf(stops, times, now - TAIL_PS, pointOf));
  for (const [i, stop] of stops.entries())
    if (times[i] > now - TAIL_PS && times[i] < now) paint.lineTo(...pointOf(stop));
  paint.lineTo(x, y);
  paint.stroke();
  paint.beginPath();
  paint.arc(x, y, 0.13, 0, 7);
  paint.fill();
}
function placeOf(stops, times, time, pointOf) {
  let i = 0;
  while (i < times.length - 1 && times[i + 1] <= time) i++;
  if (i === times.length - 1 || time <= times[0]) return pointOf(stops[i]);
  const share = (time - times[i]) / (times[i + 1] - times[i]);
  const [[x, y], [u, v]] = [pointOf(stops[i]), pointOf(stops[i + 1])];
  return [x + share * (u - x), y + share * (v - y)];
}
function draw() {
  const names = ['ask', 'take', 'give', 'wire', 'panel', 'soft'];
  const colours = Object.fromEntries(names.map(name => [name, colour(name)]));
  for (const n of races.keys()) drawRace(n, colours);
  $('clock').textContent = (now / 1e6).toFixed(1);
}

// ---- time
function startAnimation() {
  document.documentElement.dataset.running = 'yes';
  $('said').textContent = '';
  $('pause').disabled = false;
  play(!matchMedia('(prefers-reduced-motion: reduce)').matches);
  if (!playing) now = D.span;
  draw();
}
// Prints the comparison of both locks when both runs have finished.
function showComparison() {
  const summaries = races.map(({ turns, messages }, n) => {
    const perTurn = (messages.length / turns.length).toFixed(0);
    return `the ${D.names[n]} lock ${turns.length} turns of ${perTurn} messages`;
  });
  $('said').textContent = `In ${D.span / 1e6} µs: ${summaries.join(', ')}.`;
  draw();
}
function play(on) {
  playing = on;
  $('pause').textContent = on ? 'pause' : 'play';
  lastFrameTime = undefined;
  if (on) requestAnimationFrame(tick);
}
function tick(time) {
  if (!playing) return;
  if (lastFrameTime !== undefined)
    now += Math.min(0.1, (time - lastFrameTime) / 1000) * PS_PER_SECOND;
  if (now > D.span + PAUSE_S * PS_PER_SECOND) now = 0;
  lastFrameTime = time;
  draw();
  requestAnimationFrame(tick);
}
$('pause').addEventListener('click', () => {
  if (now >= D.span) now = 0;
  play(!playing);
});
window.addEventListener('resize', draw);
$('theme').addEventListener('click', draw);

// ---- the curves
function addSvg(name, attributes, text = '') {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  node.textContent = text;
  $('curve').append(node);
}
function drawCurves(curves) {
  const top = 1.1 * Math.max(...curves.flat().map(point => point[1]));
  const x = threads => 60 + (500 * Math.log2(threads)) / Math.log2(D.threads);
  const y = value => 215 - (200 * value) / top;
  $('curve').replaceChildren();
  for (let value = 0; value < top; value += top > 8 ? 4 : 1) {
    addSvg('line', { class: 'axis', x1: 60, x2: 560, y1: y(value), y2: y(value) });
    addSvg('text', { x: 50, y: y(value) + 5, 'text-anchor': 'end' }, value);
  }
  for (const threads of D.counts)
    addSvg('text', { x: x(threads), y: 240, 'text-anchor': 'middle' }, threads);
  for (const [n, points] of curves.entries()) {
    if (!points.length) continue;
    const line = points.map(([threads, value]) => `${x(threads)},${y(value)}`).join(' ');
    addSvg('polyline', { class: `lock${n}`, points: line });
    const [threads, value] = points[points.length - 1];
    addSvg('text', { class: `lock${n}`, x: x(threads) + 10, y: y(value) + 5 }, D.names[n]);
  }
}
simulate().catch(error => {
  $('said').textContent = error.message;
});

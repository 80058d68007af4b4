// The state of a run's display: the chosen line and moment, the functions that show them, and those
// that go to another moment.
let line = D.lines.length ? D.lines[0][0] : 0;
let now = contended(line);
let moving = 0;
let parts = []; // indices of the log's events at which the runs differ

function show() {
  $('now').textContent = time(now);
  showMachine(line, now);
  showChart(line, now, run.asked, new Set(parts.map(n => events()[n][0])));
  showDiagram(line, now);
  showHarts(now);
  showLinks(now);
  showLog(line, now, run.asked, parts);
}
function go(t) {
  cancelAnimationFrame(moving);
  now = Math.min(D.until, Math.max(0, Math.round(t)));
  show();
}

// Goes to a later moment, moving messages along their routes on the way.
const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
function glide(t) {
  cancelAnimationFrame(moving);
  if (still || document.hidden || t <= now) return go(t);
  const from = now;
  const begun = performance.now();
  const lasts = 260;
  const frame = at => {
    const share = Math.min(1, (at - begun) / lasts);
    if (share === 1) return go(t);
    showFlying(line, from + (t - from) * share);
    moving = requestAnimationFrame(frame);
  };
  now = t;
  $('now').textContent = time(t);
  moving = requestAnimationFrame(frame);
}

const stepsOf = new Map();
function steps(unit) {
  const key = `${unit} ${line}`;
  if (!stepsOf.has(key)) stepsOf.set(key, moments(line, unit));
  return stepsOf.get(key);
}
// Returns the unit's next or previous moment, or undefined if there is none.
function step(unit, by) {
  const all = steps(unit);
  const n = notAfter(all, now);
  return by > 0 ? all[n] : all[all[n - 1] === now ? n - 2 : n - 1];
}

// progress() returns how many operations have ended, plus the elapsed share of the next; momentOf()
// is its inverse.
function progress(t) {
  const ends = [0, ...steps('operation'), D.until];
  const n = Math.min(notAfter(ends, t), ends.length - 1);
  return n - 1 + (t - ends[n - 1]) / Math.max(1, ends[n] - ends[n - 1]);
}
function momentOf(share) {
  const ends = [0, ...steps('operation'), D.until];
  const n = Math.min(Math.floor(share), ends.length - 2);
  return ends[n] + (ends[n + 1] - ends[n]) * Math.min(1, share - n);
}

function choose(chosen) {
  line = chosen;
  $('line').value = String(chosen);
}
const events = () => eventsOf(line);
function crop() {
  if (!hasPart) return;
  toggleCrop();
  show();
}

$('name').textContent = D.name ?? '';
$('name').hidden = !D.name;
for (const [address, name] of D.lines)
  $('line').append(
    new Option(`${name}  (${of('messages', address).length} messages)`, String(address)),
  );
$('line').addEventListener('change', event => run.chosen(Number(event.target.value)));
$('crop').hidden = !hasPart;
$('crop').addEventListener('click', crop);
drawLegend(); // before the machine, because it takes height from it
drawMachine();
drawHarts();
drawLinks();
$('agent').addEventListener('change', () => showDiagram(line, now));
function chooseCore(core) {
  if (!usedCores.has(core)) return;
  $('agent').value = String(core);
  showDiagram(line, now);
}
function turnCore() {
  const cores = $('agent').options;
  $('agent').selectedIndex = ($('agent').selectedIndex + 1) % cores.length;
  showDiagram(line, now);
}

const run = {
  ...{ D, choose, drawMachine, events, glide, go, momentOf, progress, show, step, steps },
  linkLoads,
  ...{ openTransactions, position, statesAt, underWay, valuesAt },
  asked: go, // goes to the moment of an event that was clicked
  chosen: choose,
  crop,
  turnCore,
  messages: () => of('messages', line),
  part: indices => {
    parts = indices;
  },
  lineName: () => lineName.get(line) ?? '',
  get now() {
    return now;
  },
  get line() {
    return line;
  },
};

// The display of a run: the line and the moment that are shown, and functions that show them and go
// to another moment.
let line = D.lines.length ? D.lines[0][0] : 0;
let now = contended(line);
let animation = 0; // id of the requested animation frame
let parts = []; // indices of the events of the log at which the runs begin to differ

function show() {
  $('now').textContent = time(now);
  showMachine(line, now);
  showChart(line, now, run.timeChosen, new Set(parts.map(n => events()[n][0])));
  showDiagram(line, now);
  showHarts(now);
  showLinks(now);
  showLog(line, now, run.timeChosen, parts);
}
function go(t) {
  cancelAnimationFrame(animation);
  now = Math.min(D.until, Math.max(0, Math.round(t)));
  show();
}

// Goes to a later moment with an animation, in which messages move along their routes.
const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
function glide(t) {
  cancelAnimationFrame(animation);
  if (reducedMotion || document.hidden || t <= now) return go(t);
  const from = now;
  const begun = performance.now();
  const durationMs = 260;
  const frame = at => {
    const share = Math.min(1, (at - begun) / durationMs);
    if (share === 1) return go(t);
    showFlying(line, from + (t - from) * share);
    animation = requestAnimationFrame(frame);
  };
  now = t;
  $('now').textContent = time(t);
  animation = requestAnimationFrame(frame);
}

const stepsOf = new Map();
function steps(unit) {
  const key = `${unit} ${line}`;
  if (!stepsOf.has(key)) stepsOf.set(key, moments(line, unit));
  return stepsOf.get(key);
}
// Returns the next moment (direction 1) or the previous one (-1) at which an event of this unit
// happens; undefined if there is none.
function step(unit, direction) {
  const all = steps(unit);
  const n = notAfter(all, now);
  return direction > 0 ? all[n] : all[all[n - 1] === now ? n - 2 : n - 1];
}

// Returns how many operations have ended, plus the share of the next one that has elapsed.
// momentOf() is the inverse function.
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

function choose(address) {
  line = address;
  $('line').value = String(address);
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
$('line').addEventListener('change', event => run.lineChosen(Number(event.target.value)));
$('crop').hidden = !hasPart;
$('crop').addEventListener('click', crop);
drawLegend(); // before drawMachine(), which uses the height that the legend leaves
drawMachine();
drawHarts();
drawLinks();
$('agent').addEventListener('change', () => showDiagram(line, now));
function chooseCore(core) {
  if (!usedCores.has(core)) return;
  $('agent').value = String(core);
  showDiagram(line, now);
}
function nextCore() {
  const cores = $('agent').options;
  $('agent').selectedIndex = ($('agent').selectedIndex + 1) % cores.length;
  showDiagram(line, now);
}

const run = {
  ...{ D, choose, drawMachine, events, glide, go, momentOf, progress, show, step, steps },
  linkLoads,
  ...{ openTransactions, position, statesAt, underWay, valuesAt },
  timeChosen: go, // called with the moment of an event that the reader has clicked
  lineChosen: choose,
  crop,
  nextCore,
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

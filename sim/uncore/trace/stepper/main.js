// Handles the reader's input: steps one run, or two runs together.
const $ = id => document.getElementById(id);
const D = await documents($('data').textContent);
const MAX_SMALL_STOPS = 24; // machines with more stops get more space on the page
document.body.classList.toggle('pair', D.length > 1); // before any run measures its space
document.body.classList.toggle(
  'large',
  D.some(({ machine }) => machine.stops.length > MAX_SMALL_STOPS),
);
const places = D.map((_, n) => placeOf(n));
const runs = D.map((document_, n) => runOf(document_, places[n]));
const [first, second] = runs;
// Position of the slider: the time of both runs; if they are stepped by operation, of the first run.
let now = 0;
let playing = false;

// Returns the function that finds the elements of a run by id. The first run uses the elements of the
// page; for the second run they are copied.
function placeOf(n) {
  if (n === 0) return $;
  const copy = $('run').cloneNode(true);
  for (const node of [copy, ...copy.querySelectorAll('[id]')]) node.id += `-${n}`;
  for (const node of copy.querySelectorAll('[aria-labelledby]'))
    node.setAttribute('aria-labelledby', `${node.getAttribute('aria-labelledby')}-${n}`);
  $('runs').append(copy);
  return id => $(`${id}-${n}`);
}

const byTime = () => second && $('together').value === 'time';
const end = () => (byTime() ? Math.max(...D.map(document_ => document_.until)) : first.D.until);
// Moves the run `leader` to the time t, and the other run to the corresponding time.
function goWith(leader, t) {
  const done = leader.progress(t);
  for (const run of runs) run.go(run === leader || byTime() ? t : run.momentOf(done));
  showTime(byTime() ? t : first.now);
}
function go(t) {
  goWith(first, t);
  saveAddress();
}
function showTime(t) {
  now = Math.min(end(), Math.max(0, Math.round(t)));
  $('time').max = end();
  $('time').value = now;
  $('time').setAttribute('aria-valuetext', $('now').textContent);
}
function saveAddress() {
  const together = second ? `&by=${$('together').value}` : '';
  const line = first.line.toString(16);
  history.replaceState(null, '', `#t=${now}&line=0x${line}${together}`);
}

// Steps forwards (direction 1) or backwards (-1) to the next event of this unit. If the runs are
// stepped by time, both go to the nearest such event of either run. Otherwise each run goes to its
// own next event; with unit `operation`, both go to the same operation.
function step(unit, direction) {
  stop();
  const times = runs.map(run => run.step(unit, direction));
  const known = times.filter(t => t !== undefined);
  if (!known.length) return;
  const nearest = direction > 0 ? Math.min(...known) : Math.max(...known);
  const byOperation = second && unit === 'operation' && times[0] !== undefined;
  const done = byOperation ? first.progress(times[0]) : 0;
  for (const [n, run] of runs.entries()) {
    const t = byTime() ? nearest : byOperation ? run.momentOf(done) : times[n];
    if (t !== undefined) run[direction > 0 ? 'glide' : 'go'](t);
  }
  showTime(byTime() ? nearest : first.now);
  saveAddress();
}

// ---- The line that is shown, and the differences between the runs. Both runs show the line with the
// same name; if there is none, a line of the same object.
function choose(run, address) {
  run.choose(address);
  const [name, root] = [run.lineName(), run.lineName().split(/\W/)[0]];
  for (const other of runs) {
    const { lines } = other.D;
    const hasSameRoot = ([, n]) => n.split(/\W/)[0] === root;
    const same = lines.find(([, n]) => n === name) ?? lines.find(hasSameRoot);
    if (other !== run && same) other.choose(same[0]);
  }
  findPartings();
  drawDensity();
}
function nextLine(direction) {
  const { lines } = first.D;
  const index = lines.findIndex(([l]) => l === first.line);
  choose(first, lines[(index + direction + lines.length) % lines.length][0]);
  for (const run of runs) run.show();
  saveAddress();
}
let partings = []; // differences between the runs: [index in first.events(), in second.events()]
let shown = 0; // index of the parting that is described
function findPartings() {
  if (!second) return;
  const [a, b] = runs.map(run => run.events());
  const [nameA, nameB] = runs.map(run => run.lineName());
  partings = nameA === nameB ? partingsOf(a, b) : [];
  for (const [n, run] of runs.entries()) run.part(partings.map(both => both[n]));
  $('there').hidden = !partings.length;
  shown = 0;
  if (nameA === nameB) describeParting(Math.min(a.length, b.length));
  else $('parting').innerHTML = `Two lines: <b>${esc(nameA)}</b> and <b>${esc(nameB)}</b>.`;
}
function describeParting(commonEvents) {
  const indices = partings[shown];
  const words = indices
    ? [
        `The first ${partings[0][0]} events of this line are alike; the runs part ` +
          `${partings.length} time${partings.length > 1 ? 's' : ''}. Parting ${shown + 1}:`,
        ...runs.map((run, n) => {
          const [t, , say] = run.events()[indices[n]];
          return `<b>${esc(run.D.name)}</b> ${time(t)}: ${say()}`;
        }),
      ]
    : [`Alike: the ${commonEvents} events of this line that both have.`];
  $('parting').innerHTML = words.map(text => `<span>${text}</span>`).join(' ');
}
function goToParting(direction = 1) {
  if (!partings.length) return;
  stop();
  const isThere = runs.every((run, n) => run.events()[partings[shown][n]][0] === run.now);
  if (isThere) shown = (shown + direction + partings.length) % partings.length;
  for (const [n, run] of runs.entries()) run.go(run.events()[partings[shown][n]][0]);
  describeParting();
  showTime(first.now);
  saveAddress();
}

// Draws the number of messages over time; with two runs, the first upwards and the second downwards.
function drawDensity() {
  const svg = $('density');
  const columns = 240;
  svg.setAttribute('viewBox', `0 0 ${columns} ${runs.length}`);
  svg.replaceChildren();
  for (const [n, run] of runs.entries()) {
    const counts = new Array(columns).fill(0);
    for (const m of run.messages())
      counts[Math.min(columns - 1, Math.floor((m.sent / end()) * columns))]++;
    const most = Math.max(1, ...counts);
    counts.forEach((count, x) => {
      const height = count / most;
      const y = n === 0 ? 1 - height : 1;
      if (count) make('rect', { x, y, width: 0.8, height, fill: 'currentColor' }, svg);
    });
    for (const both of partings) {
      const x = (run.events()[both[n]][0] / end()) * columns;
      make('rect', { class: 'parting', x, y: n, width: 0.8, height: 1 }, svg);
    }
  }
}

// ---- playing
let last = 0;
function stop() {
  playing = false;
  $('play').textContent = 'play';
  $('play').setAttribute('aria-pressed', 'false');
}
function play() {
  if (playing) {
    stop();
    return saveAddress();
  }
  playing = true;
  $('play').textContent = 'stop';
  $('play').setAttribute('aria-pressed', 'true');
  last = performance.now();
  requestAnimationFrame(tick);
}
function tick(at) {
  if (!playing) return;
  goWith(first, Math.min(end(), now + (at - last) * Number($('speed').value)));
  last = at;
  if (now >= end()) return stop();
  requestAnimationFrame(tick);
}

function help() {
  const hidden = $('help').toggleAttribute('hidden');
  $('keys').setAttribute('aria-expanded', String(!hidden));
}
function together(by) {
  $('together').value = by;
  drawDensity();
  go(now);
}

const KEYS = {
  ArrowRight: () => step('message', 1),
  ArrowLeft: () => step('message', -1),
  t: () => step('transaction', 1),
  T: () => step('transaction', -1),
  o: () => step('operation', 1),
  O: () => step('operation', -1),
  ' ': play,
  Home: () => go(0),
  End: () => go(end()),
  l: () => nextLine(1),
  L: () => nextLine(-1),
  s: () => runs.map(run => run.nextCore()),
  c: () => runs.map(run => run.crop()),
  d: () => theme(!isDark()),
  p: () => goToParting(),
  P: () => goToParting(-1),
  b: () => second && together(byTime() ? 'operation' : 'time'),
  '?': help,
};
document.addEventListener('keydown', event => {
  const inside = event.target.tagName;
  const key = event.key;
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[key]) return;
  if (inside === 'SELECT' || (inside === 'BUTTON' && key === ' ')) return;
  event.preventDefault();
  KEYS[key]();
});

function fromAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  const chosen = Number(address.get('line'));
  if (['operation', 'time'].includes(address.get('by'))) $('together').value = address.get('by');
  choose(first, first.D.lines.some(([l]) => l === chosen) ? chosen : first.line);
  const t = Number(address.get('t') ?? NaN);
  if (!Number.isNaN(t)) goWith(first, t);
  else if (partings.length) goToParting();
  else goWith(first, first.now);
}

$('about').textContent = [...new Set(D.map(({ about }) => about))].join(' | ');
$('command').textContent = first.D.command;
for (const node of document.querySelectorAll('.paired')) node.hidden = !second;
for (const run of runs) {
  run.timeChosen = t => {
    stop();
    goWith(run, t);
    saveAddress();
  };
  run.lineChosen = address => {
    choose(run, address);
    for (const shownRun of runs) shownRun.show();
    saveAddress();
  };
}
$('together').addEventListener('change', event => together(event.target.value));
$('there').addEventListener('click', () => goToParting());
$('time').addEventListener('input', event => {
  stop();
  goWith(first, Number(event.target.value));
});
$('time').addEventListener('change', saveAddress);
$('first').addEventListener('click', () => go(0));
for (const unit of ['operation', 'transaction', 'message']) {
  $(`${unit}-on`).addEventListener('click', () => step(unit, 1));
  $(`${unit}-back`).addEventListener('click', () => step(unit, -1));
}
$('play').addEventListener('click', play);
$('keys').addEventListener('click', help);
addEventListener('beforeprint', () => theme(false)); // prints on a white background
addEventListener('hashchange', fromAddress);
addEventListener('resize', () => {
  for (const run of runs) {
    run.drawMachine();
    run.show();
  }
});
fromAddress();
window.stepper = { __proto__: first, data: first.D, go, partings: () => partings, runs };
$('runs').removeAttribute('aria-busy');

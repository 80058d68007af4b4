// Stepping: handles the reader's input, for one run or for two that are stepped together.
const $ = id => document.getElementById(id);
const D = await documents($('data').textContent);
const LARGE = 24; // stops above which a machine gets more room
document.body.classList.toggle('pair', D.length > 1); // before any run measures its room
document.body.classList.toggle(
  'large',
  D.some(({ machine }) => machine.stops.length > LARGE),
);
const places = D.map((_, n) => placeOf(n));
const runs = D.map((document_, n) => runOf(document_, places[n]));
const [first, second] = runs;
// position on the time line: the time of both runs, or of the first if they follow by operation
let now = 0;
let playing = false;

// Returns the lookup of elements for a run: the page's own for the first run, a copy of them for
// the second.
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
// Goes to moment t of the run `leader`, and in the other run to the matching moment.
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

// Steps by time to the nearest moment of either run; otherwise each run steps to its own, or when
// operations are counted, to the same operation.
function step(unit, by) {
  stop();
  const own = runs.map(run => run.step(unit, by));
  const known = own.filter(t => t !== undefined);
  if (!known.length) return;
  const near = by > 0 ? Math.min(...known) : Math.max(...known);
  const counted = second && unit === 'operation' && own[0] !== undefined;
  const done = counted ? first.progress(own[0]) : 0;
  for (const [n, run] of runs.entries()) {
    const t = byTime() ? near : counted ? run.momentOf(done) : own[n];
    if (t !== undefined) run[by > 0 ? 'glide' : 'go'](t);
  }
  showTime(byTime() ? near : first.now);
  saveAddress();
}

// ---- the line: both runs show the one of the same name, or else of the same object; and their
// differences
function choose(run, address) {
  run.choose(address);
  const [name, root] = [run.lineName(), run.lineName().split(/\W/)[0]];
  for (const other of runs) {
    const { lines } = other.D;
    const like = ([, n]) => n.split(/\W/)[0] === root;
    const same = lines.find(([, n]) => n === name) ?? lines.find(like);
    if (other !== run && same) other.choose(same[0]);
  }
  part();
  drawDensity();
}
function turnLine(by) {
  const { lines } = first.D;
  const at = lines.findIndex(([l]) => l === first.line);
  choose(first, lines[(at + by + lines.length) % lines.length][0]);
  for (const run of runs) run.show();
  saveAddress();
}
let partings = []; // differences between the runs, each as an index into the events of either run
let shown = 0; // index of the difference that is described
function part() {
  if (!second) return;
  const [a, b] = runs.map(run => run.events());
  const [one, other] = runs.map(run => run.lineName());
  partings = one === other ? partingsOf(a, b) : [];
  for (const [n, run] of runs.entries()) run.part(partings.map(both => both[n]));
  $('there').hidden = !partings.length;
  shown = 0;
  if (one === other) tellParting(Math.min(a.length, b.length));
  else $('parting').innerHTML = `Two lines: <b>${esc(one)}</b> and <b>${esc(other)}</b>.`;
}
function tellParting(many) {
  const at = partings[shown];
  const words = at
    ? [
        `The first ${partings[0][0]} events of this line are alike; the runs part ` +
          `${partings.length} time${partings.length > 1 ? 's' : ''}. Parting ${shown + 1}:`,
        ...runs.map((run, n) => {
          const [t, , say] = run.events()[at[n]];
          return `<b>${esc(run.D.name)}</b> ${time(t)}: ${say()}`;
        }),
      ]
    : [`Alike: the ${many} events of this line that both have.`];
  $('parting').innerHTML = words.map(text => `<span>${text}</span>`).join(' ');
}
function goApart(by = 1) {
  if (!partings.length) return;
  stop();
  const isThere = runs.every((run, n) => run.events()[partings[shown][n]][0] === run.now);
  if (isThere) shown = (shown + by + partings.length) % partings.length;
  for (const [n, run] of runs.entries()) run.go(run.events()[partings[shown][n]][0]);
  tellParting();
  showTime(first.now);
  saveAddress();
}

// Draws messages over time: with two runs, the first upwards and the second downwards.
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
  l: () => turnLine(1),
  L: () => turnLine(-1),
  s: () => runs.map(run => run.turnCore()),
  c: () => runs.map(run => run.crop()),
  d: () => theme(!isDark()),
  p: () => goApart(),
  P: () => goApart(-1),
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
  else if (partings.length) goApart();
  else goWith(first, first.now);
}

$('about').textContent = [...new Set(D.map(({ about }) => about))].join(' | ');
$('command').textContent = first.D.command;
for (const node of document.querySelectorAll('.paired')) node.hidden = !second;
for (const run of runs) {
  run.asked = t => {
    stop();
    goWith(run, t);
    saveAddress();
  };
  run.chosen = address => {
    choose(run, address);
    for (const each of runs) each.show();
    saveAddress();
  };
}
$('together').addEventListener('change', event => together(event.target.value));
$('there').addEventListener('click', () => goApart());
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
addEventListener('beforeprint', () => theme(false)); // print on a white background
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

// Stepping: the present moment, the chosen line, and what moves them.
const $ = id => document.getElementById(id);
const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
let line = D.lines.length ? D.lines[0][0] : 0;
let now = contended(line);
let playing = false;
let moving = 0;

function show() {
  $('now').textContent = time(now);
  $('time').value = now;
  $('time').setAttribute('aria-valuetext', time(now));
  showMachine(line, now);
  showChart(line, now, go);
  showHarts(now);
  showLog(line, now, go);
}
function saveAddress() {
  history.replaceState(null, '', `#t=${Math.round(now)}&line=0x${line.toString(16)}`);
}
function go(t) {
  cancelAnimationFrame(moving);
  now = Math.min(D.until, Math.max(0, Math.round(t)));
  show();
  saveAddress();
}

// Goes to a later moment with messages in motion on the way.
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
function step(unit, by) {
  stop();
  const all = steps(unit);
  const n = until(all, now, x => x);
  if (by > 0) return n < all.length ? glide(all[n]) : undefined;
  const back = all[n - 1] === now ? n - 2 : n - 1;
  if (back >= 0) go(all[back]);
}

function choose(chosen) {
  line = chosen;
  $('line').value = String(chosen);
  drawDensity();
  show();
  saveAddress();
}
function turnLine(by) {
  const at = D.lines.findIndex(([l]) => l === line);
  choose(D.lines[(at + by + D.lines.length) % D.lines.length][0]);
}
function drawDensity() {
  const svg = $('density');
  const parts = 240;
  const counts = new Array(parts).fill(0);
  for (const m of of('messages', line))
    counts[Math.min(parts - 1, Math.floor((m.sent / Math.max(1, D.until)) * parts))]++;
  const most = Math.max(1, ...counts);
  svg.setAttribute('viewBox', `0 0 ${parts} 1`);
  svg.replaceChildren();
  counts.forEach((n, i) => {
    if (n)
      make(
        'rect',
        { x: i, y: 1 - n / most, width: 0.8, height: n / most, fill: 'currentColor' },
        svg,
      );
  });
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
  now = Math.min(D.until, now + (at - last) * Number($('speed').value));
  last = at;
  show();
  if (now >= D.until) return stop();
  requestAnimationFrame(tick);
}

function help() {
  const hidden = $('help').toggleAttribute('hidden');
  $('keys').setAttribute('aria-expanded', String(!hidden));
}

function crop() {
  if (!hasPart) return;
  toggleCrop();
  show();
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
  End: () => go(D.until),
  l: () => turnLine(1),
  L: () => turnLine(-1),
  c: crop,
  d: () => theme(!isDark()),
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
  if (lineName.has(chosen)) {
    line = chosen;
    $('line').value = String(chosen);
    drawDensity();
  }
  if (address.has('t') && Number.isFinite(Number(address.get('t'))))
    now = Math.min(D.until, Math.max(0, Number(address.get('t'))));
  show();
}

$('about').textContent = D.about;
$('command').textContent = D.command;
for (const [address, name] of D.lines)
  $('line').append(
    new Option(`${name}  (${of('messages', address).length} messages)`, String(address)),
  );
$('time').max = D.until;
$('line').addEventListener('change', event => choose(Number(event.target.value)));
$('time').addEventListener('input', event => {
  stop();
  now = Number(event.target.value);
  show();
});
$('time').addEventListener('change', saveAddress);
$('first').addEventListener('click', () => go(0));
for (const unit of ['operation', 'transaction', 'message']) {
  $(`${unit}-on`).addEventListener('click', () => step(unit, 1));
  $(`${unit}-back`).addEventListener('click', () => step(unit, -1));
}
$('play').addEventListener('click', play);
$('keys').addEventListener('click', help);
$('crop').hidden = !hasPart;
$('crop').addEventListener('click', crop);
addEventListener('beforeprint', () => theme(false)); // paper is white
addEventListener('hashchange', fromAddress);
addEventListener('resize', () => {
  drawMachine();
  show();
});
drawMachine();
drawLegend();
drawHarts();
drawDensity();
fromAddress();
window.stepper = {
  statesAt,
  underWay,
  openTransactions,
  valuesAt,
  go,
  data: D,
  get now() {
    return now;
  },
  get line() {
    return line;
  },
};

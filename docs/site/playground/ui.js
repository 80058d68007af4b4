// The page: a worker runs what is asked; curves, figures and the stepper show what came of it.
const COLOURS = [0, 1, 2, 3, 4, 5].map(n => `var(--c${n})`); // of the style, dark and light
const DASHES = ['', '9 4', '3 3', '12 3 3 3', '6 2', '1 3'];
const SVG = 'http://www.w3.org/2000/svg';
const runs = []; // { name, job, points }, the newest last
let worker = null;
let waiting = null;

const source = () =>
  URL.createObjectURL(new Blob([$('engine').textContent], { type: 'text/javascript' }));
async function newWorker() {
  if (worker) worker.terminate();
  worker = new Worker(source());
  worker.onmessage = ({ data }) => waiting?.(data);
  worker.onerror = error => waiting?.({ wrong: error.message });
  worker.postMessage({ wasm: await unpacked(D.wasm), shared: D.shared });
}
function tell(text, wrong = false) {
  $('state').textContent = text;
  $('state').className = wrong ? 'wrong' : 'soft';
}
function working(on) {
  $('asked').setAttribute('aria-busy', String(on));
  $('run').disabled = on;
  $('stop').disabled = !on;
  for (const button of $('points').querySelectorAll('button')) button.disabled = on;
}

function start() {
  let job;
  try {
    job = asked();
  } catch (error) {
    return tell(error.message, true);
  }
  const begun = performance.now();
  const total = job.threads.length * Math.max(1, job.seeds.length);
  const one = {
    job: structuredClone({ ...job, program: undefined }),
    program: job.program,
    points: [],
  };
  one.name = `${program.name} on ${machine.id}${edited ? ', edited' : ''}${job.parameters.map(p => `, ${p[0]}=${p[2]}`).join('')}${unusual(
    job,
  )
    .map(([, value]) => `, ${value}`)
    .join('')}`;
  one.command = commandOf('run', job, $('threads').value);
  one.job.program = job.program;
  runs.push(one);
  if (runs.length > COLOURS.length) runs.shift();
  working(true);
  $('hash').textContent = '';
  $('command').textContent = one.command;
  waiting = data => {
    if (data.done !== undefined)
      return tell(
        `${one.points.length} of ${total} runs; ${data.threads} threads: ${data.done} operations`,
      );
    if (data.point) {
      one.points.push(data.point);
      tell(`${one.points.length} of ${total} runs`);
      return show(one);
    }
    working(false);
    if (data.wrong) {
      if (!one.points.length) runs.pop();
      return tell(data.wrong, true);
    }
    $('hash').textContent = one.hash = data.hash;
    tell(`done: ${total} runs in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  };
  worker.postMessage({ asked: one.job });
}
async function stop() {
  waiting = null;
  await newWorker();
  working(false);
  tell('stopped; what was finished is shown');
}

// ---- what came of it
const rate = p => (p.elapsed_ps ? (p.ops / p.elapsed_ps) * 1e6 : 0); // M operations/s
function byThreads(points) {
  const found = new Map();
  for (const p of points) found.set(p.threads, [...(found.get(p.threads) || []), p]);
  return [...found].map(([threads, all]) => {
    all.sort((a, b) => rate(a) - rate(b));
    return {
      threads,
      least: rate(all[0]),
      most: rate(all[all.length - 1]),
      median: all[(all.length - 1) >> 1],
    };
  });
}
function show(one) {
  drawCurves();
  drawPoints(one);
}

function make(name, attributes, parent, text) {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}
function drawCurves() {
  const svg = $('curve');
  const all = runs.map(one => byThreads(one.points));
  const flat = all.flat();
  svg.replaceChildren();
  $('runs').replaceChildren();
  if (!flat.length) return;
  const widest = Math.log2(Math.max(2, ...flat.map(p => p.threads)));
  const top = 1.08 * Math.max(...flat.map(p => p.most), 1e-9);
  const x = threads => 70 + (800 * Math.log2(threads)) / widest;
  const y = value => 290 - (270 * value) / top;
  for (let i = 0; i <= 4; i++) {
    make(
      'line',
      { class: 'axis', x1: 70, x2: 870, y1: y((top * i) / 4), y2: y((top * i) / 4) },
      svg,
    );
    make(
      'text',
      { x: 62, y: y((top * i) / 4) + 4, 'text-anchor': 'end' },
      svg,
      ((top * i) / 4).toPrecision(3),
    );
  }
  make('text', { x: 8, y: 12 }, svg, 'M/s');
  for (const threads of new Set(flat.map(p => p.threads)))
    if (Number.isInteger(Math.log2(threads)) || flat.length < 12)
      make('text', { x: x(threads), y: 310, 'text-anchor': 'middle' }, svg, threads);
  make('text', { x: 470, y: 327, 'text-anchor': 'middle' }, svg, 'threads');
  for (const rows of all) rows.sort((a, b) => a.threads - b.threads);
  for (const [n, rows] of all.entries()) drawCurve(svg, rows, n, x, y);
}
function drawCurve(svg, rows, n, x, y) {
  if (!rows.length) return;
  const stroke = COLOURS[n];
  const path = pick => rows.map(p => `${x(p.threads)},${y(pick(p))}`);
  make(
    'polygon',
    {
      class: 'band',
      style: `fill: ${stroke}`,
      points: [...path(p => p.most), ...path(p => p.least).reverse()].join(' '),
    },
    svg,
  );
  make(
    'polyline',
    {
      class: 'line',
      style: `stroke: ${stroke}`,
      'stroke-dasharray': DASHES[n],
      points: path(p => rate(p.median)).join(' '),
    },
    svg,
  );
  for (const p of rows)
    make(
      'title',
      {},
      make(
        'circle',
        { cx: x(p.threads), cy: y(rate(p.median)), r: 4, style: `fill: ${stroke}` },
        svg,
      ),
      `${p.threads} threads: ${rate(p.median).toPrecision(4)} M/s`,
    );
  const item = document.createElement('li');
  const mark = document.createElement('span');
  mark.style.background = stroke;
  item.append(mark, runs[n].name);
  $('runs').append(item);
}

function drawPoints(one) {
  $('points').replaceChildren();
  for (const { threads, median } of byThreads(one.points)) {
    const row = document.createElement('tr');
    const { latency, transfers, ops } = median;
    const fetched = Object.values(transfers).reduce((a, b) => a + b, 0);
    const from = Object.entries(transfers)
      .sort((a, b) => b[1] - a[1])
      .map(([name, many]) => `${name} ${Math.round((100 * many) / fetched)} %`)
      .join(', ');
    const ns = key => (latency ? (latency[key] / 1000).toFixed(0) : '-');
    for (const text of [
      threads,
      rate(median).toPrecision(4),
      ns('p50'),
      ns('p99'),
      ops ? (fetched / ops).toFixed(2) : '-',
      from,
      '',
    ])
      row.insertCell().textContent = text;
    const button = document.createElement('button');
    Object.assign(button, {
      type: 'button',
      textContent: `${threads} thread${threads > 1 ? 's' : ''}`,
      disabled: $('run').disabled,
    });
    button.addEventListener('click', () => watch(one, threads, median.seed ?? null));
    row.lastChild.append(button);
    $('points').append(row);
  }
}

// ---- the stepper, filled as uncore.report.stepper.page fills it
const MOST = 60000;
const MANY = 4000; // messages of a page; operations of a run that fits
function watch(one, threads, seed) {
  if (one.points.find(p => p.threads === threads).ops > MANY)
    return tell(`${threads} threads do too many operations to step through: set ops lower`, true);
  working(true);
  tell(`tracing ${threads} threads`);
  waiting = ({ trace, wrong }) => {
    working(false);
    if (wrong) return tell(wrong, true);
    const many = trace.tables.messages.length;
    if (many > MOST)
      return tell(
        `${many} messages are too many for a page, which holds ${MOST}: set ops lower`,
        true,
      );
    const parts = {
      TITLE: escaped(trace.title),
      DATA: JSON.stringify(trace).replaceAll('<', '\\u003c'),
    };
    const page = D.stepper.replace(/@([A-Z]+)@/g, (place, name) => parts[name] ?? place);
    const url = URL.createObjectURL(new Blob([page], { type: 'text/html' }));
    $('stepping').hidden = false;
    $('stepper').src = $('alone').href = url;
    $('stepper').scrollIntoView();
    tell(`${threads} threads, ${many} messages`);
  };
  worker.postMessage({
    asked: one.job,
    watch: [threads, seed],
    command: commandOf('watch', one.job, threads),
  });
}
const escaped = text =>
  text.replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

// ---- choosing
async function chooseMachine() {
  const id = $('machine').value;
  machine = { id, ...(await unpackedValue(D.machines[id][1])) };
  edited = false;
  drawNumbers();
  const room = machine.harts.compact.length;
  $('room').textContent = room;
  if (D.machines[id][2] !== undefined)
    $('threads').value = room > 1 ? `1,2..${Math.min(room, 32)}` : '1';
}
async function chooseWorkload() {
  program = unpackedProgram(await unpackedValue(D.workloads[$('workload').value]));
  $('summary').textContent = program.summary;
  drawParameters();
}
async function begin() {
  for (const [id, [name, , harts]] of Object.entries(D.machines))
    $('machine').append(new Option(`${id}: ${name}, ${harts} harts`, id));
  for (const name in D.workloads) $('workload').append(new Option(name));
  const said = new URLSearchParams(location.hash.slice(1));
  $('machine').value = D.machines[said.get('machine')] ? said.get('machine') : 'ccx:4x8';
  $('workload').value = D.workloads[said.get('workload')] ? said.get('workload') : 'lock/ticket';
  await Promise.all([chooseMachine(), chooseWorkload(), newWorker()]);
  if (said.get('threads')) $('threads').value = said.get('threads');
  document.documentElement.dataset.ready = 'yes';
}
$('machine').addEventListener('change', chooseMachine);
$('workload').addEventListener('change', chooseWorkload);
$('restore').addEventListener('click', chooseMachine);
$('asked').addEventListener('submit', event => {
  event.preventDefault();
  start();
});
$('stop').addEventListener('click', stop);
begin();
window.playground = { runs };

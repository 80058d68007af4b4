// Draws the results of the last runs: throughput curves, a table, and busy links.
//
//   showRuns(runs, newest)   draws the curves of all `runs`. The table and the heat map of links show
//                            only the `newest` runs, which were started together.

// Colours of curves. The style sheet defines them for dark and light themes.
const COLOURS = [0, 1, 2, 3, 4, 5].map(n => `var(--c${n})`);
const DASHES = ['', '9 4', '3 3', '12 3 3 3', '6 2', '1 3'];
const SVG = 'http://www.w3.org/2000/svg';

const rate = p => (p.elapsed_ps ? (p.ops / p.elapsed_ps) * 1e6 : 0); // million operations/s
function byThreads(points) {
  const grouped = new Map();
  for (const p of points) grouped.set(p.threads, [...(grouped.get(p.threads) || []), p]);
  return [...grouped].map(([threads, samePoints]) => {
    samePoints.sort((a, b) => rate(a) - rate(b));
    return {
      threads,
      least: rate(samePoints[0]),
      most: rate(samePoints[samePoints.length - 1]),
      median: samePoints[(samePoints.length - 1) >> 1],
    };
  });
}
function showRuns(runs, newest) {
  drawCurves(runs);
  $('points').replaceChildren();
  for (const run of newest) drawPoints(run, newest);
  drawHeats(newest.filter(run => run.points.length));
}
function drawHeats(newest) {
  const widest = newest.map(run => byThreads(run.points).at(-1).median);
  const busiestLinks = newest.map((run, n) => busiest(run, widest[n]));
  const [busiestPpm, ends] = busiestLinks.toSorted((a, b) => b[0] - a[0])[0] ?? [0];
  $('heating').hidden = !busiestPpm;
  $('heat').replaceChildren();
  if (!busiestPpm) return;
  $('heat-about').textContent =
    `The busiest, ${ends.join(' – ')}, is busy ${(busiestPpm / 1e4).toFixed(1)} %.`;
  for (const [n, run] of newest.entries()) {
    const box = document.createElement('figure');
    drawHeat(box, run, widest[n], busiestPpm);
    $('heat').append(box);
  }
}

function addSvg(name, attributes, parent, text) {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}
// Returns the smallest round number that is at least `number`.
function roundStep(number) {
  const ten = 10 ** Math.floor(Math.log10(number));
  return ten * [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find(step => step * ten >= number);
}
// Returns a function from a value to its height, and the values that are labelled. The scale is
// logarithmic if the largest value exceeds LOG_AXIS_RATIO times the smallest (as in panels.py).
const LOG_AXIS_RATIO = 20;
function scaleOf(values, high) {
  const [low, top] = [Math.min(...values), Math.max(...values, 1e-9)];
  if (low <= 0 || top <= LOG_AXIS_RATIO * low) {
    const step = roundStep(top / 4);
    return [value => (high * value) / (4 * step), [0, 1, 2, 3, 4].map(n => n * step)];
  }
  const decades = [];
  for (let n = Math.floor(Math.log10(low)); n <= Math.log10(top); n++) decades.push(10 ** n);
  const all = decades.flatMap(ten => [ten, 2 * ten, 5 * ten]);
  const [least, most] = [low / 1.2, 1.2 * top];
  const part = value => Math.log(value / least) / Math.log(most / least);
  return [value => high * part(value), all.filter(value => value >= least && value <= most)];
}
function drawCurves(runs) {
  const svg = $('curve');
  const all = runs.map(run => byThreads(run.points));
  const flat = all.flat();
  svg.replaceChildren();
  $('runs').replaceChildren();
  if (!flat.length) return;
  // font sizes as in the style sheet
  const [bottom, font] = innerWidth < 600 ? [620, 30] : [290, 13];
  svg.setAttribute('viewBox', `0 0 900 ${bottom + 3.4 * font}`);
  const widest = Math.log2(Math.max(2, ...flat.map(p => p.threads)));
  const heights = flat.flatMap(p => [p.least, p.most]);
  const [heightOf, marks] = scaleOf(heights, bottom - 20);
  const x = threads => 70 + (800 * Math.log2(threads)) / widest;
  const y = value => bottom - heightOf(value);
  for (const value of marks) {
    addSvg('line', { class: 'axis', x1: 70, x2: 870, y1: y(value), y2: y(value) }, svg);
    const text = Number(value.toPrecision(3));
    addSvg('text', { x: 62, y: y(value) + font / 3, 'text-anchor': 'end' }, svg, text);
  }
  for (const threads of new Set(flat.map(p => p.threads)))
    if (Number.isInteger(Math.log2(threads)) || flat.length < 12) {
      const place = { x: x(threads), y: bottom + 1.5 * font, 'text-anchor': 'middle' };
      addSvg('text', place, svg, threads);
    }
  addSvg('text', { x: 470, y: bottom + 2.9 * font, 'text-anchor': 'middle' }, svg, 'threads');
  for (const rows of all) rows.sort((a, b) => a.threads - b.threads);
  for (const [n, rows] of all.entries()) drawCurve(svg, rows, n, x, y, runs[n].name);
}
function drawCurve(svg, rows, n, x, y, name) {
  if (!rows.length) return;
  const stroke = COLOURS[n];
  const path = pick => rows.map(p => `${x(p.threads)},${y(pick(p))}`);
  addSvg(
    'polygon',
    {
      class: 'band',
      style: `fill: ${stroke}`,
      points: [...path(p => p.most), ...path(p => p.least).reverse()].join(' '),
    },
    svg,
  );
  addSvg(
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
    addSvg(
      'title',
      {},
      addSvg(
        'circle',
        { cx: x(p.threads), cy: y(rate(p.median)), r: 4, style: `fill: ${stroke}` },
        svg,
      ),
      `${p.threads} threads: ${rate(p.median).toPrecision(4)} M/s`,
    );
  const item = document.createElement('li');
  const mark = document.createElement('span');
  mark.style.background = stroke;
  item.append(mark, name);
  $('runs').append(item);
}

function drawPoints(run, newest) {
  for (const { threads, median } of byThreads(run.points)) {
    const row = document.createElement('tr');
    const { latency, transfers, ops } = median;
    const fetched = Object.values(transfers).reduce((a, b) => a + b, 0);
    const from = Object.entries(transfers)
      .sort((a, b) => b[1] - a[1])
      .map(([name, count]) => `${name} ${Math.round((100 * count) / fetched)} %`)
      .join(', ');
    const ns = key => (latency ? (latency[key] / 1000).toFixed(0) : '-');
    for (const text of [
      run.job.program.name,
      threads,
      rate(median).toPrecision(4),
      ns('p50'),
      ns('p99'),
      ops ? (fetched / ops).toFixed(2) : '-',
      from,
      '',
    ])
      row.insertCell().textContent = text;
    const seed = median.seed ?? null;
    addButton(row, `${threads} thread${threads > 1 ? 's' : ''}`, () => watch([run], threads, seed));
    if (newest.length > 1 && run === newest.at(-1))
      addButton(row, 'both', () => watch(newest, threads, seed));
    $('points').append(row);
  }
}
function addButton(row, textContent, act) {
  const button = document.createElement('button');
  Object.assign(button, { type: 'button', textContent, disabled: $('run').disabled });
  button.addEventListener('click', act);
  row.lastChild.append(button);
}

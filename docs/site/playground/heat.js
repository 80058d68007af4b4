// Draws the machine of a run. Busy links are wider and have warmer colours.
//
//   drawHeat(box, run, point, most)     draws it in `box`; `most` is the busy time, in ppm, of the
//                                       busiest link of all machines that are drawn
//   busiest(run, point)                 returns the busiest link: [busy time in ppm, names of its
//                                       ends]

const STEP = 40; // length between two stops, in units of the SVG
function wiresOf({ resolved }, links) {
  const busy = new Map(links);
  const names = new Map(); // channel -> name, made of the ends of its first link
  for (const { channel, source, target } of resolved.links)
    if (channel >= 0 && !names.has(channel))
      names.set(channel, `${resolved.stops[source]}>${resolved.stops[target]}`);
  const wires = new Map();
  for (const { channel, source, target } of resolved.links) {
    const key = [source, target].sort((a, b) => a - b).join();
    wires.set(key, Math.max(wires.get(key) || 0, busy.get(names.get(channel)) || 0));
  }
  return wires;
}
function busiest({ job }, { links }) {
  const [key, most] = [...wiresOf(job.machine, links)].toSorted((a, b) => b[1] - a[1])[0] ?? [
    '',
    0,
  ];
  return [most, key.split(',').map(stop => job.machine.resolved.stops[stop])];
}
function drawHeat(box, { name, job }, point, most) {
  const { drawing, harts } = job.machine;
  const [width, height] = drawing.size.map(side => (side + 0.8) * STEP);
  const svg = addSvg('svg', { viewBox: `${-0.4 * STEP} 0 ${width} ${height}`, role: 'img' }, box);
  svg.setAttribute('aria-label', `links of ${job.machine.id} by how busy they are`);
  const pointOf = stop => drawing.stops[stop].map(coordinate => coordinate * STEP);
  for (const [, x, y, w, h] of drawing.frames) {
    const [left, top, wide, high] = [x, y, w, h].map(coordinate => coordinate * STEP);
    addSvg('rect', { class: 'frame', x: left, y: top, width: wide, height: high, rx: 6 }, svg);
  }
  for (const [key, ppm] of wiresOf(job.machine, point.links)) {
    const [from, to] = key.split(',').map(Number);
    const [[x1, y1], [x2, y2]] = [pointOf(from), pointOf(to)];
    const share = ppm / Math.max(1, most);
    const wire = addSvg('line', { class: 'wire', x1, y1, x2, y2 }, svg);
    wire.style.strokeWidth = 1 + 9 * share;
    wire.style.setProperty('--share', `${Math.round(100 * share)}%`);
    const ends = [from, to].map(stop => drawing.names[stop]).join(' – ');
    addSvg('title', {}, wire, `${ends}: ${(ppm / 1e4).toFixed(1)} %`);
  }
  const used = harts[job.placement].slice(0, point.threads).map(hart => job.machine.cores[hart]);
  for (const [core, stop] of drawing.cores.entries()) {
    const [x, y] = pointOf(stop);
    const kind = used.includes(core) ? 'core on' : 'core';
    addSvg('rect', { class: kind, x: x - 9, y: y - 9, width: 18, height: 18, rx: 3 }, svg);
  }
  for (const [label, x, y] of drawing.frames)
    addSvg('text', { class: 'frame-name', x: x * STEP + 5, y: y * STEP + 12 }, svg, label);
  const words = document.createElement('figcaption');
  words.textContent = `${name}, ${point.threads} threads`;
  box.append(words);
}

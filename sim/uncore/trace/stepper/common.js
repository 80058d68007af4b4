// Functions that the scripts of both runs and main.js use: they format times and texts, and draw.
const NEVER = -1; // stands for a time that was not reached before the run ended

function time(ps) {
  const units = [
    [1e9, 'ms'],
    [1e6, 'us'],
    [1e3, 'ns'],
  ];
  for (const [size, unit] of units)
    if (Math.abs(ps) >= size) return `${(ps / size).toFixed(ps / size >= 100 ? 1 : 2)} ${unit}`;
  return `${ps} ps`;
}
const esc = text =>
  String(text).replace(
    /[&<>"]/g,
    c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c],
  );
const SVG = 'http://www.w3.org/2000/svg';
function make(name, attributes, parent, text) {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}

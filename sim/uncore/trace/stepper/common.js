// Used by both runs and by the stepping: moments, times and texts for display, and drawing.
const NOT = -1; // a time that has not come, or no agent

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

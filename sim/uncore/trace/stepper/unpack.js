// Reads the page's documents: plain ones that a playground filled in, or those compressed by
// page.py.
function whole({ tables, ways, columns, ...rest }) {
  const rowsOf = name => {
    const all = tables[name].map(column =>
      column.differences ? sums(column.differences) : column,
    );
    return (all[0] ?? []).map((_, row) => all.map(column => column[row]));
  };
  const rows = Object.fromEntries(Object.keys(tables).map(name => [name, rowsOf(name)]));
  const sent = columns.messages.indexOf('sent');
  let next = 0;
  const timed = ways.of.map((route, n) => {
    const stops = ways.routes[route];
    const ofWay = all => all.slice(next, next + stops.length - 1);
    const [took, waited] = [ways.took, ways.waited].map(ofWay);
    next += took.length;
    return [stops, sums([rows.messages[n][sent], ...took]), waited];
  });
  return { tables: rows, ways: timed, columns, ...rest };
}
function sums(differences) {
  let sum = 0;
  return differences.map(difference => {
    sum += difference;
    return sum;
  });
}
async function documents(text) {
  if (text.trim().startsWith('[')) return JSON.parse(text);
  return (await unpackedValue(text.trim())).map(whole);
}

// Reads the documents of the page: plain JSON that a playground has filled in, or the compressed form
// that page.py writes.
function unpackedDocument({ tables, ways, columns, ...rest }) {
  const rowsOf = name => {
    const all = tables[name].map(column =>
      column.differences ? sums(column.differences) : column,
    );
    return (all[0] ?? []).map((_, row) => all.map(column => column[row]));
  };
  const rows = Object.fromEntries(Object.keys(tables).map(name => [name, rowsOf(name)]));
  const sent = columns.messages.indexOf('sent');
  let next = 0;
  const restoredWays = ways.of.map((route, n) => {
    const stops = ways.routes[route];
    const partOf = list => list.slice(next, next + stops.length - 1);
    const [took, waited] = [ways.took, ways.waited].map(partOf);
    next += took.length;
    return [stops, sums([rows.messages[n][sent], ...took]), waited];
  });
  return { tables: rows, ways: restoredWays, columns, ...rest };
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
  return (await unpackedValue(text.trim())).map(unpackedDocument);
}

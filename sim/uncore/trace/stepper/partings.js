// Compares two logs: finds each place at which they begin to differ.
//
//   partingsOf(a, b)    returns [[index in a, index in b], ...]; compares the fourth item of events
const MAX_DISAGREEMENT = 200; // the logs must agree again within this number of events
const MIN_AGREEMENT = 3; // number of consecutive equal events that count as agreement
function partingsOf(a, b) {
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i][3] === b[j][3]) {
      i++;
      j++;
    } else {
      found.push([i, j]);
      [i, j] = nextAgreement(a, b, i, j);
    }
  }
  return found;
}
function nextAgreement(a, b, i, j) {
  const isEqual = (m, n) => m < a.length && n < b.length && a[m][3] === b[n][3];
  const agrees = (m, n) =>
    Array.from({ length: MIN_AGREEMENT }).every((_, k) => isEqual(m + k, n + k));
  for (let skipped = 1; skipped <= MAX_DISAGREEMENT; skipped++)
    for (let k = 0; k <= skipped; k++)
      if (agrees(i + k, j + skipped - k)) return [i + k, j + skipped - k];
  return [a.length, b.length];
}

// Compares two logs: the events at which they differ, until they agree again.
//
//   partingsOf(a, b)    [[index in a, index in b], ...]; events are compared by their fourth item
const AHEAD = 200; // events within which the logs must agree again
const MET = 3; // consecutive equal events that count as agreement
function partingsOf(a, b) {
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i][3] === b[j][3]) {
      i++;
      j++;
    } else {
      found.push([i, j]);
      [i, j] = meeting(a, b, i, j);
    }
  }
  return found;
}
function meeting(a, b, i, j) {
  const isAlike = (m, n) => m < a.length && n < b.length && a[m][3] === b[n][3];
  const meets = (m, n) => Array.from({ length: MET }).every((_, k) => isAlike(m + k, n + k));
  for (let away = 1; away <= AHEAD; away++)
    for (let k = 0; k <= away; k++) if (meets(i + k, j + away - k)) return [i + k, j + away - k];
  return [a.length, b.length];
}

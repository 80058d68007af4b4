// Where two logs part: the events of each at which they are not alike, up to where they are again.
//
//   partingsOf(a, b)    [[index in a, index in b], ...]; an event's fourth item is what is compared
const AHEAD = 200; // events within which two logs are looked for to meet again
const MET = 3; // alike events that are a meeting
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

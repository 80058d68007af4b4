// Returns how many elements of a sorted list have a key of at most `limit`.
function notAfter(list, limit, key = value => value) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

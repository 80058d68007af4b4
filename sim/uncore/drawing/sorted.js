// Returns how many elements of a sorted list are not after `at`.
function notAfter(list, at, key = value => value) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

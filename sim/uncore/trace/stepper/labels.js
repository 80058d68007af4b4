// Places labels so that none covers another: each label takes the first of its possible places that
// is free.
//
//   const labels = new Labels(avoided, area)
//       avoided: boxes that are covered only if no other place is free; area: box of the drawing
//   labels.reserve(box)
//       no label may cover this box
//   labels.place([[x, y], ...], text, size)
//       returns the place of the label, where x is its middle; undefined if no place is free
const LETTER_WIDTH = 0.72; // width of a letter with its outline, as a share of the font size
class Labels {
  constructor(avoided = [], area = [-Infinity, -Infinity, Infinity, Infinity]) {
    this.area = area;
    this.boxes = [];
    this.avoided = avoided;
  }
  reserve(box) {
    this.boxes.push(box);
  }
  place(places, text, size) {
    const half = (LETTER_WIDTH * size * text.length) / 2;
    const boxOf = ([x, y]) => [x - half, y - size, x + half, y + 0.3 * size];
    const inside = places.filter(place => isWithin(boxOf(place), this.area));
    const isFree = others => place => !others.some(other => overlap(boxOf(place), other));
    const place =
      inside.find(isFree([...this.boxes, ...this.avoided])) ?? inside.find(isFree(this.boxes));
    if (place) this.reserve(boxOf(place));
    return place;
  }
}
const isWithin = (a, b_) => a[0] >= b_[0] && a[1] >= b_[1] && a[2] <= b_[2] && a[3] <= b_[3];
const overlap = (a, b_) => a[0] < b_[2] && b_[0] < a[2] && a[1] < b_[3] && b_[1] < a[3];

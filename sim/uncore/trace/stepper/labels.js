// Places for labels so that none covers another: each label takes the first of its places that is
// free.
//
//   const labels = new Labels(avoided, area); labels.taken(box)
//       avoided: boxes to be covered only if no other place is free; area: the box of the drawing
//   labels.free([[x, y], ...], text, size)
//       the place taken, x being the label's middle; undefined if none is free
const WIDE = 0.72; // width of a letter with its outline, as a share of the font size
class Labels {
  constructor(avoided = [], area = [-Infinity, -Infinity, Infinity, Infinity]) {
    this.area = area;
    this.boxes = [];
    this.avoided = avoided;
  }
  taken(box) {
    this.boxes.push(box);
  }
  free(places, text, size) {
    const half = (WIDE * size * text.length) / 2;
    const boxOf = ([x, y]) => [x - half, y - size, x + half, y + 0.3 * size];
    const inside = places.filter(place => isWithin(boxOf(place), this.area));
    const isFree = others => place => !others.some(other => meet(boxOf(place), other));
    const place =
      inside.find(isFree([...this.boxes, ...this.avoided])) ?? inside.find(isFree(this.boxes));
    if (place) this.taken(boxOf(place));
    return place;
  }
}
const isWithin = (a, b_) => a[0] >= b_[0] && a[1] >= b_[1] && a[2] <= b_[2] && a[3] <= b_[3];
const meet = (a, b_) => a[0] < b_[2] && b_[0] < a[2] && a[1] < b_[3] && b_[1] < a[3];

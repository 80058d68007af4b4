// Harts access shared lines at random, and check every value that they read.
//
// Each line has eight words: four counters of different harts, one word of a single hart that is
// accessed in pieces, and three words that all harts change atomically.
//
// - A hart writes the numbers 1, 2, 3 ... to its own counters in turn. Once another hart has read
//   number v, it knows which value each of that hart's counters has at least: a smaller value means
//   that stores were seen out of order, or that a copy was stale (single writer, TSO).
// - The word in pieces must read back as its owner wrote it, with accesses of any size.
// - At the end, the sums of all additions, exchanges and exclusive ors must be correct, so none was
//   lost or done twice.
//
// An operation is one access that was checked.
#include "uncore.h"

UC_WORKLOAD("Random accesses to falsely shared lines, every value checked");
UC_PARAM(u64, ops, 1000, "operations", "accesses by each hart");
UC_PARAM(u64, lines, 4, "lines", "shared lines, at least; there are more if the harts need more");
UC_PARAM(u64, stride, 64, "bytes", "from one shared line to the next; a power of two");
UC_PARAM(u64, seed, 1, "number", "of the random choices");

#define COUNTERS 4  // words of a line that belong to single harts
enum { PIECES = COUNTERS, XORED, SWAPPED, ADDED, WORDS };

static char* shared;
static uint64_t all_lines, per_hart;  // shared lines; counters of each hart

// Knowledge of one hart, on lines that no other hart uses.
struct knowledge {
  UC_ALIGNED uint64_t random;
  uint64_t written;       // the last number this hart has written to its counters
  uint64_t added, xored;  // sums over all lines
  uint64_t put, taken;    // sums of exchanged values
  uint64_t* seen;         // by hart: the largest number read from it
  uint64_t* pieces;       // by line: the word in pieces, if it is this hart's
};
static struct knowledge* known;

static uint64_t* word(uint64_t line, unsigned index) {
  return (uint64_t*)(shared + line * stride) + index;
}

// Returns counter `turn` of a hart. Neighbours on a line belong to different harts.
static uint64_t* counter(uint64_t hart, uint64_t turn, unsigned n) {
  uint64_t place = turn * n + hart;
  return word(place / COUNTERS, place % COUNTERS);
}

static uint64_t draw(struct knowledge* self, uint64_t below) {  // xorshift64
  uint64_t x = self->random;
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  self->random = x;
  return (x >> 16) % below;
}

// Returns the value of counter `turn` after the hart has written the number `last`.
static uint64_t reached(uint64_t last, uint64_t turn) {
  uint64_t back = (last % per_hart + per_hart - turn) % per_hart;
  return last > back ? last - back : 0;
}

void uc_setup(unsigned n) {
  per_hart = (lines * COUNTERS + n - 1) / n;
  if (per_hart < 2) per_hart = 2;
  all_lines = (per_hart * n + COUNTERS - 1) / COUNTERS;
  shared = uc_alloc(all_lines * stride, 0);
  known = uc_alloc(n * sizeof *known, 0);
  for (unsigned id = 0; id < n; id++) {
    known[id].random = (seed + id + 1) * 0x9e3779b97f4a7c15;
    known[id].seen = uc_alloc(n * sizeof(uint64_t), 0);
    known[id].pieces = uc_alloc(all_lines * sizeof(uint64_t), 0);
  }
}

// ---- The accesses -------------------------------------------------------------------------------

static void write_counter(struct knowledge* self, unsigned id, unsigned n) {
  uint64_t next = ++self->written;
  *(volatile uint64_t*)counter(id, next % per_hart, n) = next;
}

static void read_counter(struct knowledge* self, unsigned id, unsigned n) {
  uint64_t hart = draw(self, n), turn = draw(self, per_hart);
  uint64_t value = *(volatile uint64_t*)counter(hart, turn, n);
  if (hart == id) {
    uc_check(value == reached(self->written, turn), "a hart did not read its own last store");
    return;
  }
  uc_check(value >= reached(self->seen[hart], turn), "an old value was read after a newer one");
  uc_check(value == 0 || value % per_hart == turn, "a value was read that nobody wrote there");
  if (value > self->seen[hart]) self->seen[hart] = value;
}

static void store_piece(char* at, unsigned size, uint64_t value) {
  if (size == 1)
    *(volatile uint8_t*)at = (uint8_t)value;
  else if (size == 2)
    *(volatile uint16_t*)at = (uint16_t)value;
  else if (size == 4)
    *(volatile uint32_t*)at = (uint32_t)value;
  else
    *(volatile uint64_t*)at = value;
}

static uint64_t load_piece(const char* at, unsigned size) {
  if (size == 1) return *(volatile const uint8_t*)at;
  if (size == 2) return *(volatile const uint16_t*)at;
  if (size == 4) return *(volatile const uint32_t*)at;
  return *(volatile const uint64_t*)at;
}

// Writes and reads a word in pieces. That of line l belongs to hart l % n; a hart without one
// writes a counter instead.
static void use_pieces(struct knowledge* self, unsigned id, unsigned n) {
  if (id >= all_lines) return write_counter(self, id, n);
  uint64_t mine = (all_lines - id + n - 1) / n, line = id + draw(self, mine) * n;
  char* at = (char*)word(line, PIECES);
  unsigned size = 1u << draw(self, 4), offset = (unsigned)draw(self, 8 / size) * size;
  uint64_t whole = size == 8 ? ~0ull : (1ull << 8 * size) - 1;
  uint64_t value = self->random & whole;
  store_piece(at + offset, size, value);
  self->pieces[line] &= ~(whole << 8 * offset);
  self->pieces[line] |= value << 8 * offset;
  size = 1u << draw(self, 4), offset = (unsigned)draw(self, 8 / size) * size;
  whole = size == 8 ? ~0ull : (1ull << 8 * size) - 1;
  uc_check(load_piece(at + offset, size) == (self->pieces[line] >> 8 * offset & whole),
           "a word written in pieces was read back wrong");
}

static void add(struct knowledge* self, uint64_t line) {
  atomic_fetch_add_explicit((_Atomic uint64_t*)word(line, ADDED), 1, memory_order_relaxed);
  self->added++;
}

// Adds by LR and SC. A second SC must fail, because it no longer has a reservation.
static void add_by_reservation(struct knowledge* self, uint64_t line) {
  uint64_t *at = word(line, ADDED), value, failed;
  do {
    __asm__ volatile("lr.d %0, (%2)\n\taddi %0, %0, 1\n\tsc.d %1, %0, (%2)"
                     : "=&r"(value), "=&r"(failed)
                     : "r"(at)
                     : "memory");
  } while (failed);
  self->added++;
  __asm__ volatile("sc.d %0, zero, (%1)" : "=&r"(failed) : "r"(at) : "memory");
  uc_check(failed, "an SC without a reservation succeeded");
}

static void swap(struct knowledge* self, uint64_t line) {
  uint64_t value = draw(self, 1 << 20);
  self->taken +=
      atomic_exchange_explicit((_Atomic uint64_t*)word(line, SWAPPED), value, memory_order_relaxed);
  self->put += value;
}

static void flip(struct knowledge* self, uint64_t line) {
  uint64_t bits = self->random;
  atomic_fetch_xor_explicit((_Atomic uint64_t*)word(line, XORED), bits, memory_order_relaxed);
  self->xored ^= bits;
}

static void access(struct knowledge* self, unsigned id, unsigned n) {
  uint64_t line = draw(self, all_lines);
  switch (draw(self, 12)) {
    case 0:
      return add(self, line);
    case 1:
      return add_by_reservation(self, line);
    case 2:
      return swap(self, line);
    case 3:
      return flip(self, line);
    case 4:
    case 5:
      return use_pieces(self, id, n);
    case 6:
    case 7:
    case 8:
      return write_counter(self, id, n);
    default:
      return read_counter(self, id, n);
  }
}

// ---- The program --------------------------------------------------------------------------------

void uc_main(unsigned id, unsigned n) {
  struct knowledge* self = &known[id];
  uc_barrier();
  uc_roi(true);
  for (uint64_t i = 0; i < ops; i++) {
    access(self, id, n);
    uc_op();
    if (draw(self, 16) == 0) uc_work((int64_t)draw(self, 200));
  }
  uc_roi(false);
}

void uc_finish(unsigned n) {
  uint64_t added = 0, xored = 0, left = 0;
  for (uint64_t line = 0; line < all_lines; line++) {
    added += *word(line, ADDED);
    xored ^= *word(line, XORED);
    left += *word(line, SWAPPED);
  }
  for (unsigned id = 0; id < n; id++) {
    struct knowledge* hart = &known[id];
    added -= hart->added, xored ^= hart->xored, left += hart->taken - hart->put;
    for (uint64_t turn = 0; turn < per_hart; turn++)
      uc_check(*counter(id, turn, n) == reached(hart->written, turn), "a store was lost");
    for (uint64_t line = id; line < all_lines; line += n)
      uc_check(*word(line, PIECES) == hart->pieces[line], "a store of a piece was lost");
  }
  uc_check(added == 0, "an addition was lost or done twice");
  uc_check(xored == 0, "an exclusive or was lost or done twice");
  uc_check(left == 0, "an exchanged value was lost or taken twice");
}

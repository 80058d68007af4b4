// SNZI, a scalable nonzero indicator: a tree that only shows whether the count is nonzero.
//
// Ellen, Lev, Luchangco and Moir (2007). To know whether an object is in use no exact count is
// needed. Harts arrive at and depart from leaves. A node changes its parent only when its own
// count leaves zero or returns to it, so a nonzero leaf absorbs the traffic of its harts, and most
// of it never reaches the root. A node that leaves zero goes through one half: it is nonzero only
// after it has arrived at the parent. Any hart that finds a half helps with that arrival, and
// superfluous helpers depart again. The root has an indicator in addition to its count.
//
// A word holds a count (doubled, so that a half is a whole number) and a version, by which helpers
// and clearers notice that they are too late.
//
// Check: as in references.h.
#include "references.h"

UC_WORKLOAD("SNZI: a tree of counts that tells only whether anybody holds a reference");
UC_PARAM(u64, leaf, 4, "harts", "harts that share a leaf");
UC_PARAM(u64, fan_in, 4, "nodes", "children of an inner node");

enum { HALF = 1, ONE = 2 };

static struct node {
  UC_ALIGNED _Atomic uint64_t word;  // count in the lower half, version in the upper
}* nodes;                            // a heap: the children of node k begin at fan_in * k + 1

static struct {
  UC_ALIGNED _Atomic uint64_t word;  // lower half: 1 = nonzero; upper half: version
}* indicator;

static uint64_t inner;  // number of nodes that are not leaves; read-only

static uint64_t pack(uint64_t count, uint64_t version) { return version << 32 | count; }
static uint64_t count_of(uint64_t word) { return (uint32_t)word; }
static uint64_t version_of(uint64_t word) { return word >> 32; }
static uint64_t read_word(_Atomic uint64_t* word) {
  return atomic_load_explicit(word, memory_order_acquire);
}
static bool change(_Atomic uint64_t* word, uint64_t from, uint64_t to) {
  return atomic_compare_exchange_strong_explicit(word, &from, to, memory_order_acq_rel,
                                                 memory_order_relaxed);
}

// ---- The root -----------------------------------------------------------------------------------

// Sets the indicator for a version of the root. An arrival at the root returns only after that.
static void indicate_nonzero(uint64_t version) {
  uint64_t seen;
  do {
    seen = read_word(&indicator->word);
    if (version_of(seen) >= version) return;
  } while (!change(&indicator->word, seen, pack(1, version)));
}

// Clears the indicator, unless a later arrival has set it again for another version of the root.
static void indicate_zero(uint64_t version) {
  uint64_t seen = read_word(&indicator->word);
  if (seen != pack(1, version) || version_of(read_word(&nodes[0].word)) != version) return;
  if (change(&indicator->word, seen, pack(0, version))) object_release();
}

static void arrive_at_root(void) {
  uint64_t seen, version;
  do {
    seen = read_word(&nodes[0].word);
    version = version_of(seen) + !count_of(seen);
  } while (!change(&nodes[0].word, seen, pack(count_of(seen) + ONE, version)));
  indicate_nonzero(version);
}

// Subtracts one from the node's count. Returns the word's previous value.
static uint64_t leave(uint64_t node) {
  uint64_t seen;
  do seen = read_word(&nodes[node].word);
  while (!change(&nodes[node].word, seen, seen - ONE));
  return seen;
}

// ---- Nodes below --------------------------------------------------------------------------------

static void depart(uint64_t node) {
  for (;; node = (node - 1) / fan_in) {
    uint64_t left = leave(node);
    if (count_of(left) != ONE) return;
    if (node == 0) {
      indicate_zero(version_of(left));
      return;
    }
  }
}

static void arrive(uint64_t node) {
  if (node == 0) {
    arrive_at_root();
    return;
  }
  uint64_t parent = (node - 1) / fan_in, undo = 0;
  for (bool arrived = false; !arrived;) {
    uint64_t seen = read_word(&nodes[node].word);
    if (count_of(seen) >= ONE) {
      arrived = change(&nodes[node].word, seen, seen + ONE);
      continue;
    }
    if (count_of(seen) == 0) {
      uint64_t half = pack(HALF, version_of(seen) + 1);
      if (!change(&nodes[node].word, seen, half)) continue;
      arrived = true;
      seen = half;
    }
    arrive(parent);
    if (!change(&nodes[node].word, seen, pack(ONE, version_of(seen)))) undo++;
  }
  while (undo--) depart(parent);
}

// ---- The scheme ---------------------------------------------------------------------------------

static uint64_t leaf_of(unsigned id) { return inner + id / leaf; }

static void count_setup(unsigned n) {
  uc_require(leaf && fan_in >= 2, "leaf must be 1 or more, fan_in 2 or more");
  uint64_t leaves = (n + leaf - 1) / leaf;
  inner = (leaves - 1 + fan_in - 2) / (fan_in - 1);
  nodes = uc_alloc((inner + leaves) * sizeof *nodes, (unsigned)object_node);
  indicator = uc_alloc(sizeof *indicator, (unsigned)object_node);
  for (unsigned id = 0; id < n; id++) arrive(leaf_of(id));
}

static void count_get(unsigned id) { arrive(leaf_of(id)); }
static void count_put(unsigned id) { depart(leaf_of(id)); }
static void count_tend(unsigned id) { (void)id; }

static bool count_drain(unsigned id) {
  (void)id;
  return true;
}

static bool count_is_zero(void) { return count_of(indicator->word) == 0; }

// False sharing: two unrelated fields, `distance` bytes apart, are in one line or in two.
//
// Coherence works on lines, not on variables. Hart 0 increments `count`, which no other hart reads;
// the other harts read `limit`, which no hart writes. If both are in one line, each addition takes
// the line from every reader and each reader fetches it again, as if they shared data; on separate
// lines (64 bytes apart) every access hits. The name is from Torrellas, Lam and Hennessy (1990,
// after Eggers and Katz 1989). Machines that fetch lines in pairs show some of it up to 128 bytes.
// In kernels a typical case is a written statistics field beside a read-mostly pointer.
//
// Check: the limit never changes, and no addition is lost. With a distance of 0 (sabotage) the two
// fields are one, and both checks fail.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("Two unrelated fields in one line, or on lines of their own");
UC_PARAM(u64, distance, 8, "bytes", "from the written field to the one that is read, in words");
UC_PARAM(duration, think, 0, "ns", "time between two accesses of a hart");
UC_PARAM(u64, fields_node, 0, "node", "memory node of both fields");

#define FARTHEST 4096
#define LIMIT (1ull << 40)  // larger than any count

static _Atomic uint64_t* count;        // written by hart 0
static const _Atomic uint64_t* limit;  // read by all others

static bool usable(uint64_t bytes) { return bytes && bytes % 8 == 0 && bytes <= FARTHEST; }

void uc_setup(unsigned n) {
  (void)n;
  uint64_t bytes = UC_SABOTAGE ? 0 : distance;
  if (!UC_SABOTAGE && !usable(bytes)) {
    uc_check(false, "distance must be a multiple of 8, from 8 to 4096 bytes");
    bytes = 8;
  }
  count = uc_alloc(FARTHEST + sizeof *count, (unsigned)fields_node);
  _Atomic uint64_t* second = count + bytes / sizeof *count;
  *second = LIMIT;
  limit = second;
}

static void add_one(void) {
  uint64_t before = atomic_load_explicit(count, memory_order_relaxed);
  atomic_store_explicit(count, before + 1, memory_order_relaxed);
}

static void read_limit(void) {
  uint64_t seen = atomic_load_explicit(limit, memory_order_relaxed);
  uc_check(seen == LIMIT, "a field changed that nobody writes");
}

static void access(unsigned id) {
  if (id == 0)
    add_one();
  else
    read_limit();
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  read_limit();  // so that the first access to the line is not measured
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    access(id);
    uc_op();
    uc_delay(think);
  }
  loop_end();
}

void uc_finish(unsigned n) {
  (void)n;
  uc_check(*count == uc_record[0].record.ops, "additions were lost");
}

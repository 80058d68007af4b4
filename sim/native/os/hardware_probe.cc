// riscv_hwprobe: the features of the harts, as pairs of keys and values (Linux,
// Documentation/arch/riscv/hwprobe.rst). All harts have the same features, so the values do not
// depend on the set of harts in the call.
#include <algorithm>
#include <optional>
#include <vector>

#include "os/calls.hh"

namespace uncore::calls {
namespace {

// The names are those of Linux's uapi hwprobe.h of RISC-V, without the prefix RISCV_HWPROBE_.
enum Key : int64_t {
  KEY_MVENDORID,
  KEY_MARCHID,
  KEY_MIMPID,
  KEY_BASE_BEHAVIOR,
  KEY_IMA_EXT_0,
  KEY_CPUPERF_0,
  KEY_ZICBOZ_BLOCK_SIZE,
  KEY_HIGHEST_VIRT_ADDRESS,
  KEY_TIME_CSR_FREQ,
  KEY_MISALIGNED_SCALAR_PERF,
  KEY_MISALIGNED_VECTOR_PERF,
};
constexpr uint64_t BASE_BEHAVIOR_IMA = 1;
constexpr uint64_t IMA_FD = 1 << 0, IMA_C = 1 << 1, EXT_ZBA = 1 << 3, EXT_ZBB = 1 << 4,
                   EXT_ZBS = 1 << 5, EXT_ZTSO = 1ull << 33, EXT_ZACAS = 1ull << 34,
                   EXT_ZIHINTPAUSE = 1ull << 36, EXT_ZAWRS = 1ull << 48;
constexpr uint64_t MISALIGNED_SCALAR_FAST = 3, MISALIGNED_VECTOR_UNSUPPORTED = 4;
constexpr uint64_t WHICH_CPUS = 1;

constexpr uint64_t kExtensions =
    IMA_FD | IMA_C | EXT_ZBA | EXT_ZBB | EXT_ZBS | EXT_ZACAS | EXT_ZIHINTPAUSE | EXT_ZAWRS;
constexpr uint64_t kHighestAddress = (1ull << 38) - 1;  // Sv39, whose upper half is the kernel's
constexpr uint64_t kTimebaseHz = 1'000'000'000;

struct Pair {
  int64_t key;
  uint64_t value;
};

// Returns null for a key that Linux does not know.
std::optional<uint64_t> value_of(int64_t key, bool total_store_order) {
  switch (key) {
    case KEY_MVENDORID:
    case KEY_MARCHID:
    case KEY_MIMPID:
    case KEY_ZICBOZ_BLOCK_SIZE:
      return 0;
    case KEY_BASE_BEHAVIOR:
      return BASE_BEHAVIOR_IMA;
    case KEY_IMA_EXT_0:
      return kExtensions | (total_store_order ? EXT_ZTSO : 0);
    case KEY_CPUPERF_0:
    case KEY_MISALIGNED_SCALAR_PERF:
      return MISALIGNED_SCALAR_FAST;
    case KEY_HIGHEST_VIRT_ADDRESS:
      return kHighestAddress;
    case KEY_TIME_CSR_FREQ:
      return kTimebaseHz;
    case KEY_MISALIGNED_VECTOR_PERF:
      return MISALIGNED_VECTOR_UNSUPPORTED;
    default:
      return std::nullopt;
  }
}

bool is_bit_mask(int64_t key) {
  return key == KEY_BASE_BEHAVIOR || key == KEY_IMA_EXT_0 || key == KEY_CPUPERF_0;
}

bool is_empty(const std::vector<uint8_t>& set) {
  return std::ranges::all_of(set, [](uint8_t byte) { return byte == 0; });
}

// Returns the pair for a key. For an unknown key Linux returns the key -1 and the value 0.
Pair answer(int64_t key, bool total_store_order) {
  const std::optional<uint64_t> value = value_of(key, total_store_order);
  return value ? Pair{key, *value} : Pair{-1, 0};
}

bool meets(const Pair& actual, const Pair& wanted) {
  return is_bit_mask(actual.key) ? (actual.value & wanted.value) == wanted.value
                                 : actual.value == wanted.value;
}

// Completes the pairs of the call with the values of their keys.
Work write_values(Linux& os, Task& t, uint64_t pairs, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t pair_address = pairs + i * sizeof(Pair);
    int64_t key = 0;
    int64_t error = co_await os.memory.read(t, pair_address, key);
    if (error == 0)
      error = co_await os.memory.write(t, answer(key, !t.thread->weak_order()), pair_address);
    if (error < 0) co_return error;
  }
  co_return 0;
}

// Returns 1 if the harts match all pairs of the call, 0 if not, or an error. Replaces each unknown
// key by -1.
Work compare_values(Linux& os, Task& t, uint64_t pairs, uint64_t count) {
  bool all = true;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t pair_address = pairs + i * sizeof(Pair);
    Pair wanted{};
    int64_t error = co_await os.memory.read(t, pair_address, wanted);
    if (error < 0) co_return error;
    const Pair has = answer(wanted.key, !t.thread->weak_order());
    all &= meets(has, wanted) && has.key >= 0;
    if (has.key < 0) error = co_await os.memory.write(t, has, pair_address);
    if (error < 0) co_return error;
  }
  co_return all;
}

// Removes harts that are not online from a set. An empty set stands for all harts.
void keep_online(std::vector<uint8_t>& set, std::size_t harts) {
  const bool all = is_empty(set);
  for (std::size_t h = 0; h < 8 * set.size(); ++h) {
    const bool in = h < harts && (all || (set[h / 8] >> h % 8 & 1));
    set[h / 8] = static_cast<uint8_t>((set[h / 8] & ~(1u << h % 8)) | unsigned{in} << h % 8);
  }
}

}  // namespace

Work riscv_hwprobe(Linux& os, Task& t) {
  const uint64_t pairs = t.args[0], count = t.args[1], bytes = t.args[2], cpus = t.args[3];
  const bool selects_harts = t.args[4] == WHICH_CPUS;
  if (t.args[4] & ~WHICH_CPUS) co_return -EINVAL;
  if (selects_harts && (!bytes || !cpus)) co_return -EINVAL;
  if (!selects_harts && !bytes && !cpus) co_return co_await write_values(os, t, pairs, count);
  const std::size_t harts = os.context.harts.size();
  std::vector<uint8_t> set(std::min<uint64_t>(bytes, (harts + 63) / 64 * 8));
  const int64_t error = co_await os.memory.copy_in(t, cpus, set);
  if (error < 0) co_return error;
  if (!selects_harts && is_empty(set)) co_return -EINVAL;
  keep_online(set, harts);
  if (!selects_harts && is_empty(set)) co_return -EINVAL;
  if (!selects_harts) co_return co_await write_values(os, t, pairs, count);
  const int64_t compared = co_await compare_values(os, t, pairs, count);
  if (compared < 0) co_return compared;
  if (compared == 0) std::ranges::fill(set, uint8_t{0});
  co_return co_await os.memory.copy_out(t, set, cpus);
}

}  // namespace uncore::calls

// How the kernel reads and writes the program's memory: through the caches of the hart that it runs
// on, up to eight bytes at a time, like the program itself.
#include <algorithm>
#include <array>
#include <cstring>

#include "os/errors.hh"
#include "os/kernel.hh"

namespace uncore {
namespace {

// Of the bytes from an address on, as many as one access takes.
constexpr unsigned chunk(uint64_t address, std::size_t left) {
  unsigned size = 8;
  while (address % size != 0 || size > left) size /= 2;
  return size;
}

}  // namespace

// Pages that it touches first are on the node of the hart.
Work Kernel::reach(Task& t, uint64_t address, uint64_t size) {
  if (size == 0) co_return 0;
  const uint64_t first = AddressSpace::down(address), end = address + size;
  for (uint64_t page = first; page < end; page += AddressSpace::kPage) {
    if (space.present(page)) continue;
    const auto area = space.area_at(page);
    if (!area || area->rights == 0) co_return kFault;
    if (space.touched() + AddressSpace::kPage > parts.room) {
      give_up(on(t), "out of memory: the program has touched all " +
                         std::to_string(parts.room >> 20) + " MiB of the machine's");
      co_await t.leave();
    }
    space.touch(page);
    parts.map.place_page(page >> kLineShift, on(t).core.agent);
  }
  co_return 0;
}

Work Kernel::copy_in(Task& t, uint64_t from, std::span<uint8_t> to) {
  const int64_t reached = co_await reach(t, from, to.size());
  if (reached < 0) co_return reached;
  for (std::size_t done = 0; done < to.size();) {
    const unsigned size = chunk(from + done, to.size() - done);
    const uint64_t word = co_await t.load(from + done, size);
    std::memcpy(to.data() + done, &word, size);
    done += size;
  }
  co_return 0;
}

Work Kernel::copy_out(Task& t, std::span<const uint8_t> from, uint64_t to) {
  const int64_t reached = co_await reach(t, to, from.size());
  if (reached < 0) co_return reached;
  for (std::size_t done = 0; done < from.size();) {
    const unsigned size = chunk(to + done, from.size() - done);
    uint64_t word = 0;
    std::memcpy(&word, from.data() + done, size);
    co_await t.store(to + done, size, word);
    done += size;
  }
  co_return 0;
}

// As far as its zero, or the longest path.
Work Kernel::copy_text(Task& t, uint64_t from, std::string& to) {
  constexpr std::size_t kLongest = 4096;
  for (; to.size() < kLongest; ++from) {
    const int64_t reached = co_await reach(t, from, 1);
    if (reached < 0) co_return reached;
    const uint64_t letter = co_await t.load(from, 1);
    if (letter == 0) co_return 0;
    to.push_back(static_cast<char>(letter));
  }
  co_return kInvalid;
}

Work Kernel::put(Task& t, uint64_t to, uint64_t value, unsigned size) {
  std::array<uint8_t, 8> bytes{};
  std::memcpy(bytes.data(), &value, size);
  co_return co_await copy_out(t, std::span(bytes).first(size), to);
}

void Kernel::hide_pages(uint64_t begin, uint64_t end) {
  std::vector<uint64_t> pages;
  space.each_touched(begin, end, [&](uint64_t page) { pages.push_back(page); });
  for (const uint64_t page : pages) space.hide(page);
  for (const Cpu& h : harts_) h.thread->core.lines.forget_recent();
}

// They are zero when they are touched again, and no store of this hart comes later.
Work Kernel::drop_pages(Task& t, uint64_t begin, uint64_t end) {
  co_await t.fence();
  static constexpr std::array<uint8_t, kLineBytes> kZeros{};
  std::vector<uint64_t> pages;
  space.each_touched(begin, end, [&](uint64_t page) { pages.push_back(page); });
  for (const uint64_t page : pages) {
    for (uint64_t at = page; at < page + AddressSpace::kPage; at += kLineBytes)
      parts.memory.write(at, kLineBytes, kZeros.data(), now(t));
    space.forget(page);
  }
  for (const Cpu& h : harts_) h.thread->core.lines.forget_recent();
  co_return 0;
}

}  // namespace uncore

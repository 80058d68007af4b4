#include "os/user_memory.hh"

#include <algorithm>
#include <array>
#include <cstring>

#include "os/uapi.hh"
#include "spec/area_spec.hh"

namespace uncore {
namespace {

// Returns the size of the widest aligned access at this address, which is at most `remaining` bytes
// (K4.1).
constexpr unsigned chunk(uint64_t address, std::size_t remaining) {
  unsigned size = 8;
  while (address % size != 0 || size > remaining) size /= 2;
  return size;
}

}  // namespace

UserMemory::UserMemory(const LinuxContext& context)
    : program_break(context.process().heap), context_(context) {
  for (const AreaSpec& area : context.process().areas)
    space.map(area.address, {area.address + area.size, area.rights});
}

uint64_t UserMemory::end_of_file(const AddressSpace::Area& area) {
  const InodeRef& file = area.file ? area.file : area.private_file;
  return file ? area.base + AddressSpace::up(file->data.size()) : area.end;
}

uint64_t UserMemory::usable(uint64_t address, uint64_t size, Use use) const {
  const uint64_t end = is_range(address, size) ? address + size : AddressSpace::kEnd;
  uint64_t next = address;
  while (next < end) {
    const auto area = space.area_at(next);
    if (!area || !(use == Use::write ? area->rights & AddressSpace::write : area->rights)) break;
    const uint64_t last = end_of_file(*area);
    next = std::max(next, std::min(area->end, last));
    if (last < area->end) break;
  }
  return std::min(next, std::max(end, address)) - address;
}

bool UserMemory::peek(uint64_t from, std::span<uint8_t> to) const {
  if (usable(from, to.size(), Use::read) < to.size()) return false;
  context_.memory.read(from, to.size(), to.data());
  return true;
}

Work UserMemory::reach(Task& t, uint64_t address, uint64_t size, Use use) {
  if (size == 0) co_return 0;
  if (!is_range(address, size)) co_return -EFAULT;
  if (usable(address, size, use) < size) co_return -EFAULT;
  const uint64_t first = AddressSpace::down(address), end = address + size;
  for (uint64_t page = first; page < end; page += AddressSpace::kPage) {
    if (space.present(page)) continue;
    const auto area = space.area_at(page);
    if (space.touched_bytes() + AddressSpace::kPage > context_.room) {
      co_await t.give_up("out of memory: the program has touched all " +
                         std::to_string(context_.room >> 20) + " MiB of the machine's");
    }
    space.touch(page);
    context_.map.place_page(page >> kUnitShift, t.thread->core.agent);
    const InodeRef& file = area->file ? area->file : area->private_file;
    if (!file) continue;
    if (area->private_file) pull(file, page - area->base, page - area->base + AddressSpace::kPage);
    fill_from_file(page, file, page - area->base, t.now());
  }
  co_return 0;
}

Work UserMemory::fault(Task& t, uint64_t address, unsigned right) {
  const auto area = space.area_at(address);
  if (!area) co_return SEGV_MAPERR;
  if (!(area->rights & right)) co_return SEGV_ACCERR;
  if (address >= end_of_file(*area)) co_return -BUS_ADRERR;
  co_await t.spend(context_.process().costs.fault);
  co_await reach(t, address, 1);
  co_return 0;
}

Work UserMemory::copy_in(Task& t, uint64_t from, std::span<uint8_t> to) {
  const int64_t error = co_await reach(t, from, to.size());
  if (error < 0) co_return error;
  for (std::size_t copied = 0; copied < to.size();) {
    const unsigned size = chunk(from + copied, to.size() - copied);
    const uint64_t word = co_await t.load(from + copied, size);
    std::memcpy(to.data() + copied, &word, size);
    copied += size;
  }
  co_return 0;
}

Work UserMemory::copy_out(Task& t, std::span<const uint8_t> from, uint64_t to) {
  const uint64_t room = usable(to, from.size(), Use::write);
  const int64_t error = room < from.size() ? -EFAULT : 0;
  from = from.first(room);
  co_await reach(t, to, room);
  for (std::size_t copied = 0; copied < from.size();) {
    const unsigned size = chunk(to + copied, from.size() - copied);
    uint64_t word = 0;
    std::memcpy(&word, from.data() + copied, size);
    co_await t.store(to + copied, size, word);
    copied += size;
  }
  co_return error;
}

Work UserMemory::copy_text(Task& t, uint64_t from, std::string& to) {
  constexpr std::size_t kLongestPath = 4096;  // PATH_MAX
  for (; to.size() < kLongestPath; ++from) {
    const int64_t error = co_await reach(t, from, 1);
    if (error < 0) co_return error;
    const uint64_t letter = co_await t.load(from, 1);
    if (letter == 0) co_return 0;
    to.push_back(static_cast<char>(letter));
  }
  co_return -ENAMETOOLONG;
}

Work UserMemory::put(Task& t, uint64_t to, uint64_t value, unsigned size) {
  std::array<uint8_t, 8> bytes{};
  std::memcpy(bytes.data(), &value, size);
  co_return co_await copy_out(t, std::span(bytes).first(size), to);
}

void UserMemory::forget_recent() {
  for (Thread* const thread : context_.harts) thread->core.lines.forget_recent();
}

void UserMemory::hide(uint64_t begin, uint64_t end) {
  for (const uint64_t page : space.touched_pages(begin, end)) space.hide(page);
  forget_recent();
}

// The fence comes first, so that no buffered store of this hart writes to a page after it was
// cleared.
Work UserMemory::drop(Task& t, uint64_t begin, uint64_t end) {
  co_await t.fence();
  static constexpr std::array<uint8_t, kUnitBytes> kZeros{};
  for (const uint64_t page : space.touched_pages(begin, end)) {
    if (const auto area = space.area_at(page); area && area->file) write_back(page, *area);
    for (uint64_t unit = page; unit < page + AddressSpace::kPage; unit += kUnitBytes)
      context_.memory.write(unit, kUnitBytes, kZeros.data(), t.now());
    space.forget(page);
  }
  forget_recent();
  co_return 0;
}

void UserMemory::fill_from_file(uint64_t page, const InodeRef& file, uint64_t from, Time now) {
  std::array<uint8_t, AddressSpace::kPage> bytes{};
  file->data.read(from, bytes);
  for (uint64_t offset = 0; offset < AddressSpace::kPage; offset += kUnitBytes)
    context_.memory.write(page + offset, kUnitBytes, &bytes[offset], now);
}

// Writes the bytes of a mapped page back to the file, up to the file's end.
void UserMemory::write_back(uint64_t page, const AddressSpace::Area& area) {
  std::array<uint8_t, AddressSpace::kPage> bytes{}, before{};
  const std::size_t size = area.file->data.read(page - area.base, before);
  context_.memory.read(page, size, bytes.data());
  if (bytes != before) area.file->data.write(page - area.base, std::span(bytes).first(size));
}

void UserMemory::pull(const InodeRef& file, uint64_t begin, uint64_t end) {
  const std::optional<uint64_t> base = space.base_of(file);
  if (!base) return;
  const uint64_t first = AddressSpace::down(*base + begin), last = AddressSpace::up(*base + end);
  for (const uint64_t page : space.touched_pages(first, last))
    if (const auto area = space.area_at(page); area && area->file == file) write_back(page, *area);
}

void UserMemory::push(const InodeRef& file, uint64_t begin, uint64_t end, Time now) {
  const std::optional<uint64_t> base = space.base_of(file);
  if (!base) return;
  const uint64_t first = AddressSpace::down(*base + begin), last = AddressSpace::up(*base + end);
  for (const uint64_t page : space.touched_pages(first, last))
    if (const auto area = space.area_at(page); area && area->file == file)
      fill_from_file(page, file, page - area->base, now);
}

Work UserMemory::move(Task& t, uint64_t begin, uint64_t end, uint64_t to) {
  co_await t.fence();
  for (const uint64_t page : space.touched_pages(begin, end)) {
    const uint64_t target = page - begin + to;
    const int64_t error = co_await reach(t, target, AddressSpace::kPage);
    if (error < 0) co_return error;
    std::array<uint8_t, kUnitBytes> line{};
    for (uint64_t offset = 0; offset < AddressSpace::kPage; offset += kUnitBytes) {
      context_.memory.read(page + offset, kUnitBytes, line.data());
      context_.memory.write(target + offset, kUnitBytes, line.data(), t.now());
    }
  }
  co_return 0;
}

}  // namespace uncore

// The memory of the program as the kernel handles it: pages that come at their first touch (K2),
// and copies through the caches of the calling task's hart (K4.1).
//
// Interface: reach() makes a range present, 0, or -EFAULT where it is not the program's; the copies
// call it themselves. Invariant: no access of the kernel to a range that a program gave comes
// before reach(); areas of `space` are mapped and unmapped under its lock (K4.2).
#pragma once

#include <span>
#include <string>
#include <type_traits>

#include "os/address_space.hh"
#include "os/inode.hh"
#include "os/linux_surroundings.hh"
#include "os/task.hh"

namespace uncore {

class UserMemory {
 public:
  explicit UserMemory(const LinuxSurroundings& around);

  AddressSpace space;
  uint64_t program_break;

  bool present(uint64_t address, unsigned size) const {
    return space.present(address) && space.present(address + size - 1);
  }
  // Does the range lie in the user's half, without wrapping (access_ok)?
  static bool is_range(uint64_t address, uint64_t size) {
    return address <= AddressSpace::kEnd && size <= AddressSpace::kEnd - address;
  }
  // Pages that are touched first are on the node of the task's hart (K2).
  Work reach(Task& t, uint64_t address, uint64_t size);
  // An access has trapped: 0, and its page has come; or the value is SEGV_MAPERR or SEGV_ACCERR.
  Work fault(Task& t, uint64_t address, unsigned right);
  // The address that an access at `address` has trapped for. Where its first byte is present, that
  // is the next page, into which the access crosses.
  uint64_t faulting_address(uint64_t address) const {
    return space.present(address) ? AddressSpace::down(address) + AddressSpace::kPage : address;
  }

  Work copy_in(Task& t, uint64_t from, std::span<uint8_t> to);
  Work copy_out(Task& t, std::span<const uint8_t> from, uint64_t to);
  // Copies a string up to its zero.
  Work copy_text(Task& t, uint64_t from, std::string& to);
  // `value` must live until the work ends.
  template <class T>
  Work read(Task& t, uint64_t from, T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return copy_in(t, from, {reinterpret_cast<uint8_t*>(&value), sizeof value});
  }
  template <class T>
  Work write(Task& t, const T& value, uint64_t to) {
    static_assert(std::is_trivially_copyable_v<T>);
    return copy_out(t, {reinterpret_cast<const uint8_t*>(&value), sizeof value}, to);
  }
  Work put(Task& t, uint64_t to, uint64_t value, unsigned size);

  // A file that is mapped has its newest bytes in memory, as far as pages were touched: reads them
  // from there, or writes to there what the file has (K14).
  void pull(const InodeRef& file, uint64_t begin, uint64_t end);
  void push(const InodeRef& file, uint64_t begin, uint64_t end, Time now);

  // Pages that are there but may not be touched keep what they hold.
  void hide(uint64_t begin, uint64_t end);
  // Clears pages, so that they are zero when they are touched again, and forgets them.
  Work drop(Task& t, uint64_t begin, uint64_t end);
  // Writes what touched pages hold to pages elsewhere, as if it had always been there.
  Work move(Task& t, uint64_t begin, uint64_t end, uint64_t to);

 private:
  void forget_recent();
  // Writes what the file has at `from` to a page.
  void show_file(uint64_t page, const InodeRef& file, uint64_t from, Time now);
  void keep_file(uint64_t page, const AddressSpace::Area& area);

  const LinuxSurroundings& around_;
};

}  // namespace uncore

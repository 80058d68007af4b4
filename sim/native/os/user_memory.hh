// The kernel's accesses to the program's memory. Pages become present when they are first touched
// (K2); copies go through the caches of the calling task's hart (K4.1).
//
// Interface: reach() makes a range present; it returns 0, or -EFAULT if the range is not mapped.
// The copy functions call it themselves. Invariant: the kernel calls reach() before it accesses a
// range that comes from the program; areas of `space` are mapped and unmapped under its lock
// (K4.2).
#pragma once

#include <span>
#include <string>
#include <type_traits>

#include "os/address_space.hh"
#include "os/inode.hh"
#include "os/linux_context.hh"
#include "os/task.hh"

namespace uncore {

class UserMemory {
 public:
  explicit UserMemory(const LinuxContext& context);

  AddressSpace space;
  uint64_t program_break;

  bool present(uint64_t address, unsigned size) const {
    return space.present(address) && space.present(address + size - 1);
  }
  // Returns whether the range lies in the user's half and does not wrap (Linux's access_ok).
  static bool is_range(uint64_t address, uint64_t size) {
    return address <= AddressSpace::kEnd && size <= AddressSpace::kEnd - address;
  }
  // Returns how many bytes of the range, from its beginning, a call may read, or write, without a
  // gap.
  enum class Use : uint8_t { read, write };
  uint64_t usable(uint64_t address, uint64_t size, Use use) const;
  // Reads bytes for a check of arguments, without simulated time. Returns false if not all of them
  // may be read.
  bool peek(uint64_t from, std::span<uint8_t> to) const;
  // Makes the pages of a range present. A page that is touched for the first time is placed on the
  // node of the task's hart (K2). Returns 0, or -EFAULT if `use` is not allowed throughout.
  Work reach(Task& t, uint64_t address, uint64_t size, Use use = Use::read);
  // Handles a trap of an access. Returns 0 if its page is present now, else SEGV_MAPERR or
  // SEGV_ACCERR, or -BUS_ADRERR beyond the end of a mapped file.
  Work fault(Task& t, uint64_t address, unsigned right);
  // Returns the address that made an access at `address` trap. If the page of its first byte is
  // present, the access crosses into the next page, whose first address is returned.
  uint64_t faulting_address(uint64_t address) const {
    return space.present(address) ? AddressSpace::down(address) + AddressSpace::kPage : address;
  }

  Work copy_in(Task& t, uint64_t from, std::span<uint8_t> to);
  // Copies the bytes that fit into writable areas. Returns -EFAULT if these are not all.
  Work copy_out(Task& t, std::span<const uint8_t> from, uint64_t to);
  // Copies a string without its terminating zero.
  Work copy_text(Task& t, uint64_t from, std::string& to);
  // Reads or writes an object. `value` must exist until the Work has completed.
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
  // Writes the lowest `size` bytes of a value (Linux's put_user).
  Work put(Task& t, uint64_t to, uint64_t value, unsigned size);

  // Touched pages of a shared mapping hold the newest bytes of the file (K14). pull() copies these
  // pages to the file, push() copies the file's bytes to these pages.
  void pull(const InodeRef& file, uint64_t begin, uint64_t end);
  void push(const InodeRef& file, uint64_t begin, uint64_t end, Time now);

  // Hides touched pages: they keep their bytes, but the next access to them traps.
  void hide(uint64_t begin, uint64_t end);
  // Removes the pages of a range (Linux's zap_page_range), and clears them so that they are zero
  // when they are touched again.
  Work drop(Task& t, uint64_t begin, uint64_t end);
  // Copies the bytes of a range's touched pages to pages from `to` on, without simulated accesses.
  Work move(Task& t, uint64_t begin, uint64_t end, uint64_t to);

 private:
  void forget_recent();
  // Returns the address after the last page of an area's file, beyond which an access is a SIGBUS;
  // the area's end if it has no file.
  static uint64_t end_of_file(const AddressSpace::Area& area);
  // Writes the file's bytes at `from` to a page.
  void fill_from_file(uint64_t page, const InodeRef& file, uint64_t from, Time now);
  void write_back(uint64_t page, const AddressSpace::Area& area);

  const LinuxContext& context_;
};

}  // namespace uncore

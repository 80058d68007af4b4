// struct file of Linux 6.13: its reference count is on the line that every read() uses.
//
// RocksDB's readers share the descriptors of its tables. A thread that reads takes a reference,
// follows f_op, f_mapping and f_inode, reads f_mode and f_flags, and drops the reference. So every
// read() writes the line that all others read. Linux 6.14 moved f_ref to a line of rarely used
// fields (e249056c91a2); -DAPART makes that change by hand.
//
// Check: all references are dropped at the end.
#include "loop.h"
#include "uncore.h"

UC_WORKLOAD("References to open files, beside the fields that every read looks at");
UC_PARAM(u64, files, 32, "files", "that all threads read from, at random");
UC_PARAM(duration, read, 4000, "ns", "copy of the data and all else, outside of the structure");

static struct file {
#ifndef APART
  UC_ALIGNED _Atomic uint64_t f_ref;
  _Atomic uint64_t f_mode, f_op, f_mapping, f_inode, f_flags, private_data;
#else
  UC_ALIGNED _Atomic uint64_t f_mode, f_op, f_mapping, f_inode, f_flags, private_data;
  UC_ALIGNED _Atomic uint64_t f_ref;
#endif
}* file;

void uc_setup(unsigned n) {
  (void)n;
  file = uc_alloc(files * sizeof *file, 0);
}

static uint64_t look(_Atomic uint64_t* field) {
  return atomic_load_explicit(field, memory_order_relaxed);
}

void uc_main(unsigned id, unsigned n) {
  (void)n;
  uint64_t drawn = id * 0x9e3779b97f4a7c15u + 1;
  struct loop loop = loop_begin();
  while (loop_more(&loop)) {
    uc_start();
    drawn ^= drawn << 13, drawn ^= drawn >> 7, drawn ^= drawn << 17;
    struct file* mine = &file[drawn % files];
    uint64_t seen = look(&mine->f_mode);
    atomic_fetch_add_explicit(&mine->f_ref, 1, memory_order_relaxed);
    uc_delay(read / 4);
    seen |= look(&mine->f_op);
    seen |= look(&mine->f_mode);
    uc_delay(read / 4);
    seen |= look(&mine->f_mapping);
    seen |= look(&mine->f_flags);
    uc_delay(read / 4);
    seen |= look(&mine->f_inode);
    seen |= look(&mine->private_data);
    uc_delay(read / 4);
    uc_check(seen == 0, "a field that nobody writes has changed");
    atomic_fetch_sub_explicit(&mine->f_ref, 1, memory_order_release);
    uc_op();
  }
  loop_end();
}

void uc_finish(unsigned n) {
  (void)n;
  for (uint64_t k = 0; k < files; k++)
    uc_check(file[k].f_ref == 0, "a reference was not given back");
}

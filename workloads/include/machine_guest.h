// The few functions of uncore.h that are single instructions on a bare RV64 hart. uncore.h
// documents them; machine_host.h has them for threads of an operating system.
#ifndef UNCORE_MACHINE_GUEST_H_
#define UNCORE_MACHINE_GUEST_H_

#define UC_MACHINE static inline

// The asm is volatile, because a thread that slept (thread.h) may have moved to another hart.
static inline unsigned uc_id(void) {
  unsigned long id;
  __asm__ volatile("csrr %0, mhartid" : "=r"(id));
  return (unsigned)id;
}

static inline void uc_work(int64_t n) {
  __asm__ volatile("1: addi %0, %0, -2\n\tbgtz %0, 1b" : "+r"(n));
}

// The pause of Zihintpause, written as a word so that every assembler accepts it.
static inline void uc_pause(void) { __asm__ volatile(".word 0x0100000f"); }

static inline bool uc_interrupts_off(void) {
  unsigned long before;
  __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before)::"memory");
  return before & 8;
}

static inline void uc_interrupts_restore(bool on) {
  if (on) __asm__ volatile("csrsi mstatus, 8" ::: "memory");
}

// tp points to this hart's record.
static inline struct uc_record* uc_self(void) {
  return (struct uc_record*)__builtin_thread_pointer();
}

static inline void uc_progress(void) {}  // engines count operations

#define UC_MARK(mark, value) __asm__ volatile("sltiu x0, %0, %1" ::"r"(value), "I"(mark) : "memory")

#define UC_SECTION(name) __attribute__((section(".uc." name), used, aligned(8)))

#endif  // UNCORE_MACHINE_GUEST_H_

// The few things of uncore.h that are instructions, for a hart that is a pinned thread of this
// computer: functions in runtime/host/, never inlined, because a thread that slept (thread.h) may
// go on in another thread of the system, and a compiler may keep what it knows of the first.
#ifndef UNCORE_MACHINE_HOST_H_
#define UNCORE_MACHINE_HOST_H_

#define UC_MACHINE extern

// A marker has no effect: no engine observes the program.
#define UC_MARK(mark, value) ((void)(value))

// The linker marks the beginning and the end of a section by such names.
#define UC_SECTION(name) __attribute__((section("uncore_" name), used, aligned(8)))

#endif  // UNCORE_MACHINE_HOST_H_

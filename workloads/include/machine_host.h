// The same functions as in machine_guest.h for a hart that is a pinned thread of the host. They are
// in runtime/host/ and never inlined, because a thread that slept (thread.h) may continue in
// another thread of the host, whose thread-local data the compiler must load again.
#ifndef UNCORE_MACHINE_HOST_H_
#define UNCORE_MACHINE_HOST_H_

#define UC_MACHINE extern

// A marker has no effect: no engine observes the program.
#define UC_MARK(mark, value) ((void)(value))

// The linker marks the beginning and the end of a section by such names.
#define UC_SECTION(name) __attribute__((section("uncore_" name), used, aligned(8)))

#endif  // UNCORE_MACHINE_HOST_H_

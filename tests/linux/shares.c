// Checks file locks, shared waits and transfers in parts. Exit status 0, or the failed check.
#include "raw.h"

enum {
  HERE = -100,
  BOTH = 2,
  CREATE = 0100,
  NONBLOCK = 04000,
  EAGAIN = 11,
  EINVAL = 22,
  EBADF = 9, EFAULT = 14,
  SHARED = 1,
  ALONE = 2,
  AT_ONCE = 4,
  FREE = 8,
  IN = 1,
  OUT = 4,
  ADD = 1,
  MOD = 3,
  UNIX = 1,
  STREAM = 1,
  DATAGRAM = 2,
  SEQUENCE = 5,
  TRUNCATED = 0x20,
  ALL = 0x100,
  EMSGSIZE = 90,
};
#define EXCLUSIVE (1u << 28)
#define ONCE (1u << 30)

static struct thread threads[5];
static int ends[2];
static volatile u32 many;
static char text[256];

// ---- locks of files

static long open_lock(void) { return call(N_openat, HERE, "/tmp/uc-lock", BOTH | CREATE, 0600); }
static long lock(long file, long how) { return call(N_flock, file, how); }
static long locks_later(long file) {
  if (lock(file, ALONE)) fail(90);
  ++many;
  return lock(file, FREE);
}
static int file_locks(void) {
  const long a = open_lock(), b = open_lock(), same_as_a = call(N_dup, a);
  if (lock(a, 3) != -EINVAL || lock(99, SHARED) != -EBADF) return 1;
  if (lock(a, ALONE) || lock(b, SHARED | AT_ONCE) != -EAGAIN) return 2;
  if (lock(same_as_a, ALONE | AT_ONCE)) return 3;
  if (lock(a, SHARED) || lock(b, SHARED | AT_ONCE)) return 4;
  if (lock(b, ALONE | AT_ONCE) != -EAGAIN) return 5;
  if (lock(a, ALONE | AT_ONCE)) return 6;  // the failed call by b has released the lock of b
  start(&threads[0], locks_later, b);
  pause_for(300000);
  if (many) return 7;
  call(N_close, a);
  pause_for(300000);
  if (many) return 8;  // the other descriptor still holds the lock
  call(N_close, same_as_a);
  join(&threads[0]);
  call(N_unlinkat, HERE, "/tmp/uc-lock", 0);
  return many == 1 ? 0 : 9;
}

// ---- exclusive waits

struct event {
  u32 events, pad;
  u64 data;
};
static long control(long poller, long how, long file, u32 events) {
  const struct event event = {events, 0, (u64)file};
  return call(N_epoll_ctl, poller, how, file, &event);
}
static long pollers[3], may_leave;
static long waits_at(long poller) {
  struct event event;
  if (call(N_epoll_pwait, poller, &event, 1, -1, 0, 8) != 1) fail(91);
  __atomic_fetch_add(&many, 1, __ATOMIC_ACQ_REL);
  while (!__atomic_load_n(&may_leave, __ATOMIC_ACQUIRE)) pause_for(50000);
  return 0;
}
static void release_all(int threads_) {
  const u64 one = 1;
  for (int i = 0; i < 8 && many < (u32)threads_; ++i)
    call(N_write, ends[0], &one, 8), pause_for(200000);
  may_leave = 1;
  for (int i = 0; i < threads_; ++i) join(&threads[i]);
}
// An event wakes one of the pollers with EPOLLEXCLUSIVE, and all pollers without it.
static int exclusive_pollers(void) {
  const u64 one = 1;
  ends[0] = (int)call(N_eventfd2, 0, NONBLOCK);
  for (int i = 0; i < 3; ++i) {
    pollers[i] = call(N_epoll_create1, 0);
    if (control(pollers[i], ADD, ends[0], IN | EXCLUSIVE)) return 1;
    start(&threads[i], waits_at, pollers[i]);
    pause_for(200000);
  }
  call(N_write, ends[0], &one, 8);
  pause_for(400000);
  if (many != 1) return 2;
  call(N_write, ends[0], &one, 8);
  pause_for(400000);
  if (many != 2) return 3;
  const long other = call(N_epoll_create1, 0);
  if (control(other, ADD, ends[0], IN)) return 4;
  struct event event;
  if (call(N_epoll_pwait, other, &event, 1, 0, 0, 8) != 1) return 5;
  release_all(3);
  return 0;
}
// Each event wakes one of the threads that wait at the same poller.
static int one_of_a_pool(void) {
  const u64 one = 1;
  ends[0] = (int)call(N_eventfd2, 0, NONBLOCK);
  pollers[0] = call(N_epoll_create1, 0);
  control(pollers[0], ADD, ends[0], IN | (1u << 31));
  for (int i = 0; i < 3; ++i) start(&threads[i], waits_at, pollers[0]), pause_for(200000);
  for (u32 i = 1; i <= 3; ++i) {
    call(N_write, ends[0], &one, 8);
    if (!stays_at(&many, i)) return (int)i;
  }
  release_all(3);
  return 0;
}
// Returns the ns that a write takes. It wakes one thread, however many wait.
static u64 write_ns(void) {
  const u64 one = 1, begun = now();
  call(N_write, ends[0], &one, 8);
  return now() - begun;
}
static int write_time_is_independent_of_waiters(void) {
  ends[0] = (int)call(N_eventfd2, 0, NONBLOCK);
  pollers[0] = call(N_epoll_create1, 0);
  control(pollers[0], ADD, ends[0], IN | (1u << 31));
  start(&threads[0], waits_at, pollers[0]), pause_for(200000);
  write_ns();  // warm-up: fetches code and lines
  if (!stays_at(&many, 1)) return 1;
  start(&threads[1], waits_at, pollers[0]), pause_for(200000);
  const u64 one_waiter_ns = write_ns();
  if (!stays_at(&many, 2)) return 2;
  for (int i = 2; i < 4; ++i) start(&threads[i], waits_at, pollers[0]), pause_for(200000);
  const u64 two_waiters_ns = write_ns();
  if (!stays_at(&many, 3)) return 3;
  release_all(4);
  return two_waiters_ns <= one_waiter_ns ? 0 : 4;
}
static int exclusive_cannot_be_changed(void) {
  ends[0] = (int)call(N_eventfd2, 0, NONBLOCK);
  const long poller = call(N_epoll_create1, 0), inner = call(N_epoll_create1, 0);
  if (control(poller, ADD, ends[0], IN | EXCLUSIVE | ONCE) != -EINVAL) return 1;
  if (control(poller, ADD, inner, IN | EXCLUSIVE) != -EINVAL) return 2;
  if (control(poller, ADD, ends[0], IN | EXCLUSIVE)) return 3;
  if (control(poller, MOD, ends[0], IN) != -EINVAL) return 4;
  return control(poller, MOD, ends[0], IN | EXCLUSIVE) == -EINVAL ? 0 : 5;
}

// ---- messages of several parts

struct part {
  const void* at;
  u64 size;
};
struct message {
  void* name;
  u32 name_size, pad;
  struct part* parts;
  u64 many;
  void* control;
  u64 control_size;
  u32 flags, pad2;
};
static struct part parts[4];
static struct message message;
static struct message* message_of(u64 count) {
  message = (struct message){0, 0, 0, parts, count, 0, 0, 0, 0};
  return &message;
}
static char first[3], second[4], third[64];
static void clear_buffers(void) {
  for (int i = 0; i < 64; ++i) third[i] = 0, first[i % 3] = 0, second[i % 4] = 0;
  parts[0] = (struct part){first, 2}, parts[1] = (struct part){0, 0};
  parts[2] = (struct part){second, 3}, parts[3] = (struct part){third, 60};
}
static void fill_parts(void) {
  parts[0] = (struct part){"one", 3}, parts[1] = (struct part){0, 0};
  parts[2] = (struct part){"-two", 4}, parts[3] = (struct part){"-three", 6};
}
static int received_parts(void) {
  return same(first, "on") && same(second, "e-t") && same(third, "wo-three");
}
static int sent_in_parts(long type) {
  call(N_socketpair, UNIX, type, 0, ends);
  fill_parts();
  if (call(N_sendmsg, ends[0], message_of(4), 0) != 13) return 1;
  clear_buffers();
  if (call(N_recvmsg, ends[1], message_of(4), 0) != 13 || !received_parts() || message.flags)
    return 2;
  fill_parts();
  if (call(N_writev, ends[0], parts, 4) != 13) return 3;
  clear_buffers();
  if (call(N_readv, ends[1], parts, 4) != 13 || !received_parts()) return 4;
  fill_parts();
  return call(N_sendmsg, ends[0], message_of(1025), 0) == -EMSGSIZE ? 0 : 5;
}
static int invalid_parts_are_refused(void) {
  call(N_socketpair, UNIX, STREAM, 0, ends);
  fill_parts();
  parts[2].at = (void*)-16;
  if (call(N_sendmsg, ends[0], message_of(4), 0) != -EFAULT) return 1;
  parts[2] = (struct part){text, 1UL << 63};
  if (call(N_writev, ends[0], parts, 4) != -EINVAL) return 2;
  call(N_pipe2, ends, 0);  // if one part is invalid, nothing is written
  if (call(N_writev, ends[1], parts, 4) != -EINVAL) return 3;
  return call(N_write, ends[1], "x", 1) == 1 && call(N_read, ends[0], text, 9) == 1 ? 0 : 4;
}
static int streams(void) { return sent_in_parts(STREAM); }
static int sequences(void) { return sent_in_parts(SEQUENCE); }
static int datagrams(void) { return sent_in_parts(DATAGRAM); }

// A receiver with too little room loses the rest of a datagram; message.flags has MSG_TRUNC.
static int datagram_is_truncated(void) {
  call(N_socketpair, UNIX, DATAGRAM, 0, ends);
  fill_parts();
  call(N_sendmsg, ends[0], message_of(4), 0), call(N_sendmsg, ends[0], message_of(4), 0);
  clear_buffers();
  parts[3].size = 2;
  if (call(N_recvmsg, ends[1], message_of(4), 0) != 7 || message.flags != TRUNCATED) return 1;
  if (!same(third, "wo")) return 2;
  return call(N_recvfrom, ends[1], text, 5, TRUNCATED, 0, 0) == 13 ? 0 : 3;
}

static long sends_slowly(long file) {
  pause_for(200000);
  call(N_write, file, "wo", 2);
  pause_for(200000);
  return call(N_write, file, "-three-four", 11);
}
static int receive_waits_for_all(void) {
  call(N_socketpair, UNIX, STREAM, 0, ends);
  call(N_write, ends[0], "one-t", 5);
  start(&threads[0], sends_slowly, ends[0]);
  clear_buffers();
  parts[3].size = 8;
  if (call(N_recvmsg, ends[1], message_of(4), ALL) != 13 || !received_parts()) return 1;
  join(&threads[0]);
  return call(N_read, ends[1], text, 99) == 5 ? 0 : 2;
}

// A datagram of more than 64 KiB arrives completely.
static int large(void) {
  static char out[100000], in[100001];
  call(N_socketpair, UNIX, DATAGRAM, 0, ends);
  out[99999] = 7;
  if (call(N_write, ends[0], out, sizeof out) != sizeof out) return 1;
  return call(N_read, ends[1], in, sizeof in) == sizeof out && in[99999] == 7 ? 0 : 2;
}

int run(int count, char** words_) {
  static const struct {
    const char* word;
    int (*run)(void);
  } each[] = {
      {"file_locks", file_locks},
      {"exclusive_pollers", exclusive_pollers},
      {"one_of_a_pool", one_of_a_pool},
      {"write_time_is_independent_of_waiters", write_time_is_independent_of_waiters},
      {"exclusive_cannot_be_changed", exclusive_cannot_be_changed},
      {"streams", streams},
      {"sequences", sequences},
      {"datagrams", datagrams},
      {"invalid_parts_are_refused", invalid_parts_are_refused},
      {"datagram_is_truncated", datagram_is_truncated},
      {"receive_waits_for_all", receive_waits_for_all},
      {"large", large},
  };
  for (u64 i = 0; count > 1 && i < sizeof each / sizeof *each; ++i)
    if (same(words_[1], each[i].word)) return each[i].run();
  return 100;
}

// Checks calls that wait on descriptors. Exit status 0, or the number of the failed check.
#include "raw.h"

enum {
  EAGAIN = 11, EEXIST = 17, EINVAL = 22, ENOENT = 2, EPERM = 1, EPIPE = 32, EBADF = 9, ELOOP = 40,
  EINTR = 4, O_NONBLOCK = 04000, IN = 1, OUT = 4, ERR = 8, HUP = 16, ADD = 1, DEL = 2, MOD = 3,
};
#define EDGE (1u << 31)
#define ONCE (1u << 30)

static struct thread threads[8];
static int ends[2];
static u64 buffer[20000];

static long pipe_of(int flags) { return call(N_pipe2, ends, flags); }
static long write_word(long file, u64 value) { return call(N_write, file, &value, 8); }
static long read_word(long file) {
  u64 value = 0;
  const long size = call(N_read, file, &value, 8);
  return size == 8 ? (long)value : size;
}

// ---- pipes

static int pipes(void) {
  char text[8] = {0};
  if (pipe_of(O_NONBLOCK) != 0) return 1;
  if (call(N_read, ends[0], text, 8) != -EAGAIN) return 2;
  if (call(N_write, ends[1], "abc", 3) != 3 || call(N_write, ends[1], "defg", 4) != 4) return 3;
  if (call(N_read, ends[0], text, 5) != 5 || !same(text, "abcde")) return 4;
  if (call(N_read, ends[0], text, 8) != 2 || text[1] != 'g') return 5;
  if (call(N_write, ends[0], "a", 1) != -EBADF || call(N_read, ends[1], text, 1) != -EBADF)
    return 6;
  long all = 0;
  for (long n; (n = call(N_write, ends[1], buffer, 4096)) > 0;) all += n;
  if (all != 65536) return 7;
  if (call(N_read, ends[0], buffer, 10000) != 10000) return 8;
  if (call(N_close, ends[1]) != 0) return 9;
  for (long n; (n = call(N_read, ends[0], buffer, 10000)) > 0;) all -= n;
  return all == 10000 && call(N_read, ends[0], text, 1) == 0 ? 0 : 10;
}

static long write_buffer(long words) { return call(N_write, ends[1], buffer, 8 * words); }
static int long_writes(void) {
  for (u64 i = 0; i < 20000; ++i) buffer[i] = i;
  pipe_of(0);
  start(&threads[0], write_buffer, 20000);
  for (u64 i = 0; i < 20000;) {
    static u64 got[512];
    const long size = call(N_read, ends[0], got, sizeof got);
    if (size <= 0 || size % 8) return 1;
    for (long w = 0; w < size / 8; ++w, ++i)
      if (got[w] != i) return 2;
  }
  join(&threads[0]);
  return 0;
}

static volatile int handled;
static void handler(int number) { handled = number; }
static int broken_pipes(void) {
  const u64 action[4] = {(u64)handler, 0, 0, 0};
  struct {
    int file;
    short asked, found;
  } file;
  call(N_rt_sigaction, 13, action, 0, 8);
  pipe_of(0);
  file.file = ends[1], file.asked = OUT;
  if (call(N_ppoll, &file, 1, 0, 0) != 1 || file.found != OUT) return 1;
  call(N_close, ends[0]);
  if (call(N_write, ends[1], "a", 1) != -EPIPE || handled != 13) return 2;
  if (call(N_ppoll, &file, 1, 0, 0) != 1 || file.found != (OUT | ERR)) return 3;
  pipe_of(0);
  call(N_close, ends[1]);
  file.file = ends[0], file.asked = IN;
  return call(N_ppoll, &file, 1, 0, 0) == 1 && file.found == HUP ? 0 : 4;
}

static long close_later(long file) {
  pause_for(200000);
  return call(N_close, file);
}
// Closing one end of a pipe wakes the thread that waits at the other end.
static int closed_pipes(void) {
  char text[4];
  pipe_of(0);
  start(&threads[0], close_later, ends[1]);
  if (call(N_read, ends[0], text, 4) != 0) return 1;
  join(&threads[0]);
  return 0;
}

// ---- epoll

struct event {
  u32 events, pad;
  u64 data;
};
static long poller;
static long control(long how, long file, u32 events, u64 data) {
  const struct event event = {events, 0, data};
  return call(N_epoll_ctl, poller, how, file, &event);
}
static struct event found[8];
static long wait_for_events(long timeout) {
  return call(N_epoll_pwait, poller, found, 8, timeout, 0, 8);
}

static int epolls(void) {
  pipe_of(O_NONBLOCK);
  poller = call(N_epoll_create1, 0);
  if (control(ADD, ends[0], IN, 7) || control(ADD, ends[0], IN, 7) != -EEXIST) return 1;
  if (control(MOD, ends[1], IN, 7) != -ENOENT || control(ADD, 99, IN, 7) != -EBADF) return 2;
  if (control(ADD, poller, IN, 7) != -EINVAL) return 3;
  if (wait_for_events(0) != 0) return 4;
  const u64 begin = now();
  if (wait_for_events(2) != 0 || now() - begin < 2000000) return 5;
  write_word(ends[1], 1);
  for (int i = 0; i < 2; ++i)  // level-triggered: the file is reported as long as it is ready
    if (wait_for_events(-1) != 1 || found[0].events != IN || found[0].data != 7) return 6;
  read_word(ends[0]);
  if (wait_for_events(0) != 0) return 7;
  if (control(MOD, ends[0], IN | OUT, 8) || control(ADD, ends[1], OUT, 9)) return 8;
  if (wait_for_events(-1) != 1 || found[0].data != 9 || found[0].events != OUT) return 9;
  if (control(DEL, ends[1], 0, 0) || control(DEL, ends[1], 0, 0) != -ENOENT) return 10;
  if (wait_for_events(0) != 0) return 15;  // the file is still ready
  call(N_close, ends[1]);
  if (wait_for_events(-1) != 1 || found[0].data != 8 || found[0].events != HUP) return 11;
  call(N_close, ends[0]);
  if (wait_for_events(0) != 0) return 12;
  if (call(N_epoll_pwait, poller, found, 0, 0, 0, 8) != -EINVAL) return 13;
  return call(N_epoll_pwait, ends[0], found, 1, 0, 0, 8) == -EBADF ? 0 : 14;
}

// An edge is reported once; each write is an edge, even while bytes are still unread.
static int edges(void) {
  pipe_of(O_NONBLOCK);
  poller = call(N_epoll_create1, 0);
  control(ADD, ends[0], IN | EDGE, 7);
  write_word(ends[1], 1);
  if (wait_for_events(0) != 1 || wait_for_events(0) != 0) return 1;
  write_word(ends[1], 2);
  if (wait_for_events(0) != 1 || wait_for_events(0) != 0) return 2;
  read_word(ends[0]);
  if (wait_for_events(0) != 0) return 3;
  if (control(MOD, ends[0], IN | EDGE, 8) || wait_for_events(0) != 1 || found[0].data != 8)
    return 4;
  read_word(ends[0]);
  write_word(ends[1], 3);
  read_word(ends[0]);
  return wait_for_events(0) == 0 ? 0 : 5;
}

static int once(void) {
  pipe_of(O_NONBLOCK);
  poller = call(N_epoll_create1, 0);
  control(ADD, ends[0], IN | ONCE, 7);
  write_word(ends[1], 1);
  if (wait_for_events(0) != 1 || wait_for_events(0) != 0) return 1;
  write_word(ends[1], 1);
  if (wait_for_events(0) != 0) return 2;
  call(N_close, ends[1]);
  if (wait_for_events(0) != 0) return 3;
  control(MOD, ends[0], IN | ONCE, 9);
  return wait_for_events(0) == 1 && found[0].data == 9 && found[0].events == (IN | HUP) ? 0 : 4;
}

// An epoll file may watch another one, but not in a circle.
static int nested(void) {
  pipe_of(O_NONBLOCK);
  const long inner = poller = call(N_epoll_create1, 0);
  control(ADD, ends[0], IN, 7);
  const long outer = poller = call(N_epoll_create1, 0);
  if (control(ADD, inner, IN, 5) || wait_for_events(0) != 0) return 1;
  write_word(ends[1], 1);
  if (wait_for_events(-1) != 1 || found[0].data != 5) return 2;
  poller = inner;
  return control(ADD, outer, IN, 6) == -ELOOP ? 0 : 3;
}

// Epoll files nest at most five deep.
static int nested_deeply(void) {
  long inner = call(N_epoll_create1, 0);
  for (int depth = 1; depth < 5; ++depth) {
    poller = call(N_epoll_create1, 0);
    if (control(ADD, inner, IN, 5)) return depth;
    inner = poller;
  }
  poller = call(N_epoll_create1, 0);
  return control(ADD, inner, IN, 5) == -ELOOP ? 0 : 5;
}

// If a call has room for one event, two files that stay ready are reported in turn.
static int in_turn(void) {
  poller = call(N_epoll_create1, 0);
  for (u64 data = 1; data <= 2; ++data) control(ADD, call(N_eventfd2, 1, 0), IN, data);
  u64 last = 0;
  for (int i = 0; i < 4; ++i) {
    if (call(N_epoll_pwait, poller, found, 1, 0, 0, 8) != 1 || found[0].data == last) return 1;
    last = found[0].data;
  }
  return 0;
}

static volatile u32 served;
static long serve_counters(long unused) {
  (void)unused;
  for (;;) {
    struct event event;
    if (call(N_epoll_pwait, poller, &event, 1, -1, 0, 8) != 1) return 1;
    const long value = read_word((long)event.data);
    if (value == 0) return 0;
    if (value > 0) __atomic_fetch_add(&served, (u32)value, __ATOMIC_RELAXED);
  }
}
// Threads wait at one epoll file for several counters. Each count wakes one, and is read once.
static int pool(void) {
  long counters[4];
  poller = call(N_epoll_create1, 0);
  for (int i = 0; i < 4; ++i) {
    counters[i] = call(N_eventfd2, 0, O_NONBLOCK);
    control(ADD, counters[i], IN, (u64)counters[i]);
  }
  for (int i = 0; i < 3; ++i) start(&threads[i], serve_counters, 0);
  for (u32 i = 0; i < 40; ++i) {
    if (!stays_at(&served, i)) return 2;
    write_word(counters[i % 4], 1);
  }
  if (!stays_at(&served, 40)) return 3;
  pipe_of(0);
  control(ADD, ends[0], IN, (u64)ends[0]);
  for (int i = 0; i < 3; ++i) write_word(ends[1], 0);
  for (int i = 0; i < 3; ++i) join(&threads[i]);
  return served == 40 ? 0 : 1;
}

// A signal that the call does not mask ends the wait.
static long kill_later(long number) {
  pause_for(200000);
  return call(N_kill, call(N_getpid), number);
}
static int masked(void) {
  const u64 action[4] = {(u64)handler, 0, 0, 0}, set = 1UL << 9, none = 0;
  call(N_rt_sigaction, 10, action, 0, 8);
  call(N_rt_sigprocmask, 0, &set, 0, 8);
  poller = call(N_epoll_create1, 0);
  start(&threads[0], kill_later, 10);
  if (call(N_epoll_pwait, poller, found, 8, -1, &none, 8) != -EINTR || handled != 10) return 1;
  join(&threads[0]);
  return 0;
}

// ---- timerfd, signalfd, select

static int timers(void) {
  u64 spec[4] = {0, 300000, 0, 500000}, left[4];
  const long timer = call(N_timerfd_create, 1, 0);
  struct {
    int file;
    short asked, found;
  } file = {(int)timer, IN, 0};
  const u64 begin = now();
  if (call(N_timerfd_settime, timer, 0, spec, left) || left[1] || left[3]) return 1;
  if (call(N_timerfd_gettime, timer, left) || left[1] != 300000 || !left[3] || left[3] > 500000)
    return 2;
  if (read_word(timer) < 1 || now() - begin < 500000) return 3;
  if (call(N_ppoll, &file, 1, 0, 0) != 1 || file.found != IN) return 4;
  if (now() - begin < 800000) return 5;
  pause_for(900000);
  if (read_word(timer) < 3) return 6;
  spec[1] = spec[3] = 0;
  if (call(N_timerfd_settime, timer, 0, spec, 0)) return 7;
  call(N_fcntl, timer, 4, O_NONBLOCK);
  if (read_word(timer) != -EAGAIN) return 8;
  u64 time[2];
  call(N_clock_gettime, 1, time);
  spec[2] = time[0], spec[3] = time[1] > 1000 ? time[1] - 1000 : time[1];  // in the past
  if (call(N_timerfd_settime, timer, 1, spec, 0)) return 9;
  call(N_ppoll, &file, 1, 0, 0);
  if (read_word(timer) != 1) return 10;
  u64 once[4] = {1ull << 40, 0, 0, 1000};  // the next time is beyond all simulated time
  if (call(N_timerfd_settime, timer, 0, once, 0)) return 12;
  call(N_ppoll, &file, 1, 0, 0);
  if (read_word(timer) != 1 || read_word(timer) != -EAGAIN) return 13;
  return call(N_timerfd_create, 99, 0) == -EINVAL ? 0 : 11;
}

static int signal_files(void) {
  u64 set = 1UL << 9;
  u32 record[64];
  call(N_rt_sigprocmask, 0, &set, 0, 8);
  const long file = call(N_signalfd4, -1, &set, 8, O_NONBLOCK);
  if (call(N_read, file, record, 128) != -EAGAIN) return 1;
  poller = call(N_epoll_create1, 0);
  control(ADD, file, IN, 3);
  start(&threads[0], kill_later, 10);
  if (wait_for_events(-1) != 1 || found[0].data != 3) return 2;
  if (call(N_read, file, record, 256) != 128 || record[0] != 10) return 3;
  if (record[3] != call(N_getpid)) return 4;
  join(&threads[0]);
  if (call(N_read, file, record, 100) != -EINVAL) return 5;
  set = 1UL << 11;
  if (call(N_signalfd4, file, &set, 8, 0) != file) return 6;
  call(N_tgkill, call(N_getpid), call(N_gettid), 10);
  return call(N_read, file, record, 128) == -EAGAIN ? 0 : 7;
}

static int selects(void) {
  u64 in, out, nothing[2] = {0, 300000};
  pipe_of(0);
  in = 1UL << ends[0], out = 1UL << ends[1];
  if (call(N_pselect6, 20, &in, &out, 0, 0, 0) != 1 || in || out != 1UL << ends[1]) return 1;
  in = 1UL << ends[0];
  const u64 begin = now();
  if (call(N_pselect6, 20, &in, 0, 0, nothing, 0) != 0 || in || now() - begin < 300000) return 2;
  in = 1UL << ends[0];
  start(&threads[0], close_later, ends[1]);
  if (call(N_pselect6, 20, &in, 0, 0, 0, 0) != 1 || in != 1UL << ends[0]) return 3;
  join(&threads[0]);
  in = 1UL << 19;
  return call(N_pselect6, 20, &in, 0, 0, 0, 0) == -EBADF ? 0 : 4;
}

int run(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  if (same(what, "pipes")) return pipes();
  if (same(what, "long_writes")) return long_writes();
  if (same(what, "broken_pipes")) return broken_pipes();
  if (same(what, "closed_pipes")) return closed_pipes();
  if (same(what, "epolls")) return epolls();
  if (same(what, "edges")) return edges();
  if (same(what, "once")) return once();
  if (same(what, "nested")) return nested();
  if (same(what, "nested_deeply")) return nested_deeply();
  if (same(what, "in_turn")) return in_turn();
  if (same(what, "pool")) return pool();
  if (same(what, "masked")) return masked();
  if (same(what, "timers")) return timers();
  if (same(what, "signal_files")) return signal_files();
  if (same(what, "selects")) return selects();
  return 100;
}

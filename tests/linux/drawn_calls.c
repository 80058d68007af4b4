// System calls drawn by a seed, on few descriptors and names, with arguments that are partly wrong:
// `drawn_calls SEED [told]`. Prints each call's answer and a digest of what it wrote, without
// what legitimately differs: addresses, times, numbers of threads and inodes. With `told` the
// arguments, too. Nothing waits: all descriptors are O_NONBLOCK, and all signals are blocked.
#include "raw.h"

enum { CALLS = 80, PAGE = 4096, SLOTS = 12, MOST = 40, CLOEXEC = 0x80000, NONBLOCK = 0x800 };
enum { AT_FDCWD = -100, OUT = 256, EDGE = 8, ARENA = 12 };
enum kind { CLOSED, FILE_, FOLDER, PIPE, EVENT, TIMER, SIGNALS, EPOLL, SOCKET, OTHER, KINDS };

static u64 state;
static u64 draw(u64 below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (state >> 11) % below;
}
static int once_in(u64 times) { return draw(times) == 0; }
#define ANY(values) ((values)[draw(sizeof(values) / sizeof *(values))])

static char* pages;  // two for what calls write, a hole, then ARENA pages that are mapped and not
static char* arena;
static char *out, *edge;
static char data[70000];
static char long_name[300], long_path[5000];
static u32 words[8];
static const u64 at_once[2];
static u64 parts[8][2];
static unsigned char kinds[64];
static int tells;

// ---- what is printed

static char line[400];
static u64 filled;
static void put(const char* s) {
  while (*s) line[filled++] = *s++;
}
static void put_number(long v, u64 base) {
  char text[24], *at = text + 23;
  u64 rest = v < 0 && base == 10 ? -(u64)v : (u64)v;
  *at = 0;
  do *--at = "0123456789abcdef"[rest % base];
  while (rest /= base);
  if (v < 0 && base == 10) *--at = '-';
  put(at);
}

static const char* const names[] = {
    "a",    "b",      "c",    "d",    "d/x", "d/y",  "d/e",  "d/e/z", "l",     "m",
    "m/x",  "s",      "none", "loop", "zz",  "a/",   "d/",   "a/b",   ".",     "d/.",
    "d/..", "none/x", "",     "l/",   "m/",  "d/e/", "new/", "loop/", "a/../b"};
static int is_name(u64 address) {
  for (u64 i = 0; i < sizeof names / sizeof *names; ++i)
    if ((u64)names[i] == address) return 1;
  return 0;
}

static const char* called;
static long given[6];
static void clear(void) {
  for (u64 i = 0; i < OUT / 8; ++i) ((volatile u64*)out)[i] = 0;
  *(volatile u64*)edge = 0;
}
static long made(const char* name, long number, long a, long b, long c, long d, long e, long f) {
  called = name;
  given[0] = a, given[1] = b, given[2] = c, given[3] = d, given[4] = e, given[5] = f;
  if (tells) call(N_write, 2, name, length(name)), call(N_write, 2, "\n", 1);
  return call6(number, a, b, c, d, e, f);
}
#define MADE_(name, a, b, c, d, e, f, ...) \
  made(#name, N_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define made(...) MADE_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

static void tell(long answer) {
  put(called);
  if (tells) {
    put("(");
    for (int i = 0; i < 6; ++i) {
      if (i) put(", ");
      const u64 v = (u64)given[i];
      if (v - (u64)out < 3 * PAGE)
        put("out+"), put_number((long)(v - (u64)out), 10);
      else if (v - (u64)arena < ARENA * PAGE)
        put("arena+"), put_number((long)(v - (u64)arena), 10);
      else if (v - (u64)data < sizeof data)
        put("data");
      else if (is_name(v))
        put("\""), put((char*)v), put("\"");
      else if (v == (u64)long_name)
        put("long_name");
      else if (v == (u64)long_path)
        put("long_path");
      else if (v < 4096 || -v < 4096)
        put_number((long)v, 10);
      else
        put("0x"), put_number((long)v, 16);
    }
    put(")");
  }
  put(" "), put_number(answer, 10);
  u64 digest = 14695981039346656037UL, any = 0;
  for (u64 i = 0; i < OUT / 8; ++i) {
    const u64 v = ((const u64*)out)[i];
    any |= v, digest = (digest ^ v) * 1099511628211UL, digest ^= digest >> 29;
  }
  any |= *(u64*)edge, digest = (digest ^ *(u64*)edge) * 1099511628211UL;
  if (any) put(" "), put_number((long)(digest >> 32), 16);
  put("\n");
  call(N_write, 1, line, filled);
  filled = 0;
}

// ---- what is drawn

static const char* path(void) {
  switch (draw(40)) {
    case 0:
      return (const char*)1;
    case 1:
      return (const char*)-4096L;
    case 2:
      return long_name;
    case 3:
      return long_path;
    case 4:
      return pages + 2 * PAGE;
    default:
      return draw(4) ? names[draw(13)] : ANY(names);
  }
}
static long descriptor(void) {
  static const long wrong[] = {-1, 999, 63, 20, AT_FDCWD};
  if (once_in(12)) return ANY(wrong);
  const u64 from = draw(SLOTS);
  for (u64 i = 0; i < SLOTS && draw(10); ++i)
    if (kinds[3 + (from + i) % SLOTS] != CLOSED) return 3 + (long)((from + i) % SLOTS);
  return 3 + (long)from;
}
static long of(enum kind kind) {
  if (once_in(8)) return descriptor();
  const u64 from = draw(SLOTS + 2);
  for (u64 i = 0; i < SLOTS + 2; ++i)
    if (kinds[3 + (from + i) % (SLOTS + 2)] == kind) return 3 + (long)((from + i) % (SLOTS + 2));
  return descriptor();
}
static long a_file(void) {
  const long fd = of(FILE_);
  return (u64)fd < 64 && (kinds[fd] == FILE_ || kinds[fd] == CLOSED) ? fd : -1;
}
static long folder(void) { return draw(8) ? AT_FDCWD : of(FOLDER); }
static long opened(long answer, enum kind kind) {
  if (answer >= 0 && answer < 64) kinds[answer] = (unsigned char)kind;
  return answer;
}
static void* place(void) {  // where a call writes
  switch (draw(24)) {
    case 0:
      return edge;
    case 1:
      return pages + 2 * PAGE;
    case 2:
      return (void*)1;
    case 3:
      return (void*)-4096L;
    case 4:
      return 0;
    case 5:
      return edge + 4;
    default:
      return out;
  }
}
static const void* source(const void* usual) {  // where a call reads
  switch (draw(24)) {
    case 0:
      return (void*)1;
    case 1:
      return (void*)-4096L;
    case 2:
      return pages + 2 * PAGE;
    case 3:
      return 0;
    default:
      return usual;
  }
}
// Where tmpfs of Linux 6.18 finds nothing to write, it makes a file longer all the same.
static const void* source_for(long fd) {
  return (u64)fd < 64 && kinds[fd] == FILE_ ? data : source(data);
}
static u64 size(void) {
  static const u64 few[] = {0, 1, 3, 4, 7, 8, 9, 16, 100, 128, 200};
  static const u64 odd[] = {-1UL, 1UL << 62, -8UL, 1UL << 63};
  return once_in(15) ? ANY(odd) : ANY(few);
}
static long offset(void) {
  static const long few[] = {0, 1, 5, 8, 10, 100, 4095, 4096, 5000, 9000};
  static const long odd[] = {-1, -4, (long)(1UL << 63)};
  return once_in(7) ? ANY(odd) : ANY(few);
}
static u64 flags_of(const u64* flags, u64 many, u64 wrong) {
  u64 all = 0;
  while (draw(2)) all |= flags[draw(many)];
  if (once_in(20)) all |= wrong;
  return all;
}
#define FLAGS(wrong, ...)                         \
  ({                                              \
    static const u64 flags_[] = {__VA_ARGS__};    \
    flags_of(flags_, sizeof flags_ / 8, (wrong)); \
  })
#define ONE(...)                               \
  ({                                           \
    static const long ones_[] = {__VA_ARGS__}; \
    ANY(ones_);                                \
  })
enum use { SENDS, READS, WRITES };
static u64 draw_parts(enum use use) {
  const int read = use == READS;
  const u64 many = draw(4);
  for (u64 i = 0; i < many; ++i) {
    const u64 of_part = ONE(0, 1, 8, 20, 40);
    parts[i][0] = read ? (u64)place() : (u64)(use == WRITES ? data + 8 * i : source(data + 8 * i));
    parts[i][1] = once_in(25) ? -1UL : of_part;
    if (read && parts[i][0] == (u64)out) parts[i][0] += 48 * i;
  }
  return once_in(25) ? ONE(-1, 1025, 1024 * 1024) : many;
}
static const u64* times(void) {  // a timespec: for now, or wrong
  static const u64 each[][2] = {{0, 0}, {0, 1}, {0, 1000000000}, {-1UL, 0}, {0, -1UL}};
  const u64* const wrong = source(each);
  return once_in(10) && wrong ? wrong : each[draw(3) ? draw(2) : draw(5)];
}

// ---- files

static void names_of_files(void) {
  switch (draw(13)) {
    case 0:
      tell(made(mkdirat, folder(), path(), ONE(0700, 0755, 0)));
      break;
    case 1:
    case 2:
      tell(made(unlinkat, folder(), path(), ONE(0, 0, 0x200, 0x200, 1, 0x201)));
      break;
    case 3:
      tell(made(symlinkat, path(), folder(), path()));
      break;
    case 4:
      tell(made(linkat, folder(), path(), folder(), path(), ONE(0, 0, 0, 0x400, 1, 0x100)));
      break;
    case 5:
    case 6:
    case 7:
      tell(made(renameat2, folder(), path(), folder(), path(), ONE(0, 0, 0, 0, 0, 1, 2, 3, 8)));
      break;
    case 8:
      tell(made(readlinkat, folder(), path(), place(), ONE(0, 1, 3, 100, -1)));
      break;
    case 9:
      tell(made(faccessat, folder(), path(), ONE(0, 2, 4, 6, 8, -1)));
      break;
    case 10:
      tell(made(faccessat2, folder(), path(), ONE(0, 2, 4, 8, -1),
                ONE(0, 0, 0x100, 0x200, 0x1000, 1)));
      break;
    case 11:
      tell(made(fchmodat, folder(), path(), ONE(0600, 0755, 0777)));
      break;
    case 12:
      tell(made(truncate, path(), offset()));
      break;
  }
}
static void normalise_stat(long answer, const char* at) {
  u64 told[3] = {0};
  if (answer == 0 && at == out) {
#ifdef __riscv
    told[0] = *(const u32*)(out + 16), told[1] = *(const u32*)(out + 20);
#else
    told[0] = *(const u32*)(out + 24), told[1] = *(const u64*)(out + 16);
#endif
    told[2] = *(const u64*)(out + 48);
    if ((told[0] & 0170000) == 0040000) told[1] = told[2] = 0;  // a folder's links and size
    if ((told[0] & 0170000) == 0140000 || (told[0] & 0170000) == 0010000)
      told[0] &= 0170000;  // the rights of sockets and pipes
  }
  clear();
  for (int i = 0; i < 3; ++i) ((u64*)out)[i] = told[i];
  if (answer == 0)
    tell(0);
  else
    tell(answer);
}
static void open_files(void) {
  long answer, from;
  char* at;
  switch (draw(11)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const long from = folder();
      const char* const name = path();
      const u64 flags = NONBLOCK | (u64)ONE(0, 1, 2, 2, 3) |
                        FLAGS(1 << 30, 0x40, 0x40, 0x80, 0x200, 0x400, 0x10000, 0x20000, 0x80000,
                              0x200000, 0x410000, 0x400000);
      answer = made(openat, from, name, flags, 0644);
      tell(answer);
      opened(answer, flags & 0x10000 || name == names[3] ? FOLDER : FILE_);
      break;
    }
    case 4:
      answer = made(memfd_create, source("name"), FLAGS(32, 1, 2));
      if (answer >= 0) call(N_fcntl, answer, 4, NONBLOCK);
      tell(opened(answer, FILE_));
      break;
    case 5:
      at = place();
      answer = made(newfstatat, folder(), path(), at, FLAGS(1, 0x100, 0x1000, 0x800));
      normalise_stat(answer, at);
      break;
    case 6:
      at = place();
      answer = made(fstat, descriptor(), at);
      normalise_stat(answer, at);
      break;
    case 7:
      if (once_in(3))
        tell(made(fchdir, of(FOLDER)));
      else
        tell(made(chdir, draw(2) ? path() : (const char*)"d"));
      if (draw(2)) call(N_fchdir, MOST);
      break;
    case 8:
      answer = made(getcwd, place(), ONE(0, 1, 3, 200, 256));
      clear();
      tell(answer > 0 ? 0 : answer);
      break;
    case 9:
      from = of(FOLDER);
      call(N_lseek, from, 0, 0);
      answer = made(getdents64, from, place(), ONE(0, 8, 23, 24, 250, 250, 250));
      clear();
      tell(answer > 0 ? 0 : answer);
      break;
    case 10:
      answer = made(utimensat, folder(), draw(3) ? path() : 0, once_in(3) ? source(words) : 0,
                    ONE(0, 0, 0x100, 0x1000, 1));
      tell(answer);
      break;
  }
}
static long any_of_files(void) { return draw(3) ? of(FILE_) : descriptor(); }
static void contents(void) {
  long from;
  switch (draw(14)) {
    case 0:
    case 1:
      tell(made(read, any_of_files(), place(), size()));
      break;
    case 2:
    case 3:
      from = any_of_files();
      tell(made(write, from, source_for(from), size()));
      break;
    case 4:
      tell(made(pread64, any_of_files(), place(), size(), offset()));
      break;
    case 5:
      from = any_of_files();
      tell(made(pwrite64, from, source_for(from), size(), offset()));
      break;
    case 6:
      from = any_of_files();  // those that are read whole or not at all have no parts here
      if ((u64)from < 64 && kinds[from] >= EVENT && kinds[from] <= SIGNALS) from = 999;
      tell(made(readv, from, source(parts), draw_parts(READS)));
      break;
    case 7:
      tell(made(writev, any_of_files(), source(parts), draw_parts(WRITES)));
      break;
    case 8:
      if (draw(2))
        tell(made(preadv, any_of_files(), source(parts), draw_parts(READS), offset(), 0));
      else
        tell(made(pwritev, any_of_files(), source(parts), draw_parts(WRITES), offset(), 0));
      break;
    case 9:
    case 10:
      from = any_of_files();
      if ((u64)from < 64 && kinds[from] == FOLDER)
        from = 999;  // places in folders are the file system's
      tell(made(lseek, from, offset(), ONE(0, 0, 1, 2, 3, 4, 5, -1)));
      break;
    case 11:
      tell(made(ftruncate, any_of_files(), offset()));
      break;
    case 12:
      tell(made(fallocate, any_of_files(), ONE(0, 0, 0, 1, 2, 8, 64, 16, 128), offset(),
                once_in(8) ? 0 : offset()));
      break;
    case 13:
      if (draw(2))
        tell(made(fsync, any_of_files()));
      else
        tell(made(fadvise64, any_of_files(), 0, 0, ONE(0, 3, 5, 6, -1)));
      break;
  }
}

// ---- descriptors

static void descriptors(void) {
  long from, answer;
  switch (draw(13)) {
    case 0:
    case 1:
      from = descriptor();
      tell(made(close, from));
      if ((u64)from < 64) kinds[from] = CLOSED;
      break;
    case 2:
      from = descriptor();
      answer = made(dup, from);
      tell(opened(answer, (u64)from < 64 ? kinds[from] : CLOSED));
      break;
    case 3: {
      from = descriptor();
      const long to = 3 + (long)draw(SLOTS);
      answer = made(dup3, from, once_in(8) ? ONE(-1, 999, 64) : to, FLAGS(1, CLOEXEC));
      tell(opened(answer, (u64)from < 64 ? kinds[from] : CLOSED));
      break;
    }
    case 4:
    case 5:
    case 6: {
      const long what = ONE(0, 1030, 1, 2, 3, 4, 1032, 1031, 5, 6, 99, 9, 11);
      const u64 lock[4] = {draw(4) | draw(4) << 16, (u64)offset(), draw(20), 0};
      long with = ONE(0, 1, 3, 10, 63, 64, 999, -1);
      from = descriptor();
      if (what == 4) with = NONBLOCK | ONE(0, 0x400, 0x40000, 1, 2, 0x40);
      if (what == 5 || what == 6) with = (long)source(lock);
      if (what == 1031) with = ONE(0, 4096, 65536);
      answer = made(fcntl, from, what, with);
      if (what == 5) answer = answer < 0 ? answer : 0;
      if (what == 9 && answer >= 0) answer = 0;
      tell(answer);
      if (what == 0 || what == 1030) opened(answer, (u64)from < 64 ? kinds[from] : CLOSED);
      break;
    }
    case 7:
      answer = made(pipe2, place(), NONBLOCK | FLAGS(1, CLOEXEC));
      if (answer == 0 && given[0] == (long)out)
        opened(*(int*)out, PIPE), opened(*(int*)(out + 4), PIPE);
      tell(answer);
      break;
    case 8:
      tell(made(flock, a_file(), 4 | ONE(1, 2, 8, 0, 3, 16)));
      break;
    case 9:
      tell(made(fchmod, descriptor(), 0640));
      break;
    case 10:
      if (draw(2))
        tell(made(fchown, descriptor(), -1, -1));
      else
        tell(made(ioctl, descriptor(), ONE(0x5401, 0x5413, 77), place()));
      break;
    case 11:
    case 12:
      if (draw(2))
        tell(made(read, of(PIPE), place(), size()));
      else
        tell(made(write, of(PIPE), source(data), size()));
      break;
  }
}

// ---- events

static const struct {
  u32 events;
#ifdef __riscv
  u32 pad;
#endif
  u32 data[2];
} interest[] = {{.events = 1, .data = {11, 1}},          {.events = 4, .data = {12, 2}},
                {.events = 5, .data = {13, 3}},          {.events = 0x2005, .data = {14, 4}},
                {.events = 0x80000001, .data = {15, 5}}, {.events = 0x40000005, .data = {16, 6}},
                {.events = 0x10000001, .data = {17, 7}}, {.events = 0, .data = {18, 8}},
                {.events = 0x10002001, .data = {19, 9}}};
static void normalise_events(long answer) {
  u64 all[16] = {0};
  for (long i = 0; i < answer && i < 8; ++i) {
    const u32* const at = (const u32*)(out + i * (long)sizeof *interest);
    all[2 * i] = at[0], all[2 * i + 1] = at[sizeof *interest / 4 - 2];
  }
  clear();
  for (int i = 0; i < 16; ++i) ((u64*)out)[i] = all[i];
}
static void events(void) {
  long answer;
  static const u64 counts[] = {0, 1, 5, -1UL, -2UL, 1UL << 32};
  switch (draw(17)) {
    case 0:
      tell(opened(made(eventfd2, ONE(0, 1, 7, -1), NONBLOCK | FLAGS(8, 1, CLOEXEC)), EVENT));
      break;
    case 1:
    case 2:
      tell(made(read, of(EVENT), place(), size()));
      break;
    case 3:
    case 4: {
      const u64 bytes = size();
      tell(made(write, of(EVENT), source(&ANY(counts)), bytes > 200 ? 8 : bytes));
      break;
    }
    case 5:
      answer = made(timerfd_create, once_in(4) ? ONE(2, 12, -1, 5, 6) : ONE(0, 1, 7),
                    NONBLOCK | FLAGS(1, CLOEXEC));
      tell(opened(answer, TIMER));
      break;
    case 6: {
      static const u64 set[][4] = {
          {0, 0, 1000, 0},       {0, 1000000000, 1, 0}, {7, 5, 2000, 999999999},
          {0, 0, 0, 1000000000}, {0, 0, 0, 0},          {-1UL, 0, 1, 0}};
      answer = made(timerfd_settime, of(TIMER), ONE(0, 0, 0, 2, 4, 8), source(ANY(set)), place());
      for (int i = 2; i < 4; ++i) ((u64*)out)[i] = ((u64*)out)[i] ? i == 2 : 0;
      *(u64*)edge = 0;
      tell(answer);
      break;
    }
    case 7:
      answer = made(timerfd_gettime, of(TIMER), place());
      for (int i = 2; i < 4; ++i) ((u64*)out)[i] = ((u64*)out)[i] ? i == 2 : 0;
      *(u64*)edge = 0;
      tell(answer);
      break;
    case 8:
      if (once_in(4))
        tell(made(read, of(TIMER), place(), ONE(0, 7, 8, 100)));
      else
        tell(opened(made(epoll_create1, FLAGS(1, CLOEXEC)), EPOLL));
      break;
    case 9:
    case 10:
    case 11:
      tell(made(epoll_ctl, of(EPOLL), ONE(1, 1, 1, 2, 3, 0, 4), descriptor(),
                source(&ANY(interest))));
      break;
    case 12:
    case 13: {
      static const u64 set = 0;
      answer = made(epoll_pwait, of(EPOLL), place(), ONE(8, 8, 1, 0, -1), 0,
                    once_in(4) ? source(&set) : 0, once_in(6) ? 4 : 8);
      normalise_events(answer);
      tell(answer);
      break;
    }
    case 14:
    case 15: {
      const u64 many = draw(5);
      for (u64 i = 0; i < many; ++i) {
        ((int*)out)[2 * i] = (int)descriptor();
        ((short*)out)[4 * i + 2] = (short)ONE(1, 4, 5, 0, 0x2000, 0x7fff, 2);
      }
      tell(made(ppoll, once_in(8) ? place() : out, once_in(10) ? ONE(-1, 65, 64) : (long)many,
                once_in(3) ? times() : at_once, 0, 0));
      break;
    }
    case 16: {
      for (int i = 0; i < 3; ++i) ((u64*)out)[i] = draw(2) ? draw(1 << 14) & ~7UL : 0;
      tell(made(pselect6, ONE(0, 3, 8, 14, 64, -1), once_in(4) ? 0 : out, once_in(3) ? 0 : out + 8,
                once_in(3) ? 0 : out + 16, at_once, 0));
      break;
    }
  }
}

// ---- sockets

struct name {
  unsigned short family;
  char path[126];
};
static struct name name_of;
static u64 draw_name(void) {
  static const char* const each[] = {"s", "t", "s", "t", "s", "d/s", "none/s", "a"};
  for (int i = 0; i < 126; ++i) name_of.path[i] = 0;
  name_of.family = 1;
  const char* const text = ANY(each);
  const u64 at = draw(2);
  for (u64 i = 0; text[i]; ++i) name_of.path[at + i] = text[i];
  const u64 bytes = 2 + at + length(text) + (at ? 0 : draw(2));
  if (once_in(12)) name_of.family = (unsigned short)ONE(0, 2, 99);
  return once_in(10) ? (u64)ONE(0, 1, 3, 109, 110, 111, 128, -1) : bytes;
}
static long kind_of_socket(void) { return NONBLOCK | ONE(1, 1, 2, 2, 5, 5, 3); }
static u32* room(void) {
  words[0] = (u32)ONE(0, 1, 2, 4, 8, 16, 110, 128, -1);
  return (u32*)source(words);
}
static void sockets(void) {
  long answer;
  u64 bytes;
  switch (draw(24)) {
    case 22:
    case 23: {  // a server
      const long kind = kind_of_socket();
      const long server = made(socket, 1, kind, 0);
      tell(opened(server, SOCKET));
      bytes = draw_name();
      tell(made(bind, server, &name_of, bytes));
      tell(made(listen, server, draw(3)));
      const long client = made(socket, 1, draw(4) ? kind : kind_of_socket(), 0);
      tell(opened(client, SOCKET));
      tell(made(connect, client, &name_of, bytes));
      break;
    }
    case 0:
      answer = made(socket, ONE(1, 1, 1, 1, 0, 99),
                    once_in(8) ? ONE(0, 4, 6, 16, 15) : kind_of_socket(), ONE(0, 0, 0, 1, 2));
      tell(opened(answer, SOCKET));
      break;
    case 1:
    case 2:
      answer = made(socketpair, ONE(1, 1, 1, 1, 0, 99), once_in(8) ? 4 : kind_of_socket(),
                    ONE(0, 0, 0, 1, 2), place());
      if (answer == 0 && given[3] == (long)out)
        opened(*(int*)out, SOCKET), opened(*(int*)(out + 4), SOCKET);
      tell(answer);
      break;
    case 3:
    case 4:
      bytes = draw_name();
      tell(made(bind, of(SOCKET), source(&name_of), bytes));
      break;
    case 5:
      tell(made(listen, of(SOCKET), ONE(0, 1, 5, -1)));
      break;
    case 6:
    case 7:
    case 8:
      bytes = draw_name();
      tell(made(connect, of(SOCKET), source(&name_of), bytes));
      break;
    case 9:
    case 10:
      answer = made(accept4, of(SOCKET), once_in(3) ? place() : 0, once_in(3) ? room() : 0,
                    NONBLOCK | FLAGS(1, CLOEXEC));
      tell(opened(answer, SOCKET));
      break;
    case 11:
    case 12:
      bytes = once_in(4) ? draw_name() : 0;
      tell(made(sendto, of(SOCKET), source(data), ONE(0, 1, 7, 8, 20, 100),
                FLAGS(0x80000000, 0x40, 0x4000, 0x80, 0x8000, 2, 4), bytes ? source(&name_of) : 0,
                bytes));
      break;
    case 13:
    case 14:
      answer = made(recvfrom, of(SOCKET), place(), size(), FLAGS(0x2000, 2, 0x20, 0x40, 0x100),
                    once_in(3) ? out + 208 : 0, once_in(3) ? room() : 0);
      ((u32*)out)[63] = given[5] ? words[0] : 0;
      tell(answer);
      break;
    case 15:
    case 16: {
      static u64 message[7];
      const int reads = (int)draw(2);
      const u64 many = draw_parts(reads ? READS : SENDS);
      bytes = once_in(4) ? draw_name() : 0;
      message[0] = reads && bytes ? (u64)(out + 200) : bytes ? (u64)&name_of : 0;
      message[1] = bytes && reads ? (u64)ONE(0, 2, 50) : bytes;
      message[2] = (u64)source(parts), message[3] = many;
      message[4] = message[5] = 0, message[6] = 77;
      if (reads)
        answer = made(recvmsg, of(SOCKET), source(message), FLAGS(0x2000, 2, 0x20, 0x40, 0x100));
      else
        answer = made(sendmsg, of(SOCKET), source(message), FLAGS(0x2000, 0x40, 0x4000, 0x80));
      ((u32*)out)[62] = (u32)message[6], ((u32*)out)[63] = (u32)message[1];
      tell(answer);
      break;
    }
    case 17:
      tell(made(shutdown, of(SOCKET), ONE(0, 1, 2, 3, -1)));
      break;
    case 18: {
      u32* const at = room();
      answer = made(getsockopt, of(SOCKET), ONE(1, 1, 1, 1, 6, 0),
                    ONE(1, 2, 3, 4, 5, 6, 9, 10, 12, 16, 13, 18, 20, 21, 30, 38, 39, 42, 9999, -1),
                    place(), at);
      if (at == words) ((u32*)out)[63] = words[0];
      tell(answer);
      break;
    }
    case 19:
      words[0] = (u32)ONE(0, 1, 7), words[1] = (u32)draw(3), words[2] = words[3] = 0;
      tell(made(setsockopt, of(SOCKET), ONE(1, 1, 1, 1, 6, 0),
                ONE(1, 2, 3, 4, 5, 6, 9, 10, 12, 16, 13, 18, 30, 38, 39, 42, 9999, -1),
                source(words), ONE(0, 1, 3, 4, 8, 16, -1)));
      break;
    case 20:
    case 21: {
      u32* const at = room();
      char* const to = place();
      const long of_it = of(SOCKET);
      answer = draw(2) ? made(getsockname, of_it, to, at) : made(getpeername, of_it, to, at);
      if (at == words) ((u32*)out)[63] = words[0];
      tell(answer);
      break;
    }
  }
}

// ---- memory

static u64 pages_of_it(void) {
  return (u64)(once_in(8) ? ONE(0, 1, -1, -4096, 1L << 62) : ONE(1, 2, 3) * PAGE);
}
static char* at_page(void) {
  return once_in(10) ? (char*)ONE(1, -4096, 1L << 62)
                     : arena + draw(ARENA) * PAGE + (once_in(12) ? 8 : 0);
}
static void probe(void) {
  filled = 0;
  put("probe ");
  for (u64 i = 0; i < ARENA + 3; ++i) {
    char* const at = arena + i * PAGE;
    const long reads = call(N_rt_sigprocmask, 0, at, 0, 8);
    put_number(reads == 0 ? 1 : reads == -14 ? 0 : 9, 10);
    if (reads == 0 && *at) put("x");
  }
  put("\n");
  call(N_write, 1, line, filled);
  filled = 0;
}
static void memory(void) {
  long answer;
  char* at;
  switch (draw(12)) {
    case 0:
    case 1:
    case 2: {
      const u64 bytes = pages_of_it();
      at = at_page();
      const int file = (int)once_in(3);
      const long shared = file ? ONE(2, 2, 2, 0) : ONE(2, 2, 2, 2, 0, 3);
      answer = made(mmap, at, bytes, ONE(0, 1, 3, 3, 3, 3),
                    shared | (file ? 0 : 0x20) | ONE(0x10, 0x10, 0x100000), file ? a_file() : -1,
                    once_in(5) ? ONE(1, 8192, -4096) : 0);
      tell(answer > 0 || answer < -4095 ? (answer == (long)at ? 0 : 1) : answer);
      break;
    }
    case 3:
    case 4:
      tell(made(munmap, at_page(), pages_of_it()));
      break;
    case 5:
    case 6:
      tell(made(mprotect, at_page(), pages_of_it(), ONE(0, 1, 3, 3, 3, 5)));
      break;
    case 7:
      at = at_page();
      answer = made(mremap, at, once_in(8) ? ONE(0, 1, -1) : ONE(1, 2, 3) * PAGE, pages_of_it(),
                    ONE(0, 0, 0, 3, 3, 2, 8), at_page());
      tell(answer > 0 || answer < -4095 ? 0 : answer);
      break;
    case 8:
      tell(made(madvise, at_page(), once_in(8) ? ONE(0, 1, -1) : (long)draw(4) * PAGE,
                ONE(0, 4, 4, 8, 1, 3, 99, -1)));
      break;
    case 9:
      tell(made(msync, at_page(), pages_of_it(), ONE(0, 1, 4, 5, 8)));
      break;
    case 10:
      if (draw(2))
        tell(made(mlock, at_page(), ONE(0, 1, PAGE))), call(N_munlock, given[0], given[1]);
      else
        tell(made(munlock, at_page(), ONE(0, 1, PAGE)));
      break;
    case 11:
      probe();
      break;
  }
}

// ---- threads, signals, time

static void others(void) {
  long answer;
  const long self = call(N_getpid), thread = call(N_gettid);
  static const long signals[] = {10, 12, 34, 35, 64};
  switch (draw(22)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const long op = ONE(0, 1, 3, 4, 5, 9, 10, 2, 99) | (long)FLAGS(1 << 20, 128, 128, 256);
      words[1] = (u32)draw(3);
      u32* const first = once_in(10) ? (u32*)ONE(1, -4096, 0) : words + draw(3);
      u32* const second = once_in(10) ? (u32*)ONE(2, 3, -4096) : words + draw(3);
      long fourth = (long)times();
      const long cmd = op & 127;
      if (cmd == 3 || cmd == 4 || cmd == 5) fourth = ONE(0, 1, -1, 5);
      if (cmd == 1 || cmd == 10) fourth = 0;
      if ((cmd == 0 || cmd == 9) && fourth == 0) fourth = 1;
      if (cmd == 9 && !once_in(3)) fourth = 1;
      answer = made(futex, draw(2) ? first : (u32*)((char*)first + (once_in(6) ? 2 : 0)), op,
                    ONE(0, 1, 2, -1), fourth, second, ONE(0, 1, 2, -1, 0x12345678, 0x51001000));
      ((u32*)out)[0] = words[0], ((u32*)out)[1] = words[1], ((u32*)out)[2] = words[2];
      tell(answer);
      words[0] = words[1] = words[2] = 0;
      break;
    }
    case 4: {
      static const u64 sets[] = {~0UL, 1UL << 6, ~0UL & ~(1UL << 6), ~0UL};
      const long how = ONE(0, 1, 2, 3, -1);
      answer = made(rt_sigprocmask, how, once_in(3) ? source(sets + (how & 3)) : 0, place(),
                    once_in(6) ? ONE(0, 4, 16) : 8);
      tell(answer);
      break;
    }
    case 5: {
      static u64 action[4] = {1, 0, 0, 0};
      action[0] = draw(2);
      answer = made(rt_sigaction, once_in(4) ? ONE(0, 65, -1, 9, 19) : ANY(signals),
                    draw(2) ? source(action) : 0, 0, once_in(8) ? 4 : 8);
      tell(answer);
      break;
    }
    case 6:
      answer = made(rt_sigpending, place(), ONE(0, 4, 8, 8, 8, 9));
      tell(answer);
      break;
    case 7:
    case 8:
      tell(made(kill, once_in(6) ? 999999 : self, once_in(4) ? ONE(0, 65, -1) : ANY(signals)));
      break;
    case 9:
      tell(made(tgkill, once_in(6) ? ONE(0, -1, 999999) : self,
                once_in(6) ? ONE(0, -1, 999999) : thread,
                once_in(4) ? ONE(0, 65, -1) : ANY(signals)));
      break;
    case 10:
      tell(made(tkill, once_in(4) ? ONE(0, -1, 999999) : thread,
                once_in(4) ? ONE(0, 65, -1) : ANY(signals)));
      break;
    case 11:
    case 12: {
      static u64 set;
      set = draw(4) ? 1UL << 9 | 1UL << 11 | 1UL << 33 : draw(2) ? 1UL << 63 : 0;
      answer = made(rt_sigtimedwait, source(&set), once_in(3) ? out : 0,
                    once_in(6) ? times() : at_once, once_in(8) ? 4 : 8);
      clear();
      tell(answer);
      break;
    }
    case 13: {
      static u64 set;
      set = draw(2) ? 1UL << 9 | 1UL << 33 : ~0UL;
      answer = made(signalfd4, draw(3) ? -1 : of(SIGNALS), source(&set), once_in(8) ? 4 : 8,
                    NONBLOCK | FLAGS(1, CLOEXEC));
      tell(opened(answer, SIGNALS));
      break;
    }
    case 14:
      answer = made(read, of(SIGNALS), place(), ONE(0, 127, 128, 200, 256));
      for (int i = 3; i < 5; ++i) ((u32*)out)[i] = 0, ((u32*)out)[32 + i] = 0;
      tell(answer);
      break;
    case 15:
      answer = made(clock_gettime, ONE(0, 1, 4, 7, 2, 3, 12, 16, 10, -1, 99), place());
      clear();
      tell(answer);
      break;
    case 16:
      if (draw(2)) {
        answer = made(clock_getres, ONE(0, 1, 7, 2, 3, 12, -1, 99), place());
        clear();
        tell(answer);
      } else {
        tell(made(clock_nanosleep, ONE(0, 1, 7, 3, 4, 5, 12, -1), ONE(0, 1, 1), times(), 0));
      }
      break;
    case 17:
      if (draw(2)) {
        answer = made(getrandom, place(), ONE(0, 1, 16, 200), FLAGS(8, 1, 2, 4));
        clear();
        tell(answer);
      } else {
        tell(made(nanosleep, times(), place()));
      }
      break;
    case 18: {
      static u64 limit[2];
      limit[0] = (u64)ONE(20, 30, 40), limit[1] = (u64)ONE(20, 40, 40, 40);
      if (limit[1] == 20 && limit[0] <= 20) limit[1] = 40;
      answer = made(prlimit64, once_in(6) ? 999999 : 0, ONE(7, 7, 7, 16, -1),
                    draw(2) ? source(limit) : 0, place());
      tell(answer);
      break;
    }
    case 19:
      switch (draw(5)) {
        case 0:
          tell(made(sched_get_priority_max, ONE(0, 1, 2, 3, 4, 5, 7, -1)));
          break;
        case 1:
          tell(made(sched_get_priority_min, ONE(0, 1, 2, 3, 4, 5, 7, -1)));
          break;
        case 2:
          tell(made(sched_getscheduler, ONE(0, 0, -1, 999999)));
          break;
        case 3:
          tell(made(sched_getparam, ONE(0, 0, -1, 999999), place()));
          break;
        case 4:
          words[4] = (u32)ONE(0, 0, 1, -1, 100);
          tell(made(sched_setscheduler, ONE(0, 0, -1, 999999), ONE(0, 0, 3, 5, 4, 99, -1),
                    source(words + 4)));
          break;
      }
      break;
    case 20: {
      static u64 set;
      set = (u64)ONE(1, 1, 0);
      if (draw(2)) {
        tell(made(sched_setaffinity, ONE(0, 0, -1, 999999), ONE(8, 8, 1, 0), source(&set)));
      } else {
        answer = made(sched_getaffinity, ONE(0, 0, -1, 999999), ONE(128, 128, 4, 1, 129), out);
        clear();
        tell(answer > 0 ? 0 : answer);
      }
      break;
    }
    case 21:
      switch (draw(4)) {
        case 0:
          tell(made(getpriority, ONE(0, 0, 3, -1), ONE(0, 0, -1, 999999)));
          break;
        case 1:
          tell(made(setpriority, ONE(0, 0, 3, -1), ONE(0, 0, -1, 999999), ONE(0, 5, 100)));
          break;
        case 2: {
          static u64 stack[3];
          stack[0] = (u64)arena, stack[1] = (u64)ONE(0, 0, 2, 1, 4), stack[2] = (u64)ONE(8192, 100);
          answer = made(sigaltstack, draw(2) ? source(stack) : 0, place());
          ((u64*)out)[0] = *(u64*)edge = 0;
          tell(answer);
          break;
        }
        case 3: {
          static u64 timer[4];
          timer[0] = (u64)ONE(0, 5), timer[1] = (u64)ONE(0, 0, 1000000, -1);
          timer[2] = (u64)ONE(0, 1000, -1), timer[3] = 0;
          answer = made(setitimer, ONE(0, 0, 3, -1), source(timer), place());
          for (int i = 2; i < 4; ++i) ((u64*)out)[i] = ((u64*)out)[i] ? i == 2 : 0;
          *(u64*)edge = 0;
          tell(answer);
          break;
        }
      }
      break;
  }
}

static void prepare(void) {
  pages = (char*)call(N_mmap, 0, (2 * ARENA) * PAGE, 3, 0x22, -1, 0);
  out = pages, edge = pages + 2 * PAGE - EDGE, arena = pages + 4 * PAGE;
  call(N_munmap, pages + 2 * PAGE, PAGE);
  call(N_munmap, arena + ARENA * PAGE, ARENA * PAGE - 4 * PAGE);
  for (u64 i = 0; i < sizeof data; ++i) data[i] = (char)(i * 7 + 1);
  for (u64 i = 0; i < 290; ++i) long_name[i] = 'n';
  for (u64 i = 0; i < 4990; ++i) long_path[i] = i % 2 ? '/' : '.';
  static const char* const made[] = {"b", "d/x", "d/y", "d/e/z"};
  const u64 all = ~0UL, few[2] = {40, 40};
  call(N_rt_sigprocmask, 2, &all, 0, 8);
  for (int i = 3; i < 60; ++i) call(N_close, i);
  call(N_mkdirat, AT_FDCWD, "w", 0755), call(N_chdir, "w");
  call(N_mkdirat, AT_FDCWD, "d", 0755), call(N_mkdirat, AT_FDCWD, "d/e", 0755);
  const long file = call(N_openat, AT_FDCWD, "a", 0x42, 0644);
  call(N_write, file, data, 10), call(N_close, file);
  for (u64 i = 0; i < sizeof made / sizeof *made; ++i)
    call(N_close, call(N_openat, AT_FDCWD, made[i], 0x42, 0644));
  call(N_symlinkat, "a", AT_FDCWD, "l"), call(N_symlinkat, "d", AT_FDCWD, "m");
  call(N_symlinkat, "loop", AT_FDCWD, "loop"), call(N_symlinkat, "zz", AT_FDCWD, "none");
  const long here = call(N_openat, AT_FDCWD, ".", 0x10000);
  call(N_dup3, here, MOST, 0), call(N_close, here);
  int ends[2];
  opened(call(N_openat, AT_FDCWD, "a", NONBLOCK | 2), FILE_);
  opened(call(N_openat, AT_FDCWD, "d", NONBLOCK | 0x10000), FOLDER);
  call(N_socketpair, 1, ONE(1, 2, 5) | NONBLOCK, 0, ends);
  opened(ends[0], SOCKET), opened(ends[1], SOCKET);
  opened(call(N_epoll_create1, 0), EPOLL);
  opened(call(N_eventfd2, 0, NONBLOCK), EVENT);
  call(N_pipe2, ends, NONBLOCK);
  opened(ends[0], PIPE), opened(ends[1], PIPE);
  call(N_prlimit64, 0, 7, few, 0);
  call(N_setpriority, 0, 0, 0);
}

int run(int count, char** words_of) {
  static void (*const each[])(void) = {names_of_files, open_files, contents, descriptors,
                                       events,         sockets,    memory,   others};
  // The subjects of a seed: one, that with its descriptors, or all.
  static const unsigned char subjects[][8] = {
      {0, 0, 0, 1}, {1, 2, 2, 3}, {4, 4, 3, 1}, {5, 5, 5, 3}, {6, 6, 1, 6},
      {7, 7, 7, 7}, {4, 5, 7, 4}, {1, 2, 6, 2}, {3, 4, 5, 5}, {0, 5, 1, 5}};
  u64 seed = 0;
  for (const char* s = count > 1 ? words_of[1] : "0"; *s; ++s) seed = seed * 10 + (u64)(*s - '0');
  tells = count > 2;
  state = (seed + 1) * 0x9E3779B97F4A7C15;
  for (int i = 0; i < 10; ++i) draw(2);
  prepare();
  for (int i = 0; i < CALLS; ++i) {
    clear();
    each[once_in(8) ? draw(8) : subjects[seed % (sizeof subjects / 8)][draw(4)]]();
  }
  return 0;
}

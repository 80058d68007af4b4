// Makes random system calls on few descriptors and names; some arguments are wrong on purpose.
// Usage: `drawn_calls SEED [told]`. For each call the program prints the result and a digest of the
// bytes that the call wrote; with `told` it prints the arguments, too. Values that may differ
// (addresses, times, ids of threads, inode numbers) are left out. No call waits, because all
// descriptors are O_NONBLOCK and all signals are blocked.
#include "raw.h"

enum { FIRST_OF_MESSAGES = 70 };  // first seed that draws mostly messages
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

// In this order: two pages that receive what calls write, an unmapped hole, and ARENA pages, of
// which some are mapped.
static char* pages;
static char* arena;
static char *out, *edge;
static char data[70000];
static char long_name[300], long_path[5000];
static u32 words[8];
static const u64 at_once[2];
static u64 parts[8][2];
static unsigned char kinds[64];
static int prints_arguments;

// ---- Printing

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

static const char* call_name;
static long arguments[6];
static void clear(void) {
  for (u64 i = 0; i < OUT / 8; ++i) ((volatile u64*)out)[i] = 0;
  *(volatile u64*)edge = 0;
}
static long made(const char* name, long number, long a, long b, long c, long d, long e, long f) {
  call_name = name;
  arguments[0] = a, arguments[1] = b, arguments[2] = c, arguments[3] = d, arguments[4] = e,
  arguments[5] = f;
  if (prints_arguments) call(N_write, 2, name, length(name)), call(N_write, 2, "\n", 1);
  return call6(number, a, b, c, d, e, f);
}
#define MADE_(name, a, b, c, d, e, f, ...) \
  made(#name, N_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define made(...) MADE_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

static void print_result(long answer) {
  put(call_name);
  if (prints_arguments) {
    put("(");
    for (int i = 0; i < 6; ++i) {
      if (i) put(", ");
      const u64 v = (u64)arguments[i];
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

// ---- Drawing of arguments

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
static long descriptor_of(enum kind kind) {
  if (once_in(8)) return descriptor();
  const u64 from = draw(SLOTS + 2);
  for (u64 i = 0; i < SLOTS + 2; ++i)
    if (kinds[3 + (from + i) % (SLOTS + 2)] == kind) return 3 + (long)((from + i) % (SLOTS + 2));
  return descriptor();
}
static long regular_file(void) {
  const long fd = descriptor_of(FILE_);
  return (u64)fd < 64 && (kinds[fd] == FILE_ || kinds[fd] == CLOSED) ? fd : -1;
}
static long folder_fd(void) { return draw(8) ? AT_FDCWD : descriptor_of(FOLDER); }
static long note_kind(long answer, enum kind kind) {
  if (answer >= 0 && answer < 64) kinds[answer] = (unsigned char)kind;
  return answer;
}
// Returns an address to which a call is to write, which may be wrong.
static void* output_address(void) {
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
// Returns an address from which a call is to read: `usual`, or a wrong one.
static const void* input_address(const void* usual) {
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
// Files are always written from valid memory: if the source is wrong, tmpfs of Linux 6.18 extends
// the file although it writes no byte.
static const void* input_for(long fd) {
  return (u64)fd < 64 && kinds[fd] == FILE_ ? data : input_address(data);
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
    parts[i][0] = read ? (u64)output_address()
                       : (u64)(use == WRITES ? data + 8 * i : input_address(data + 8 * i));
    parts[i][1] = once_in(25) ? -1UL : of_part;
    if (read && parts[i][0] == (u64)out) parts[i][0] += 48 * i;
  }
  return once_in(25) ? ONE(-1, 1025, 1024 * 1024) : many;
}
// Returns a timespec that ends at once, or a wrong one.
static const u64* any_timespec(void) {
  static const u64 each[][2] = {{0, 0}, {0, 1}, {0, 1000000000}, {-1UL, 0}, {0, -1UL}};
  const u64* const wrong = input_address(each);
  return once_in(10) && wrong ? wrong : each[draw(3) ? draw(2) : draw(5)];
}

// ---- files

static void names_of_files(void) {
  switch (draw(13)) {
    case 0:
      print_result(made(mkdirat, folder_fd(), path(), ONE(0700, 0755, 0)));
      break;
    case 1:
    case 2:
      print_result(made(unlinkat, folder_fd(), path(), ONE(0, 0, 0x200, 0x200, 1, 0x201)));
      break;
    case 3:
      print_result(made(symlinkat, path(), folder_fd(), path()));
      break;
    case 4:
      print_result(
          made(linkat, folder_fd(), path(), folder_fd(), path(), ONE(0, 0, 0, 0x400, 1, 0x100)));
      break;
    case 5:
    case 6:
    case 7:
      print_result(made(renameat2, folder_fd(), path(), folder_fd(), path(),
                        ONE(0, 0, 0, 0, 0, 1, 2, 3, 8)));
      break;
    case 8:
      print_result(made(readlinkat, folder_fd(), path(), output_address(), ONE(0, 1, 3, 100, -1)));
      break;
    case 9:
      print_result(made(faccessat, folder_fd(), path(), ONE(0, 2, 4, 6, 8, -1)));
      break;
    case 10:
      print_result(made(faccessat2, folder_fd(), path(), ONE(0, 2, 4, 8, -1),
                        ONE(0, 0, 0x100, 0x200, 0x1000, 1)));
      break;
    case 11:
      print_result(made(fchmodat, folder_fd(), path(), ONE(0600, 0755, 0777)));
      break;
    case 12:
      print_result(made(truncate, path(), offset()));
      break;
  }
}
static void normalise_stat(long answer, const char* at) {
  u64 fields[3] = {0};
  if (answer == 0 && at == out) {
#ifdef __riscv
    fields[0] = *(const u32*)(out + 16), fields[1] = *(const u32*)(out + 20);
#else
    fields[0] = *(const u32*)(out + 24), fields[1] = *(const u64*)(out + 16);
#endif
    fields[2] = *(const u64*)(out + 48);
    if ((fields[0] & 0170000) == 0040000)
      fields[1] = fields[2] = 0;  // the links and the size of a folder
    if ((fields[0] & 0170000) == 0140000 || (fields[0] & 0170000) == 0010000)
      fields[0] &= 0170000;  // the permissions of sockets and pipes
  }
  clear();
  for (int i = 0; i < 3; ++i) ((u64*)out)[i] = fields[i];
  if (answer == 0)
    print_result(0);
  else
    print_result(answer);
}
static void open_files(void) {
  long answer, from;
  char* at;
  switch (draw(11)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const long from = folder_fd();
      const char* const name = path();
      const u64 flags = NONBLOCK | (u64)ONE(0, 1, 2, 2, 3) |
                        FLAGS(1 << 30, 0x40, 0x40, 0x80, 0x200, 0x400, 0x10000, 0x20000, 0x80000,
                              0x200000, 0x410000, 0x400000);
      answer = made(openat, from, name, flags, 0644);
      print_result(answer);
      note_kind(answer, flags & 0x10000 || name == names[3] ? FOLDER : FILE_);
      break;
    }
    case 4:
      answer = made(memfd_create, input_address("name"), FLAGS(32, 1, 2));
      if (answer >= 0) call(N_fcntl, answer, 4, NONBLOCK);
      print_result(note_kind(answer, FILE_));
      break;
    case 5:
      at = output_address();
      answer = made(newfstatat, folder_fd(), path(), at, FLAGS(1, 0x100, 0x1000, 0x800));
      normalise_stat(answer, at);
      break;
    case 6:
      at = output_address();
      answer = made(fstat, descriptor(), at);
      normalise_stat(answer, at);
      break;
    case 7:
      if (once_in(3))
        print_result(made(fchdir, descriptor_of(FOLDER)));
      else
        print_result(made(chdir, draw(2) ? path() : (const char*)"d"));
      if (draw(2)) call(N_fchdir, MOST);
      break;
    case 8:
      answer = made(getcwd, output_address(), ONE(0, 1, 3, 200, 256));
      clear();
      print_result(answer > 0 ? 0 : answer);
      break;
    case 9:
      from = descriptor_of(FOLDER);
      call(N_lseek, from, 0, 0);
      answer = made(getdents64, from, output_address(), ONE(0, 8, 23, 24, 250, 250, 250));
      clear();
      print_result(answer > 0 ? 0 : answer);
      break;
    case 10:
      answer = made(utimensat, folder_fd(), draw(3) ? path() : 0,
                    once_in(3) ? input_address(words) : 0, ONE(0, 0, 0x100, 0x1000, 1));
      print_result(answer);
      break;
  }
}
static long file_or_any(void) { return draw(3) ? descriptor_of(FILE_) : descriptor(); }
static void contents(void) {
  long from;
  switch (draw(14)) {
    case 0:
    case 1:
      print_result(made(read, file_or_any(), output_address(), size()));
      break;
    case 2:
    case 3:
      from = file_or_any();
      print_result(made(write, from, input_for(from), size()));
      break;
    case 4:
      print_result(made(pread64, file_or_any(), output_address(), size(), offset()));
      break;
    case 5:
      from = file_or_any();
      print_result(made(pwrite64, from, input_for(from), size(), offset()));
      break;
    case 6:
      from =
          file_or_any();  // only files, because other reads may return fewer bytes than asked for
      if ((u64)from < 64 && kinds[from] >= EVENT && kinds[from] <= SIGNALS) from = 999;
      print_result(made(readv, from, input_address(parts), draw_parts(READS)));
      break;
    case 7:
      print_result(made(writev, file_or_any(), input_address(parts), draw_parts(WRITES)));
      break;
    case 8:
      if (draw(2))
        print_result(
            made(preadv, file_or_any(), input_address(parts), draw_parts(READS), offset(), 0));
      else
        print_result(
            made(pwritev, file_or_any(), input_address(parts), draw_parts(WRITES), offset(), 0));
      break;
    case 9:
    case 10:
      from = file_or_any();
      if ((u64)from < 64 && kinds[from] == FOLDER)
        from = 999;  // positions in a folder depend on the file system
      print_result(made(lseek, from, offset(), ONE(0, 0, 1, 2, 3, 4, 5, -1)));
      break;
    case 11:
      print_result(made(ftruncate, file_or_any(), offset()));
      break;
    case 12:
      print_result(made(fallocate, file_or_any(), ONE(0, 0, 0, 1, 2, 8, 64, 16, 128), offset(),
                        once_in(8) ? 0 : offset()));
      break;
    case 13:
      if (draw(2))
        print_result(made(fsync, file_or_any()));
      else
        print_result(made(fadvise64, file_or_any(), 0, 0, ONE(0, 3, 5, 6, -1)));
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
      print_result(made(close, from));
      if ((u64)from < 64) kinds[from] = CLOSED;
      break;
    case 2:
      from = descriptor();
      answer = made(dup, from);
      print_result(note_kind(answer, (u64)from < 64 ? kinds[from] : CLOSED));
      break;
    case 3: {
      from = descriptor();
      const long to = 3 + (long)draw(SLOTS);
      answer = made(dup3, from, once_in(8) ? ONE(-1, 999, 64) : to, FLAGS(1, CLOEXEC));
      print_result(note_kind(answer, (u64)from < 64 ? kinds[from] : CLOSED));
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
      if (what == 5 || what == 6) with = (long)input_address(lock);
      if (what == 1031) with = ONE(0, 4096, 65536);
      answer = made(fcntl, from, what, with);
      if (what == 5) answer = answer < 0 ? answer : 0;
      if (what == 9 && answer >= 0) answer = 0;
      print_result(answer);
      if (what == 0 || what == 1030) note_kind(answer, (u64)from < 64 ? kinds[from] : CLOSED);
      break;
    }
    case 7:
      answer = made(pipe2, output_address(), NONBLOCK | FLAGS(1, CLOEXEC));
      if (answer == 0 && arguments[0] == (long)out)
        note_kind(*(int*)out, PIPE), note_kind(*(int*)(out + 4), PIPE);
      print_result(answer);
      break;
    case 8:
      print_result(made(flock, regular_file(), 4 | ONE(1, 2, 8, 0, 3, 16)));
      break;
    case 9:
      print_result(made(fchmod, descriptor(), 0640));
      break;
    case 10:
      if (draw(2))
        print_result(made(fchown, descriptor(), -1, -1));
      else
        print_result(made(ioctl, descriptor(), ONE(0x5401, 0x5413, 77), output_address()));
      break;
    case 11:
    case 12:
      if (draw(2))
        print_result(made(read, descriptor_of(PIPE), output_address(), size()));
      else
        print_result(made(write, descriptor_of(PIPE), input_address(data), size()));
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
      print_result(
          note_kind(made(eventfd2, ONE(0, 1, 7, -1), NONBLOCK | FLAGS(8, 1, CLOEXEC)), EVENT));
      break;
    case 1:
    case 2:
      print_result(made(read, descriptor_of(EVENT), output_address(), size()));
      break;
    case 3:
    case 4: {
      const u64 bytes = size();
      print_result(
          made(write, descriptor_of(EVENT), input_address(&ANY(counts)), bytes > 200 ? 8 : bytes));
      break;
    }
    case 5:
      answer = made(timerfd_create, once_in(4) ? ONE(2, 12, -1, 5, 6) : ONE(0, 1, 7),
                    NONBLOCK | FLAGS(1, CLOEXEC));
      print_result(note_kind(answer, TIMER));
      break;
    case 6: {
      static const u64 set[][4] = {
          {0, 0, 1000, 0},       {0, 1000000000, 1, 0}, {7, 5, 2000, 999999999},
          {0, 0, 0, 1000000000}, {0, 0, 0, 0},          {-1UL, 0, 1, 0}};
      answer = made(timerfd_settime, descriptor_of(TIMER), ONE(0, 0, 0, 2, 4, 8),
                    input_address(ANY(set)), output_address());
      for (int i = 2; i < 4; ++i) ((u64*)out)[i] = ((u64*)out)[i] ? i == 2 : 0;
      *(u64*)edge = 0;
      print_result(answer);
      break;
    }
    case 7:
      answer = made(timerfd_gettime, descriptor_of(TIMER), output_address());
      for (int i = 2; i < 4; ++i) ((u64*)out)[i] = ((u64*)out)[i] ? i == 2 : 0;
      *(u64*)edge = 0;
      print_result(answer);
      break;
    case 8:
      if (once_in(4))
        print_result(made(read, descriptor_of(TIMER), output_address(), ONE(0, 7, 8, 100)));
      else
        print_result(note_kind(made(epoll_create1, FLAGS(1, CLOEXEC)), EPOLL));
      break;
    case 9:
    case 10:
    case 11:
      print_result(made(epoll_ctl, descriptor_of(EPOLL), ONE(1, 1, 1, 2, 3, 0, 4), descriptor(),
                        input_address(&ANY(interest))));
      break;
    case 12:
    case 13: {
      static const u64 set = 0;
      answer = made(epoll_pwait, descriptor_of(EPOLL), output_address(), ONE(8, 8, 1, 0, -1), 0,
                    once_in(4) ? input_address(&set) : 0, once_in(6) ? 4 : 8);
      normalise_events(answer);
      print_result(answer);
      break;
    }
    case 14:
    case 15: {
      const u64 many = draw(5);
      for (u64 i = 0; i < many; ++i) {
        ((int*)out)[2 * i] = (int)descriptor();
        ((short*)out)[4 * i + 2] = (short)ONE(1, 4, 5, 0, 0x2000, 0x7fff, 2);
      }
      print_result(made(ppoll, once_in(8) ? output_address() : out,
                        once_in(10) ? ONE(-1, 65, 64) : (long)many,
                        once_in(3) ? any_timespec() : at_once, 0, 0));
      break;
    }
    case 16: {
      for (int i = 0; i < 3; ++i) ((u64*)out)[i] = draw(2) ? draw(1 << 14) & ~7UL : 0;
      print_result(made(pselect6, ONE(0, 3, 8, 14, 64, -1), once_in(4) ? 0 : out,
                        once_in(3) ? 0 : out + 8, once_in(3) ? 0 : out + 16, at_once, 0));
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
static u32* name_size_address(void) {
  words[0] = (u32)ONE(0, 1, 2, 4, 8, 16, 110, 128, -1);
  return (u32*)input_address(words);
}
static void sockets(void) {
  long answer;
  u64 bytes;
  switch (draw(24)) {
    case 22:
    case 23: {  // a server
      const long kind = kind_of_socket();
      const long server = made(socket, 1, kind, 0);
      print_result(note_kind(server, SOCKET));
      bytes = draw_name();
      print_result(made(bind, server, &name_of, bytes));
      print_result(made(listen, server, draw(3)));
      const long client = made(socket, 1, draw(4) ? kind : kind_of_socket(), 0);
      print_result(note_kind(client, SOCKET));
      print_result(made(connect, client, &name_of, bytes));
      break;
    }
    case 0:
      answer = made(socket, ONE(1, 1, 1, 1, 0, 99),
                    once_in(8) ? ONE(0, 4, 6, 16, 15) : kind_of_socket(), ONE(0, 0, 0, 1, 2));
      print_result(note_kind(answer, SOCKET));
      break;
    case 1:
    case 2:
      answer = made(socketpair, ONE(1, 1, 1, 1, 0, 99), once_in(8) ? 4 : kind_of_socket(),
                    ONE(0, 0, 0, 1, 2), output_address());
      if (answer == 0 && arguments[3] == (long)out)
        note_kind(*(int*)out, SOCKET), note_kind(*(int*)(out + 4), SOCKET);
      print_result(answer);
      break;
    case 3:
    case 4:
      bytes = draw_name();
      print_result(made(bind, descriptor_of(SOCKET), input_address(&name_of), bytes));
      break;
    case 5:
      print_result(made(listen, descriptor_of(SOCKET), ONE(0, 1, 5, -1)));
      break;
    case 6:
    case 7:
    case 8:
      bytes = draw_name();
      print_result(made(connect, descriptor_of(SOCKET), input_address(&name_of), bytes));
      break;
    case 9:
    case 10:
      answer = made(accept4, descriptor_of(SOCKET), once_in(3) ? output_address() : 0,
                    once_in(3) ? name_size_address() : 0, NONBLOCK | FLAGS(1, CLOEXEC));
      print_result(note_kind(answer, SOCKET));
      break;
    case 11:
    case 12:
      bytes = once_in(4) ? draw_name() : 0;
      print_result(made(sendto, descriptor_of(SOCKET), input_address(data),
                        ONE(0, 1, 7, 8, 20, 100),
                        FLAGS(0x80000000, 0x40, 0x4000, 0x80, 0x8000, 2, 4),
                        bytes ? input_address(&name_of) : 0, bytes));
      break;
    case 13:
    case 14:
      answer = made(recvfrom, descriptor_of(SOCKET), output_address(), size(),
                    FLAGS(0x2000, 2, 0x20, 0x40, 0x100), once_in(3) ? out + 208 : 0,
                    once_in(3) ? name_size_address() : 0);
      ((u32*)out)[63] = arguments[5] ? words[0] : 0;
      print_result(answer);
      break;
    case 15:
    case 16: {
      static u64 message[7];
      const int reads = (int)draw(2);
      const u64 many = draw_parts(reads ? READS : SENDS);
      bytes = once_in(4) ? draw_name() : 0;
      message[0] = reads && bytes ? (u64)(out + 200) : bytes ? (u64)&name_of : 0;
      message[1] = bytes && reads ? (u64)ONE(0, 2, 50) : bytes;
      message[2] = (u64)input_address(parts), message[3] = many;
      message[4] = message[5] = 0, message[6] = 77;
      if (reads)
        answer = made(recvmsg, descriptor_of(SOCKET), input_address(message),
                      FLAGS(0x2000, 2, 0x20, 0x40, 0x100));
      else
        answer = made(sendmsg, descriptor_of(SOCKET), input_address(message),
                      FLAGS(0x2000, 0x40, 0x4000, 0x80));
      ((u32*)out)[62] = (u32)message[6], ((u32*)out)[63] = (u32)message[1];
      print_result(answer);
      break;
    }
    case 17:
      print_result(made(shutdown, descriptor_of(SOCKET), ONE(0, 1, 2, 3, -1)));
      break;
    case 18: {
      u32* const at = name_size_address();
      answer = made(getsockopt, descriptor_of(SOCKET), ONE(1, 1, 1, 1, 6, 0),
                    ONE(1, 2, 3, 4, 5, 6, 9, 10, 12, 16, 13, 18, 20, 21, 30, 38, 39, 42, 9999, -1),
                    output_address(), at);
      if (at == words) ((u32*)out)[63] = words[0];
      print_result(answer);
      break;
    }
    case 19:
      words[0] = (u32)ONE(0, 1, 7), words[1] = (u32)draw(3), words[2] = words[3] = 0;
      print_result(made(setsockopt, descriptor_of(SOCKET), ONE(1, 1, 1, 1, 6, 0),
                        ONE(1, 2, 3, 4, 5, 6, 9, 10, 12, 16, 13, 18, 30, 38, 39, 42, 9999, -1),
                        input_address(words), ONE(0, 1, 3, 4, 8, 16, -1)));
      break;
    case 20:
    case 21: {
      u32* const at = name_size_address();
      char* const to = output_address();
      const long of_it = descriptor_of(SOCKET);
      answer = draw(2) ? made(getsockname, of_it, to, at) : made(getpeername, of_it, to, at);
      if (at == words) ((u32*)out)[63] = words[0];
      print_result(answer);
      break;
    }
  }
}

// ---- messages that carry files or credentials, many messages at once, shared ports

struct control {
  u64 size;
  u32 level, type, data[12];
};
enum {
  CONTROL_AT = 144,
  ROOM = 56,
  RIGHTS = 1,
  CREDENTIALS = 2,
  REUSE_ADDRESS = 2,
  REUSE_PORT = 15
};

// Regular files are not sent, because what is written to them depends on their descriptors.
static u32 descriptor_to_send(void) {
  const long fd = descriptor();
  return (u64)fd < 64 && kinds[fd] == FILE_ ? (u32)-1 : (u32)fd;
}
static u64 draw_control(struct control* to) {
  const u64 many = draw(4);
  const int is_signed = once_in(4);
  to->level = (u32)ONE(1, 1, 1, 1, 1, 1, 1, 1, 0, 2);
  to->type = is_signed ? CREDENTIALS : (u32)ONE(1, 1, 1, 1, 1, 1, 1, 0);
  for (u64 i = 0; i < 12; ++i) to->data[i] = i < many ? descriptor_to_send() : 0;
  to->size = 16 + 4 * many;
  if (is_signed) {
    to->data[0] = (u32)call(N_getpid), to->data[1] = (u32)call(N_getuid);
    to->data[2] = (u32)call(N_getgid), to->size = 28;
  }
  if (once_in(10)) to->size = (u64)ONE(0, 15, 16, 17, 19, 23, -1);
  return once_in(10) ? (u64)ONE(0, 8, 15, 16, 24, 64) : (to->size + 7) & ~7UL;
}
// Notes the descriptors that a call has received, and clears credentials, whose ids may differ.
static void note_received(u64 bytes) {
  for (u64 at = 0; at + 16 <= bytes && bytes <= ROOM;) {
    struct control* const got = (struct control*)(out + CONTROL_AT + at);
    if (got->size < 16 || got->size > bytes - at) return;
    for (u64 i = 0; i < (got->size - 16) / 4; ++i)
      if (got->type == CREDENTIALS)
        got->data[i] = 0;
      else
        note_kind((long)got->data[i], OTHER);
    at += (got->size + 7) & ~7UL;
  }
}
static void one_message(void) {
  static u64 message[7];
  static struct control control;
  const int reads = (int)draw(2);
  const u64 many = draw_parts(reads ? READS : SENDS);
  message[0] = message[1] = 0;
  message[2] = (u64)input_address(parts), message[3] = many, message[6] = 77;
  message[4] = (u64)(reads ? out + CONTROL_AT : input_address(&control));
  message[5] = reads ? (u64)ONE(0, 12, 16, 20, 24, 28, 32, 48, ROOM, ROOM) : draw_control(&control);
  long answer;
  if (reads)
    answer = made(recvmsg, descriptor_of(SOCKET), input_address(message),
                  FLAGS(0x2000, 2, 0x20, 0x40, 0x100, 0x40000000));
  else
    answer = made(sendmsg, descriptor_of(SOCKET), input_address(message),
                  FLAGS(0x2000, 0x40, 0x4000, 0x80));
  if (reads) note_received(message[5]);
  ((u32*)out)[61] = (u32)message[5], ((u32*)out)[62] = (u32)message[6];
  print_result(answer);
}
static void many_messages(void) {
  static struct {
    u64 message[7], size;
  } each[4];
  static u64 limit[2];
  const int reads = (int)draw(2);
  const u64 many = draw(4);
  for (u64 i = 0; i < 4; ++i) {
    parts[i][0] = (u64)(reads ? out + 40 * i : input_address(data + 8 * i));
    parts[i][1] = (u64)ONE(0, 1, 8, 20, 40);
    for (int n = 0; n < 7; ++n) each[i].message[n] = 0;
    each[i].message[2] = (u64)input_address(parts + i), each[i].message[3] = (u64)ONE(1, 1, 1, 0);
    each[i].message[6] = 77, each[i].size = 55;
  }
  limit[0] = (u64)ONE(0, 0, 0, -1), limit[1] = (u64)ONE(0, 1, 1000000000);
  if (reads)
    print_result(made(recvmmsg, descriptor_of(SOCKET), input_address(each), many,
                      FLAGS(0x2000, 2, 0x20, 0x40, 0x10000), once_in(3) ? limit : 0));
  else
    print_result(made(sendmmsg, descriptor_of(SOCKET), input_address(each), many,
                      FLAGS(0x2000, 0x40, 0x4000, 0x80)));
  clear();
  for (int i = 0; i < 4; ++i)
    ((u32*)out)[2 * i] = (u32)each[i].size, ((u32*)out)[2 * i + 1] = (u32)each[i].message[6];
  print_result(0);
}
// Binds sockets to one port, and listens at some; none is connected, so no port stays in use.
static void shared_port(void) {
  static struct {
    unsigned short family, port;
    unsigned char host[12];
  } at;
  long each[3];
  const long kind = ONE(1, 2);
  at.family = 2, at.port = 0x1B9E, at.host[0] = 127, at.host[3] = 1;
  for (int i = 0; i < 3; ++i) {
    each[i] = call(N_socket, 2, kind | NONBLOCK, 0);
    for (u64 options = draw(3); options--;) {
      words[5] = draw(4) != 0;
      print_result(made(setsockopt, each[i], 1, ONE(REUSE_ADDRESS, REUSE_PORT), words + 5, 4));
    }
    print_result(made(bind, each[i], &at, 16));
    if (once_in(3)) print_result(made(listen, each[i], 1));
  }
  for (int i = 0; i < 3; ++i) call(N_close, each[i]);
}
// Asks for credentials at a socket with a name, because Linux draws a name for one without.
static void ask_for_credentials(void) {
  static struct name own = {1, "\0ask"};
  const long by = descriptor_of(SOCKET);
  own.path[4] = (char)('0' + by % 64), call(N_bind, by, &own, 7);
  words[5] = draw(3) != 0;
  print_result(made(setsockopt, by, 1, 16, words + 5, 4));
}
static void messages(void) {
  switch (draw(12)) {
    case 0:
      if (once_in(3)) {
        const long from = descriptor_of(SOCKET);
        print_result(made(close, from));
        if ((u64)from < 64) kinds[from] = CLOSED;
      } else if (call(N_socketpair, 1, kind_of_socket(), 0, out) == 0) {
        note_kind(*(int*)out, SOCKET), note_kind(*(int*)(out + 4), SOCKET);
      }
      break;
    case 1:
      ask_for_credentials();
      break;
    case 2:
      shared_port();
      break;
    case 3:
    case 4:
    case 5:
      many_messages();
      break;
    default:
      one_message();
      break;
  }
}

// ---- memory

static u64 page_bytes(void) {
  return (u64)(once_in(8) ? ONE(0, 1, -1, -4096, 1L << 62) : ONE(1, 2, 3) * PAGE);
}
static char* page_address(void) {
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
      const u64 bytes = page_bytes();
      at = page_address();
      const int file = (int)once_in(3);
      const long shared = file ? ONE(2, 2, 2, 0) : ONE(2, 2, 2, 2, 0, 3);
      answer = made(mmap, at, bytes, ONE(0, 1, 3, 3, 3, 3),
                    shared | (file ? 0 : 0x20) | ONE(0x10, 0x10, 0x100000),
                    file ? regular_file() : -1, once_in(5) ? ONE(1, 8192, -4096) : 0);
      print_result(answer > 0 || answer < -4095 ? (answer == (long)at ? 0 : 1) : answer);
      break;
    }
    case 3:
    case 4:
      print_result(made(munmap, page_address(), page_bytes()));
      break;
    case 5:
    case 6:
      print_result(made(mprotect, page_address(), page_bytes(), ONE(0, 1, 3, 3, 3, 5)));
      break;
    case 7:
      at = page_address();
      answer = made(mremap, at, once_in(8) ? ONE(0, 1, -1) : ONE(1, 2, 3) * PAGE, page_bytes(),
                    ONE(0, 0, 0, 3, 3, 2, 8), page_address());
      print_result(answer > 0 || answer < -4095 ? 0 : answer);
      break;
    case 8:
      print_result(made(madvise, page_address(), once_in(8) ? ONE(0, 1, -1) : (long)draw(4) * PAGE,
                        ONE(0, 4, 4, 8, 1, 3, 99, -1)));
      break;
    case 9:
      print_result(made(msync, page_address(), page_bytes(), ONE(0, 1, 4, 5, 8)));
      break;
    case 10:
      if (draw(2))
        print_result(made(mlock, page_address(), ONE(0, 1, PAGE))),
            call(N_munlock, arguments[0], arguments[1]);
      else
        print_result(made(munlock, page_address(), ONE(0, 1, PAGE)));
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
      long fourth = (long)any_timespec();
      const long cmd = op & 127;
      if (cmd == 3 || cmd == 4 || cmd == 5) fourth = ONE(0, 1, -1, 5);
      if (cmd == 1 || cmd == 10) fourth = 0;
      if ((cmd == 0 || cmd == 9) && fourth == 0) fourth = 1;
      if (cmd == 9 && !once_in(3)) fourth = 1;
      answer = made(futex, draw(2) ? first : (u32*)((char*)first + (once_in(6) ? 2 : 0)), op,
                    ONE(0, 1, 2, -1), fourth, second, ONE(0, 1, 2, -1, 0x12345678, 0x51001000));
      ((u32*)out)[0] = words[0], ((u32*)out)[1] = words[1], ((u32*)out)[2] = words[2];
      print_result(answer);
      words[0] = words[1] = words[2] = 0;
      break;
    }
    case 4: {
      static const u64 sets[] = {~0UL, 1UL << 6, ~0UL & ~(1UL << 6), ~0UL};
      const long how = ONE(0, 1, 2, 3, -1);
      answer = made(rt_sigprocmask, how, once_in(3) ? input_address(sets + (how & 3)) : 0,
                    output_address(), once_in(6) ? ONE(0, 4, 16) : 8);
      print_result(answer);
      break;
    }
    case 5: {
      static u64 action[4] = {1, 0, 0, 0};
      action[0] = draw(2);
      answer = made(rt_sigaction, once_in(4) ? ONE(0, 65, -1, 9, 19) : ANY(signals),
                    draw(2) ? input_address(action) : 0, 0, once_in(8) ? 4 : 8);
      print_result(answer);
      break;
    }
    case 6:
      answer = made(rt_sigpending, output_address(), ONE(0, 4, 8, 8, 8, 9));
      print_result(answer);
      break;
    case 7:
    case 8:
      print_result(
          made(kill, once_in(6) ? 999999 : self, once_in(4) ? ONE(0, 65, -1) : ANY(signals)));
      break;
    case 9:
      print_result(made(tgkill, once_in(6) ? ONE(0, -1, 999999) : self,
                        once_in(6) ? ONE(0, -1, 999999) : thread,
                        once_in(4) ? ONE(0, 65, -1) : ANY(signals)));
      break;
    case 10:
      print_result(made(tkill, once_in(4) ? ONE(0, -1, 999999) : thread,
                        once_in(4) ? ONE(0, 65, -1) : ANY(signals)));
      break;
    case 11:
    case 12: {
      static u64 set;
      set = draw(4) ? 1UL << 9 | 1UL << 11 | 1UL << 33 : draw(2) ? 1UL << 63 : 0;
      answer = made(rt_sigtimedwait, input_address(&set), once_in(3) ? out : 0,
                    once_in(6) ? any_timespec() : at_once, once_in(8) ? 4 : 8);
      clear();
      print_result(answer);
      break;
    }
    case 13: {
      static u64 set;
      set = draw(2) ? 1UL << 9 | 1UL << 33 : ~0UL;
      answer = made(signalfd4, draw(3) ? -1 : descriptor_of(SIGNALS), input_address(&set),
                    once_in(8) ? 4 : 8, NONBLOCK | FLAGS(1, CLOEXEC));
      print_result(note_kind(answer, SIGNALS));
      break;
    }
    case 14:
      answer = made(read, descriptor_of(SIGNALS), output_address(), ONE(0, 127, 128, 200, 256));
      for (int i = 3; i < 5; ++i) ((u32*)out)[i] = 0, ((u32*)out)[32 + i] = 0;
      print_result(answer);
      break;
    case 15:
      answer = made(clock_gettime, ONE(0, 1, 4, 7, 2, 3, 12, 16, 10, -1, 99), output_address());
      clear();
      print_result(answer);
      break;
    case 16:
      if (draw(2)) {
        answer = made(clock_getres, ONE(0, 1, 7, 2, 3, 12, -1, 99), output_address());
        clear();
        print_result(answer);
      } else {
        print_result(
            made(clock_nanosleep, ONE(0, 1, 7, 3, 4, 5, 12, -1), ONE(0, 1, 1), any_timespec(), 0));
      }
      break;
    case 17:
      if (draw(2)) {
        answer = made(getrandom, output_address(), ONE(0, 1, 16, 200), FLAGS(8, 1, 2, 4));
        clear();
        print_result(answer);
      } else {
        print_result(made(nanosleep, any_timespec(), output_address()));
      }
      break;
    case 18: {
      static u64 limit[2];
      limit[0] = (u64)ONE(20, 30, 40), limit[1] = (u64)ONE(20, 40, 40, 40);
      if (limit[1] == 20 && limit[0] <= 20) limit[1] = 40;
      answer = made(prlimit64, once_in(6) ? 999999 : 0, ONE(7, 7, 7, 16, -1),
                    draw(2) ? input_address(limit) : 0, output_address());
      print_result(answer);
      break;
    }
    case 19:
      switch (draw(5)) {
        case 0:
          print_result(made(sched_get_priority_max, ONE(0, 1, 2, 3, 4, 5, 7, -1)));
          break;
        case 1:
          print_result(made(sched_get_priority_min, ONE(0, 1, 2, 3, 4, 5, 7, -1)));
          break;
        case 2:
          print_result(made(sched_getscheduler, ONE(0, 0, -1, 999999)));
          break;
        case 3:
          print_result(made(sched_getparam, ONE(0, 0, -1, 999999), output_address()));
          break;
        case 4:
          words[4] = (u32)ONE(0, 0, 1, -1, 100);
          print_result(made(sched_setscheduler, ONE(0, 0, -1, 999999), ONE(0, 0, 3, 5, 4, 99, -1),
                            input_address(words + 4)));
          break;
      }
      break;
    case 20: {
      static u64 set;
      set = (u64)ONE(1, 1, 0);
      if (draw(2)) {
        print_result(
            made(sched_setaffinity, ONE(0, 0, -1, 999999), ONE(8, 8, 1, 0), input_address(&set)));
      } else {
        answer = made(sched_getaffinity, ONE(0, 0, -1, 999999), ONE(128, 128, 4, 1, 129), out);
        clear();
        print_result(answer > 0 ? 0 : answer);
      }
      break;
    }
    case 21:
      switch (draw(4)) {
        case 0:
          print_result(made(getpriority, ONE(0, 0, 3, -1), ONE(0, 0, -1, 999999)));
          break;
        case 1:
          print_result(made(setpriority, ONE(0, 0, 3, -1), ONE(0, 0, -1, 999999), ONE(0, 5, 100)));
          break;
        case 2: {
          static u64 stack[3];
          stack[0] = (u64)arena, stack[1] = (u64)ONE(0, 0, 2, 1, 4), stack[2] = (u64)ONE(8192, 100);
          answer = made(sigaltstack, draw(2) ? input_address(stack) : 0, output_address());
          ((u64*)out)[0] = *(u64*)edge = 0;
          print_result(answer);
          break;
        }
        case 3: {
          static u64 timer[4];
          timer[0] = (u64)ONE(0, 5), timer[1] = (u64)ONE(0, 0, 1000000, -1);
          timer[2] = (u64)ONE(0, 1000, -1), timer[3] = 0;
          answer = made(setitimer, ONE(0, 0, 3, -1), input_address(timer), output_address());
          for (int i = 2; i < 4; ++i) ((u64*)out)[i] = ((u64*)out)[i] ? i == 2 : 0;
          *(u64*)edge = 0;
          print_result(answer);
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
  note_kind(call(N_openat, AT_FDCWD, "a", NONBLOCK | 2), FILE_);
  note_kind(call(N_openat, AT_FDCWD, "d", NONBLOCK | 0x10000), FOLDER);
  call(N_socketpair, 1, ONE(1, 2, 5) | NONBLOCK, 0, ends);
  note_kind(ends[0], SOCKET), note_kind(ends[1], SOCKET);
  note_kind(call(N_epoll_create1, 0), EPOLL);
  note_kind(call(N_eventfd2, 0, NONBLOCK), EVENT);
  call(N_pipe2, ends, NONBLOCK);
  note_kind(ends[0], PIPE), note_kind(ends[1], PIPE);
  call(N_prlimit64, 0, 7, few, 0);
  call(N_setpriority, 0, 0, 0);
}

int run(int count, char** command_words) {
  static void (*const each[])(void) = {names_of_files, open_files, contents, descriptors, events,
                                       sockets,        memory,     others,   messages};
  // Each seed mixes calls of four subjects from a row, as indices of `each`.
  static const unsigned char subjects[][8] = {
      {0, 0, 0, 1}, {1, 2, 2, 3}, {4, 4, 3, 1}, {5, 5, 5, 3}, {6, 6, 1, 6},
      {7, 7, 7, 7}, {4, 5, 7, 4}, {1, 2, 6, 2}, {3, 4, 5, 5}, {0, 5, 1, 5}};
  static const unsigned char of_messages[][8] = {{8, 8, 8, 8}, {8, 8, 5, 3}};
  u64 seed = 0;
  for (const char* s = count > 1 ? command_words[1] : "0"; *s; ++s)
    seed = seed * 10 + (u64)(*s - '0');
  const unsigned char* const row =
      seed < FIRST_OF_MESSAGES ? subjects[seed % (sizeof subjects / 8)] : of_messages[seed % 2];
  prints_arguments = count > 2;
  state = (seed + 1) * 0x9E3779B97F4A7C15;
  for (int i = 0; i < 10; ++i) draw(2);
  prepare();
  for (int i = 0; i < CALLS; ++i) {
    clear();
    each[once_in(8) ? draw(8) : row[draw(4)]]();
  }
  return 0;
}

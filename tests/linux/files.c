// Checks files that a program makes. Exit status 0, or the number of the failed check.
#include "raw.h"

enum {
  HERE = -100,
  CREATE = 0100,
  EXCLUSIVE = 0200,
  EMPTY = 01000,
  APPEND = 02000,
  FOLDER = 0200000,
  READ = 0,
  WRITE = 1,
  BOTH = 2,
};

static struct thread threads[4];
static char text[8192], other[8192];

static long open_at(const char* path, long flags) {
  return call(N_openat, HERE, path, flags, 0644);
}
static int write_file(const char* path, const char* what) {
  const long file = open_at(path, WRITE | CREATE | EMPTY);
  if (file < 0 || call(N_write, file, what, length(what)) != (long)length(what)) return 1;
  return (int)call(N_close, file);
}
static int has_text(const char* path, const char* what) {
  const long file = open_at(path, READ);
  if (file < 0) return 0;
  const long size = call(N_read, file, text, sizeof text - 1);
  text[size < 0 ? 0 : size] = 0;
  call(N_close, file);
  return same(text, what);
}

static int written(void) {
  if (write_file("/tmp/uc-a", "one two") || !has_text("/tmp/uc-a", "one two")) return 1;
  if (open_at("/tmp/uc-a", WRITE | CREATE | EXCLUSIVE) != -17) return 2;
  const long file = open_at("/tmp/uc-a", BOTH);
  if (call(N_pwrite64, file, "TWO", 3, 4) != 3 || !has_text("/tmp/uc-a", "one TWO")) return 3;
  if (call(N_lseek, file, 0, 2) != 7 || call(N_lseek, file, 3, 0) != 3) return 4;
  if (call(N_read, file, text, 100) != 4 || text[1] != 'T') return 5;
  if (call(N_ftruncate, file, 3) || !has_text("/tmp/uc-a", "one")) return 6;
  if (call(N_ftruncate, file, 5000) || call(N_pread64, file, text, 8000, 0) != 5000) return 7;
  if (text[3] || text[4] || text[4999]) return 8;  // truncated bytes read as zero
  if (call(N_read, file, text, 9) != 9 || call(N_close, file)) return 9;
  if (call(N_truncate, "/tmp/uc-a", 2) || !has_text("/tmp/uc-a", "on")) return 10;
  const long end = open_at("/tmp/uc-a", WRITE | APPEND);
  if (call(N_write, end, "e", 1) != 1 || call(N_read, end, text, 1) != -9) return 11;
  if (!has_text("/tmp/uc-a", "one")) return 12;
  const long reader = open_at("/tmp/uc-a", READ);
  if (call(N_write, reader, "e", 1) != -9 || call(N_ftruncate, reader, 1) != -22) return 13;
  if (open_at("/tmp", WRITE) != -21 || open_at("/tmp/uc-a", FOLDER) != -20) return 14;
  if (open_at("/tmp/uc-none", READ) != -2 || open_at("/tmp/uc-a/x", READ) != -20) return 15;
  return call(N_unlinkat, HERE, "/tmp/uc-a", 0) == 0 ? 0 : 16;
}

// statfs() describes tmpfs, whose number of free blocks falls as files grow.
static int statfs(void) {
  unsigned long before[15], after[15];
  if (call(N_statfs, "/tmp", before) || before[0] != 0x01021994 || before[8] != 255) return 1;
  const long file = open_at("/tmp/uc-t", WRITE | CREATE);
  if (call(N_ftruncate, file, 0) || call(N_write, file, other, 4096) != 4096) return 2;
  if (call(N_fstatfs, file, after) || after[1] != 4096 || after[2] != before[2]) return 3;
  if (after[3] >= before[3] || after[3] > after[2]) return 4;
  if (call(N_statfs, "/tmp/none", after) != -2 || call(N_fstatfs, 99, after) != -9) return 5;
  return call(N_unlinkat, HERE, "/tmp/uc-t", 0) == 0 ? 0 : 6;
}

static int named(void) {
  char at[64];
  if (call(N_mkdirat, HERE, "/tmp/uc-d", 0755) || call(N_mkdirat, HERE, "/tmp/uc-d", 0755) != -17)
    return 1;
  if (call(N_chdir, "/tmp/uc-d") || call(N_getcwd, at, 64) != 10 || !same(at, "/tmp/uc-d"))
    return 2;
  if (write_file("a", "A") || write_file("b", "B") || !has_text("../uc-d/./a", "A")) return 3;
  if (call(N_renameat2, HERE, "a", HERE, "b", 1) != -17) return 4;
  if (call(N_renameat2, HERE, "a", HERE, "b", 0) || !has_text("b", "A") || has_text("a", "A"))
    return 5;
  if (write_file("a", "C") || call(N_renameat2, HERE, "a", HERE, "b", 2)) return 6;
  if (!has_text("a", "A") || !has_text("b", "C")) return 7;
  if (call(N_linkat, HERE, "a", HERE, "c", 0) || write_file("c", "new") || !has_text("a", "new"))
    return 8;
  if (call(N_symlinkat, "b", HERE, "l") || !has_text("l", "C")) return 9;
  if (call(N_readlinkat, HERE, "l", at, 64) != 1 || at[0] != 'b') return 10;
  if (call(N_mkdirat, HERE, "in", 0755) || write_file("in/x", "x")) return 11;
  if (call(N_renameat2, HERE, "in", HERE, "in/side", 0) != -22) return 12;
  if (call(N_unlinkat, HERE, "in", 0x200) != -39 || call(N_unlinkat, HERE, "in", 0) != -21)
    return 13;
  const long open = open_at("in/x", BOTH);
  if (call(N_unlinkat, HERE, "in/x", 0) || call(N_unlinkat, HERE, "in", 0x200)) return 14;
  if (call(N_pread64, open, at, 9, 0) != 1 || at[0] != 'x') return 15;  // the open file has no name
  const char* const rest[] = {"a", "b", "c", "l"};
  for (int i = 0; i < 4; ++i)
    if (call(N_unlinkat, HERE, rest[i], 0)) return 16;
  return call(N_chdir, "/") || call(N_unlinkat, HERE, "/tmp/uc-d", 0x200) ? 17 : 0;
}

static int devices(void) {
  const long null = open_at("/dev/null", BOTH), zero = open_at("/dev/zero", BOTH);
  const long full = open_at("/dev/full", BOTH), chance = open_at("/dev/urandom", READ);
  for (int i = 0; i < 64; ++i) text[i] = 1;
  if (call(N_write, null, text, 64) != 64 || call(N_read, null, text, 64) != 0) return 1;
  if (call(N_read, zero, text, 64) != 64 || text[0] || text[63]) return 2;
  if (call(N_write, full, text, 64) != -28) return 3;
  if (call(N_read, chance, text, 64) != 64) return 4;
  int ones = 0;
  for (int i = 0; i < 512; ++i) ones += text[i / 8] >> i % 8 & 1;
  if (ones < 150 || ones > 362) return 5;
  char* const mapped = (char*)call(N_mmap, 0, 4096, 3, 2, zero, 0);
  return (long)mapped > 0 && mapped[5] == 0 ? 0 : 6;
}

static char* map(long file, long size, long offset) {
  return (char*)call(N_mmap, 0, size, 3, 1, file, offset);
}
// pread() sees stores to a shared mapping, and loads see pwrite().
static int mapped(void) {
  const long file = open_at("/dev/shm/uc-m", BOTH | CREATE | EMPTY);
  if (call(N_ftruncate, file, 12288)) return 1;
  call(N_pwrite64, file, "before", 6, 4096);
  char* const at = map(file, 12288, 0);
  if (at[4096] != 'b' || at[0]) return 2;
  at[0] = 'x', at[8191] = 'y';
  if (call(N_pread64, file, text, 8192, 0) != 8192 || text[0] != 'x' || text[8191] != 'y') return 3;
  call(N_pwrite64, file, "after", 5, 4096);
  if (at[4096] != 'a' || at[4101] != 'e' || at[8191] != 'y') return 4;
  char* const again = map(file, 4096, 4096);
  again[1] = 'F';
  if (at[4097] != 'F') return 5;
  if (call(N_munmap, again, 4096)) return 6;
  if (call(N_ftruncate, file, 4098) || call(N_ftruncate, file, 12288)) return 7;
  if (call(N_pread64, file, text, 8, 4096) != 8 || text[1] != 'F' || text[2]) return 8;
  if (call(N_munmap, at, 12288)) return 9;
  char* const private = (char*)call(N_mmap, 0, 4096, 3, 2, file, 0);
  if (private[0] != 'x') return 10;
  private[0] = 'z';
  if (call(N_pread64, file, text, 1, 0) != 1 || text[0] != 'x') return 11;
  return call(N_unlinkat, HERE, "/dev/shm/uc-m", 0) == 0 ? 0 : 12;
}

// A store to a mapped file comes before a call that follows it, which reads or changes the file.
static int stored(void) {
  const long file = call(N_memfd_create, "file", 0);
  call(N_ftruncate, file, 20480);
  volatile char* const at = map(file, 20480, 0);
  for (int i = 0; i < 20480; i += 4096) at[i + 9] = 1;
  at[9] = 7, call(N_pwrite64, file, "a", 1, 9);
  if (at[9] != 'a') return 1;
  at[4105] = 7;
  if (call(N_pread64, file, text, 1, 4105) != 1 || text[0] != 7) return 2;
  at[8201] = 7, call(N_fallocate, file, 3, 8192, 4096);
  if (at[8201]) return 3;
  at[16393] = 7, call(N_ftruncate, file, 16384), call(N_ftruncate, file, 20480);
  return at[16393] ? 4 : 0;
}

static u32* shared;
static long count_up(long times) {
  for (long i = 0; i < times; ++i) __atomic_fetch_add(shared, 1, __ATOMIC_RELAXED);
  return 0;
}
static int mapped_by_all(void) {
  u32 value = 0;
  const long file = call(N_memfd_create, "counter", 0);
  call(N_ftruncate, file, 4096);
  shared = (u32*)map(file, 4096, 0);
  for (int i = 0; i < 4; ++i) start(&threads[i], count_up, 25);
  for (int i = 0; i < 4; ++i) join(&threads[i]);
  call(N_pread64, file, &value, 4, 0);
  return value == 100 ? 0 : 1;
}

// Threads that append at the same time lose no line.
static long append_lines(long letter) {
  char line[32];
  for (int i = 0; i < 31; ++i) line[i] = (char)letter;
  line[31] = '\n';
  const long file = open_at("/tmp/uc-log", WRITE | APPEND);
  for (int i = 0; i < 20; ++i)
    if (call(N_write, file, line, 32) != 32) return 1;
  return call(N_close, file);
}
static int appended(void) {
  if (write_file("/tmp/uc-log", "")) return 1;
  for (int i = 0; i < 3; ++i) start(&threads[i], append_lines, 'a' + i);
  for (int i = 0; i < 3; ++i) join(&threads[i]);
  const long file = open_at("/tmp/uc-log", READ);
  if (call(N_read, file, text, sizeof text) != 3 * 20 * 32) return 2;
  for (int line = 0; line < 60; ++line)
    for (int i = 1; i < 31; ++i)
      if (text[32 * line + i] != text[32 * line]) return 3;
  return call(N_unlinkat, HERE, "/tmp/uc-log", 0) == 0 ? 0 : 4;
}

static int sparse(void) {
  const long file = open_at("/tmp/uc-s", BOTH | CREATE | EMPTY);
  if (call(N_pwrite64, file, "end", 3, 1L << 40) != 3) return 1;
  if (call(N_lseek, file, 0, 2) != (1L << 40) + 3) return 2;
  if (call(N_pread64, file, text, 8, (1L << 40) - 4) != 7 || text[0] || text[4] != 'e') return 3;
  if (call(N_ftruncate, file, 1L << 41) != 0) return 4;
  return call(N_unlinkat, HERE, "/tmp/uc-s", 0) == 0 ? 0 : 5;
}

static int lists(void) {
  const long folder = open_at("/tmp/uc-l", 0);
  (void)folder;
  call(N_mkdirat, HERE, "/tmp/uc-l", 0755);
  write_file("/tmp/uc-l/one", ""), write_file("/tmp/uc-l/two", "");
  const long at = open_at("/tmp/uc-l", FOLDER);
  int found = 0;
  for (long size; (size = call(N_getdents64, at, text, sizeof text)) > 0;)
    for (long i = 0; i < size; i += *(unsigned short*)(text + i + 16)) ++found;
  if (found != 4) return 1;
  call(N_unlinkat, HERE, "/tmp/uc-l/one", 0), call(N_unlinkat, HERE, "/tmp/uc-l/two", 0);
  return call(N_unlinkat, HERE, "/tmp/uc-l", 0x200) == 0 ? 0 : 2;
}

// The user's folder changes only in memory; files that describe the machine cannot be changed.
static int changes_folder(void) {
  if (!has_text("/files/some/text", "as given") || write_file("/files/some/text", "changed"))
    return 1;
  if (!has_text("some/text", "changed") || write_file("made", "new")) return 2;
  if (write_file("/tmp/kept", "too") || call(N_unlinkat, HERE, "/files/other", 0)) return 3;
  if (open_at("/files/other", READ) != -2) return 4;
  if (open_at("/proc/cpuinfo", WRITE) != -30 || open_at("/sys/x", WRITE | CREATE) != -30) return 5;
  const long file = open_at("/files/in/memory", BOTH | CREATE);
  if (file != -2 || call(N_mkdirat, HERE, "in", 0755)) return 6;
  const long mapped_file = open_at("/files/in/memory", BOTH | CREATE);
  call(N_ftruncate, mapped_file, 8);
  char* const at = map(mapped_file, 4096, 0);
  for (int i = 0; i < 8; ++i) at[i] = 'm';
  return 0;
}

static int fills(void) {
  const long file = open_at("/tmp/uc-big", WRITE | CREATE);
  for (;;)
    if (call(N_write, file, other, sizeof other) != sizeof other) return 1;
}

static int shows(const char* path) {
  const long file = open_at(path, READ);
  if (file < 0) return (int)-file;
  for (long n; (n = call(N_read, file, text, 300)) > 0;) call(N_write, 1, text, n);
  return 0;
}

int run(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  if (same(what, "written")) return written();
  if (same(what, "statfs")) return statfs();
  if (same(what, "named")) return named();
  if (same(what, "devices")) return devices();
  if (same(what, "mapped")) return mapped();
  if (same(what, "stored")) return stored();
  if (same(what, "mapped_by_all")) return mapped_by_all();
  if (same(what, "appended")) return appended();
  if (same(what, "sparse")) return sparse();
  if (same(what, "lists")) return lists();
  if (same(what, "changes_folder")) return changes_folder();
  if (same(what, "fills")) return fills();
  if (same(what, "shows")) return shows(words[2]);
  return 100;
}

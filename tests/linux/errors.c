// Prints the results of system calls that fail or almost fail; the argument names the subject.
// Results that are descriptors or addresses are printed as 0.
#include "results.h"

enum { AT_FDCWD = -100, RDWR = 2, CREATE = 0x40, NONBLOCK = 0x800, DIRECTORY = 0x10000 };
enum { UNIX = 1, INTERNET = 2, STREAM = 1, DATAGRAM = 2, SEQUENCE = 5 };

static char bytes[8192];

// ---- sockets

struct name {
  unsigned short family;
  char path[30];
};
static struct name name_of(const char* path) {
  struct name name = {UNIX, {0}};
  for (u64 i = 0; path[i]; ++i) name.path[i] = path[i];
  return name;
}
static struct name abstract_of(const char* path) {
  struct name name = {UNIX, {0}};
  for (u64 i = 0; path[i]; ++i) name.path[i + 1] = path[i];
  return name;
}
static struct name port(u32 number) {
  return (struct name){INTERNET, {(char)(number >> 8), (char)number, 127, 0, 0, 1}};
}
static long new_socket(long family, long type) { return call(N_socket, family, type | NONBLOCK); }
static void pair(long type, int ends[2]) { call(N_socketpair, UNIX, type | NONBLOCK, 0, ends); }

static const long kinds[] = {STREAM, DATAGRAM, SEQUENCE};
static int sockets(void) {
  print_heading("made");
  for (long family = 0; family < 4; ++family)
    for (long type = 0; type < 7; ++type) print_error(call(N_socket, family, type, 0));
  print_heading("protocols");
  print_error(call(N_socket, UNIX, STREAM, 1)), print_error(call(N_socket, UNIX, STREAM, 7));
  print_error(call(N_socket, INTERNET, STREAM, 6)),
      print_error(call(N_socket, INTERNET, STREAM, 17));
  print_error(call(N_socket, INTERNET, DATAGRAM, 17)),
      print_error(call(N_socket, INTERNET, DATAGRAM, 6));
  int ends[2];
  for (int i = 0; i < 3; ++i) {
    print_heading("pair whose other end is closed");
    pair(kinds[i], ends);
    print_error(call(N_read, ends[0], bytes, 8));
    call(N_close, ends[1]);
    print_result(call(N_read, ends[0], bytes, 8));
    print_result(call(N_sendto, ends[0], bytes, 8, 0x4000, 0, 0));
    print_result(call(N_read, ends[0], bytes, 8));
    print_error(call(N_getpeername, ends[0], bytes, bytes + 200));
    print_heading("pair whose other end is closed with bytes unread");
    pair(kinds[i], ends);
    call(N_write, ends[0], bytes, 8);
    call(N_close, ends[1]);
    print_result(call(N_read, ends[0], bytes, 8)), print_result(call(N_read, ends[0], bytes, 8));
    print_heading("pair shut down");
    pair(kinds[i], ends);
    print_error(call(N_shutdown, ends[0], 3)), print_error(call(N_shutdown, ends[0], 1));
    print_result(call(N_read, ends[1], bytes, 8));
    print_result(call(N_sendto, ends[0], bytes, 8, 0x4000));
    print_result(call(N_sendto, ends[1], bytes, 8, 0x4000));
    print_error(call(N_shutdown, ends[1], 0));
    print_result(call(N_read, ends[1], bytes, 8));
    print_result(call(N_sendto, ends[0], bytes, 8, 0x4000));
    print_heading("unconnected");
    const long alone = new_socket(UNIX, kinds[i]);
    print_result(call(N_read, alone, bytes, 8));
    print_result(call(N_write, alone, bytes, 8));
    print_result(call(N_recvfrom, alone, bytes, 8, 0, 0, 0));
    u32 size = 100;
    print_error(call(N_getpeername, alone, bytes, &size));
    print_error(call(N_accept4, alone, 0, 0, 0));
    print_error(call(N_listen, alone, 3));
    print_heading("names");
    struct name nobody = name_of("/tmp/nobody"), abstract = abstract_of("nobody");
    struct name file = name_of("/tmp/a-file"), other = port(9);
    call(N_close, call(N_openat, AT_FDCWD, file.path, CREATE | RDWR, 0600));
    print_error(call(N_connect, alone, &nobody, 13)),
        print_error(call(N_connect, alone, &abstract, 9));
    print_error(call(N_connect, alone, &file, 13)), print_error(call(N_connect, alone, &other, 16));
    print_error(call(N_connect, alone, &nobody, 1)),
        print_error(call(N_connect, alone, &nobody, 2));
    print_error(call(N_connect, alone, &nobody, 200)), print_error(call(N_bind, alone, &file, 13));
    print_error(call(N_bind, alone, &nobody, 200)), print_error(call(N_bind, alone, &other, 16));
    print_result(call(N_sendto, alone, bytes, 8, 0x4000, &abstract, 9));
    print_result(call(N_sendto, alone, bytes, 8, 0x4000, &nobody, 13));
    print_error(call(N_bind, alone, &abstract, 9));
    print_error(call(N_bind, alone, &abstract, 9));
    const long again = new_socket(UNIX, kinds[i]);
    print_error(call(N_bind, again, &abstract, 9));
    print_error(call(N_connect, again, &abstract, 9));
    const long of_another_type = new_socket(UNIX, kinds[(i + 1) % 3]);
    print_error(call(N_connect, of_another_type, &abstract, 9));
    print_heading("listens");
    print_error(call(N_listen, alone, 1));
    print_error(call(N_accept4, alone, 0, 0, 0)), print_error(call(N_accept4, alone, 0, 0, 1));
    print_result(call(N_read, alone, bytes, 8));
    print_error(call(N_connect, again, &abstract, 9)),
        print_error(call(N_connect, again, &abstract, 9));
    print_error(call(N_connect, alone, &abstract, 9));
    call(N_close, alone), call(N_close, again);
    print_error(call(N_connect, of_another_type, &abstract, 9));
    print_heading("names of files");
    const long server = new_socket(UNIX, kinds[i]), client = new_socket(UNIX, kinds[i]);
    struct name under = name_of("/tmp/none/x"), folder = name_of("/tmp");
    print_error(call(N_bind, server, &under, 14)), print_error(call(N_bind, server, &folder, 7));
    print_error(call(N_bind, server, &nobody, 13)), print_error(call(N_bind, client, &nobody, 13));
    print_error(call(N_connect, client, &nobody, 13)),
        print_error(call(N_connect, of_another_type, &nobody, 13));
    print_error(call(N_openat, AT_FDCWD, nobody.path, 0)), print_error(call(N_listen, server, 1));
    print_error(call(N_connect, client, &nobody, 13)), call(N_close, client), call(N_close, server);
    print_error(call(N_connect, of_another_type, &nobody, 13));
    const long next = new_socket(UNIX, kinds[i]);
    print_error(call(N_connect, next, &nobody, 13)), print_error(call(N_bind, next, &nobody, 13));
    print_error(call(N_unlinkat, AT_FDCWD, nobody.path, 0)),
        print_error(call(N_connect, next, &nobody, 13));
    print_error(call(N_bind, next, &nobody, 13)),
        print_error(call(N_unlinkat, AT_FDCWD, nobody.path, 0));
    print_heading("shut down and unconnected");
    const long mute = new_socket(UNIX, kinds[i]);
    print_error(call(N_shutdown, mute, 2));
    if (kinds[i] == DATAGRAM) print_result(call(N_read, mute, bytes, 8));
    call(N_close, mute), call(N_close, next), call(N_close, of_another_type);
    call(N_unlinkat, AT_FDCWD, file.path, 0);
  }
  print_heading("over loopback");
  const long stream = new_socket(INTERNET, STREAM), datagram = new_socket(INTERNET, DATAGRAM);
  struct name here = port(40123);
  print_result(call(N_read, stream, bytes, 8)),
      print_result(call(N_sendto, stream, bytes, 8, 0x4000));
  print_result(call(N_read, datagram, bytes, 8)), print_result(call(N_write, datagram, bytes, 8));
  print_error(call(N_shutdown, stream, 2)), print_error(call(N_shutdown, datagram, 2));
  print_error(call(N_listen, datagram, 2)), print_error(call(N_accept4, stream, 0, 0, 0));
  print_error(call(N_connect, stream, &here, 3)), print_error(call(N_bind, stream, &here, 8));
  print_error(call(N_bind, stream, &here, 16)), print_error(call(N_bind, stream, &here, 16));
  const long again = new_socket(INTERNET, STREAM);
  print_error(call(N_bind, again, &here, 16));
  print_heading("no sockets");
  const long file = call(N_openat, AT_FDCWD, "/", 0);
  print_error(call(N_listen, file, 1)), print_error(call(N_bind, file, &here, 16));
  print_result(call(N_recvfrom, file, bytes, 8)), print_result(call(N_sendto, 999, bytes, 8));
  print_error(call(N_shutdown, file, 0)), print_error(call(N_getsockname, 999, bytes, bytes));
  u32 size = 4;
  print_heading("options");
  print_error(call(N_getsockopt, stream, 1, 3, bytes, &size));
  print_error(call(N_getsockopt, stream, 1, 9999, bytes, &size));
  print_error(call(N_setsockopt, stream, 1, 9999, bytes, 4));
  print_error(call(N_setsockopt, stream, 1, 2, bytes, 2));
  say("\n");
  return 0;
}

// ---- names of files

static void folder(const char* path) { call(N_mkdirat, AT_FDCWD, path, 0700); }
static void file(const char* path) {
  call(N_close, call(N_openat, AT_FDCWD, path, CREATE | RDWR, 0600));
}
static long renamed(const char* from, const char* to, long flags) {
  return print_error(call(N_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags));
}
static int names(void) {
  folder("/tmp/n"), call(N_chdir, "/tmp/n");
  folder("d"), folder("d/e"), folder("empty"), file("f"), file("g"), file("d/x");
  call(N_symlinkat, "f", AT_FDCWD, "l"), call(N_symlinkat, "d", AT_FDCWD, "ld");
  call(N_symlinkat, "loop", AT_FDCWD, "loop"), call(N_symlinkat, "none", AT_FDCWD, "dangles");
  print_heading("kinds");
  renamed("f", "d", 0), renamed("d", "f", 0), renamed("d", "d/e/under", 0), renamed("d", "d/e", 0);
  renamed("empty", "d", 0), renamed("none", "f", 0), renamed("f", "none/f", 0);
  renamed("f", "f/g", 0), renamed("f", "f", 0), renamed("d/e", "d", 0);
  print_heading("slashes");
  renamed("f", "new/", 0), renamed("f/", "new", 0), renamed("f/", "g", 0), renamed("f", "g/", 0);
  renamed("empty/", "other/", 0), renamed("other", "empty", 0), renamed("l/", "m", 0);
  renamed("ld/", "m", 0), renamed("none/", "m", 0);
  print_heading("dots");
  renamed(".", "m", 0), renamed("d/..", "m", 0), renamed("f", ".", 0), renamed("f", "d/..", 0);
  renamed("empty", "d/.", 0), renamed("/", "m", 0), renamed("f", "/", 0), renamed("d/.", "m", 0);
  renamed("", "m", 0), renamed("f", "", 0);
  print_heading("flags");
  renamed("f", "g", 1), renamed("f", "f", 1), renamed("none", "g", 1), renamed("f", "none", 2);
  renamed("f", "g", 3), renamed("f", "g", 8), renamed("none", "none", 0);
  renamed("f", "d/e/f", 2), renamed("d", "d/e", 2), renamed("d/e", "d", 2), renamed("f", "d/e", 2);
  renamed("d/e", "f", 2), renamed("f", "loop/x", 0), renamed("loop", "loop", 0);
  renamed("loop", "loop2", 0), renamed("loop2", "loop", 0);
  print_heading("removed");
  print_error(call(N_unlinkat, AT_FDCWD, "d", 0)),
      print_error(call(N_unlinkat, AT_FDCWD, "d", 0x200));
  print_error(call(N_unlinkat, AT_FDCWD, "f", 0x200)),
      print_error(call(N_unlinkat, AT_FDCWD, "none", 0));
  print_error(call(N_unlinkat, AT_FDCWD, ".", 0x200)),
      print_error(call(N_unlinkat, AT_FDCWD, "d/..", 0x200));
  print_error(call(N_unlinkat, AT_FDCWD, "d/e/.", 0x200)),
      print_error(call(N_unlinkat, AT_FDCWD, "/", 0x200));
  print_error(call(N_unlinkat, AT_FDCWD, "f/", 0)),
      print_error(call(N_unlinkat, AT_FDCWD, "ld/", 0x200));
  print_error(call(N_unlinkat, AT_FDCWD, "ld", 0x200)),
      print_error(call(N_unlinkat, AT_FDCWD, "f", 1));
  print_error(call(N_unlinkat, AT_FDCWD, "", 0)), print_error(call(N_unlinkat, AT_FDCWD, "d/.", 0));
  print_heading("made");
  print_error(call(N_mkdirat, AT_FDCWD, "f", 0700)),
      print_error(call(N_mkdirat, AT_FDCWD, "dangles", 0700));
  print_error(call(N_mkdirat, AT_FDCWD, ".", 0700)),
      print_error(call(N_mkdirat, AT_FDCWD, "f/x", 0700));
  print_error(call(N_mkdirat, AT_FDCWD, "new/", 0700)),
      print_error(call(N_mkdirat, AT_FDCWD, "", 0700));
  print_error(call(N_mkdirat, AT_FDCWD, "/", 0700)),
      print_error(call(N_mkdirat, AT_FDCWD, "loop/x", 0700));
  print_error(call(N_symlinkat, "", AT_FDCWD, "s")),
      print_error(call(N_symlinkat, "a", AT_FDCWD, "f"));
  print_error(call(N_symlinkat, "a", AT_FDCWD, "none/s")),
      print_error(call(N_symlinkat, "a", AT_FDCWD, "s/"));
  print_error(call(N_linkat, AT_FDCWD, "d", AT_FDCWD, "h", 0));
  print_error(call(N_linkat, AT_FDCWD, "f", AT_FDCWD, "g", 0));
  print_error(call(N_linkat, AT_FDCWD, "f", AT_FDCWD, "h", 0));
  print_error(call(N_linkat, AT_FDCWD, "f", AT_FDCWD, "h", 1));
  print_error(call(N_linkat, AT_FDCWD, "none", AT_FDCWD, "i", 0));
  print_error(call(N_linkat, AT_FDCWD, "f", AT_FDCWD, "i/", 0)), renamed("f", "h", 0);
  print_heading("opened");
  static const long how[] = {0, 1, 2, 0x40, 0xc0, 0x200, 0x10000, 0x10040, 0x20000, 0x241};
  static const char* const what[] = {"f",    "f/",      "d",    "d/",     "l",   "ld",
                                     "ld/",  "dangles", "loop", "none/x", "f/x", "made",
                                     "new/", ".",       "/",    ""};
  for (u64 i = 0; i < sizeof what / sizeof *what; ++i) {
    print_heading(what[i]);
    for (u64 k = 0; k < sizeof how / sizeof *how; ++k) {
      const long fd = print_error(call(N_openat, AT_FDCWD, what[i], how[k], 0600));
      if (fd >= 0) call(N_close, fd);
      if (i == 7 || i == 11) call(N_unlinkat, AT_FDCWD, i == 7 ? "none" : "made", 0);
    }
  }
  print_heading("other");
  print_error(call(N_chdir, "f")), print_error(call(N_chdir, "none")),
      print_error(call(N_chdir, "loop"));
  print_error(call(N_readlinkat, AT_FDCWD, "f", bytes, 8)),
      print_result(call(N_readlinkat, AT_FDCWD, "l", bytes, 8));
  print_result(call(N_readlinkat, AT_FDCWD, "l", bytes, 0));
  print_error(call(N_getcwd, bytes, 3)), print_error(call(N_faccessat, AT_FDCWD, "f", 8)),
      print_error(call(N_faccessat, AT_FDCWD, "none", 0));
  print_error(call(N_openat, 999, "f", 0)), print_error(call(N_openat, 999, "/", 0));
  for (u64 i = 0; i < 300; ++i) bytes[i] = 'a';
  bytes[300] = 0;
  print_error(call(N_openat, AT_FDCWD, bytes, 0));
  for (u64 i = 0; i < 5000; ++i) bytes[i] = i % 2 ? '/' : '.';
  bytes[5000] = 0;
  print_error(call(N_openat, AT_FDCWD, bytes, 0)), print_error(call(N_openat, AT_FDCWD, 1, 0));
  say("\n");
  return 0;
}

// ---- sizes and places of files

static int sizes(void) {
  folder("/tmp/s"), call(N_chdir, "/tmp/s"), file("f"), folder("d");
  const long both = call(N_openat, AT_FDCWD, "f", RDWR), reads = call(N_openat, AT_FDCWD, "f", 0);
  const long in = call(N_openat, AT_FDCWD, "d", 0);
  int ends[2];
  call(N_pipe2, ends, NONBLOCK);
  print_heading("ftruncate");
  const long files[] = {both, reads, in, ends[0], ends[1], 999};
  for (u64 i = 0; i < 6; ++i) {
    print_error(call(N_ftruncate, files[i], 10)), print_error(call(N_ftruncate, files[i], -1));
    print_error(call(N_ftruncate, files[i], 1UL << 62));
  }
  print_error(call(N_truncate, "f", 5)), print_error(call(N_truncate, "f", -1)),
      print_error(call(N_truncate, "d", 5));
  print_error(call(N_truncate, "none", 5)), print_error(call(N_truncate, "f/", 5)),
      print_error(call(N_truncate, "none", -1));
  print_heading("lseek");
  for (u64 i = 0; i < 6; ++i)
    for (long from = 0; from < 7 && i != 2; ++from) print_error(call(N_lseek, files[i], -1, from));
  print_result(call(N_lseek, both, 1, 3)), print_result(call(N_lseek, both, 1, 4)),
      print_result(call(N_lseek, both, 9, 3));
  print_result(call(N_lseek, both, 7, 0)), print_result(call(N_lseek, both, 0x7fffffffffffffff, 1));
  print_heading("pread, pwrite");
  for (u64 i = 0; i < 6; ++i) {
    print_result(call(N_pread64, files[i], bytes, 8, -1)),
        print_result(call(N_pread64, files[i], bytes, 8, 1));
    if (i != 4) print_result(call(N_pwrite64, files[i], bytes, 8, 1));
    print_result(call(N_pwrite64, files[i], bytes, 8, -1));
  }
  print_heading("read, write");
  print_result(call(N_read, in, bytes, 8)), print_result(call(N_write, in, bytes, 8)),
      print_result(call(N_write, reads, bytes, 8));
  print_result(call(N_read, ends[1], bytes, 8)), print_result(call(N_write, ends[0], bytes, 8));
  print_result(call(N_read, ends[0], bytes, 8)), print_result(call(N_read, both, 1, 8)),
      print_result(call(N_write, both, 1, 8));
  print_result(call(N_read, both, 1, 0)), print_result(call(N_write, both, 1, 0)),
      print_result(call(N_read, 999, bytes, 0));
  print_heading("fallocate");
  for (u64 i = 0; i < 6; ++i) print_error(call(N_fallocate, files[i], 0, 0, 8));
  print_error(call(N_fallocate, both, 0, -1, 8)), print_error(call(N_fallocate, both, 0, 0, 0)),
      print_error(call(N_fallocate, both, 0, 8, -8));
  print_heading("vectors");
  const u64 parts[4] = {(u64)bytes, 8, 1, 8}, wrong[2] = {(u64)bytes, -1UL};
  print_result(call(N_readv, both, parts, 0)), print_result(call(N_readv, both, parts, -1)),
      print_result(call(N_readv, both, parts, 1025));
  print_result(call(N_readv, both, wrong, 1)), print_result(call(N_writev, both, parts, 2)),
      print_result(call(N_writev, both, 1, 1));
  print_heading("flock, fcntl");
  print_error(call(N_flock, both, 0)), print_error(call(N_flock, both, 3)),
      print_error(call(N_flock, 999, 2));
  print_error(call(N_fcntl, both, 99)), print_error(call(N_fcntl, 999, 1)),
      print_error(call(N_fcntl, both, 0, 99999));
  print_error(call(N_dup3, both, both, 0)), print_error(call(N_dup3, 999, 5, 0)),
      print_error(call(N_dup3, both, 99999, 0));
  print_error(call(N_dup3, both, 50, 1)), print_error(call(N_dup, 999)),
      print_error(call(N_close, 999));
  say("\n");
  return 0;
}

// ---- futexes

static u32 words[4];
static int futexes(void) {
  const u64 no_time[2] = {0, 1}, wrong[2] = {0, 1000000000}, past[2] = {-1UL, 0};
  static const long operations[] = {0, 1, 3, 4, 5, 9, 10};
  print_heading("misaligned, nowhere, out of range");
  for (u64 i = 0; i < 7; ++i) {
    const long op = operations[i];
    const long time_or_count = op > 1 && op < 9 ? 1 : (long)no_time;
    print_result(call(N_futex, (char*)words + 2, op, 1, time_or_count, words + 1, 1));
    print_result(call(N_futex, 4, op, 1, time_or_count, words + 1, 1));
    print_result(call(N_futex, 1UL << 60, op, 1, time_or_count, words + 1, 1));
    print_result(call(N_futex, -4, op, 1, time_or_count, words + 1, 1));
  }
  print_heading("waits");
  print_result(call(N_futex, words, 0, 0, no_time)),
      print_result(call(N_futex, words, 0, 1, no_time));
  print_result(call(N_futex, words, 0, 0, wrong)), print_result(call(N_futex, words, 0, 0, past));
  print_result(call(N_futex, words, 0, 0, 1)),
      print_result(call(N_futex, words, 9, 0, no_time, 0, 0));
  print_result(call(N_futex, words, 9, 0, wrong, 0, 1)),
      print_result(call(N_futex, words, 9, 0, no_time, 0, 1));
  print_result(call(N_futex, words, 0, 1, wrong));
  print_heading("wakes");
  print_result(call(N_futex, words, 1, -1)), print_result(call(N_futex, words, 10, 1, 0, 0, 0));
  print_result(call(N_futex, words, 1, 0)), print_result(call(N_futex, words, 10, 1, 0, 0, 4));
  print_heading("requeues");
  print_result(call(N_futex, words, 3, 1, 1, words + 1)),
      print_result(call(N_futex, words, 3, -1, 1, words + 1));
  print_result(call(N_futex, words, 3, 1, -1, words + 1)),
      print_result(call(N_futex, words, 4, 1, 1, words + 1, 0));
  print_result(call(N_futex, words, 4, 1, 1, words + 1, 1)),
      print_result(call(N_futex, words, 4, 1, 1, words, 0));
  print_result(call(N_futex, words, 4, 1, 1, (char*)words + 2, 0)),
      print_result(call(N_futex, words, 4, 1, 1, 4, 0));
  print_result(call(N_futex, words, 4, 1, 1, 4, 1));
  print_heading("wakes and changes");
  print_result(call(N_futex, words, 5, 1, 1, words + 1, 0)),
      print_result(call(N_futex, words, 5, 1, 1, 4, 0));
  print_result(call(N_futex, words, 5, 1, 1, (char*)words + 2, 0));
  print_result(call(N_futex, words, 5, 1, 1, words + 1, 5 << 28));
  print_result(call(N_futex, words, 5, 1, 1, words + 1, 6 << 24));
  print_heading("operations that are not there");
  for (long op = 14; op < 20; ++op) print_result(call(N_futex, words, op, 0, 0, words, 1));
  say("\n");
  return 0;
}

// ---- epolls within epolls

enum { ADD = 1, DEL = 2, MOD = 3, EPOLLS = 12 };
static int epolls[EPOLLS];
static const struct {
  u32 events, pad;
  u64 data;
} readable = {1, 0, 0};
static long watch(long outer, long inner) {
  return call(N_epoll_ctl, outer, ADD, inner, &readable);
}
static void restart(const char* subject) {
  print_heading(subject);
  for (int i = 3; i < 1024; ++i) call(N_close, i);
  for (int i = 0; i < EPOLLS; ++i) epolls[i] = (int)call(N_epoll_create1, 0);
}
static long watch_duplicates(long outer, long inner, int most) {
  long answer = 0;
  int i = 0;
  for (; i < most && answer == 0; ++i) answer = watch(outer, call(N_dup, inner));
  print_result(i);
  return answer;
}
static int nested(void) {
  int ends[2];
  restart("from the outermost");
  for (int i = 0; i < 8; ++i) print_result(watch(epolls[i], epolls[i + 1]));
  restart("from the innermost");
  for (int i = 8; i > 0; --i) print_result(watch(epolls[i - 1], epolls[i]));
  restart("two chains");
  for (int i = 0; i < 5; ++i) print_result(i == 2 ? 0 : watch(epolls[i], epolls[i + 1]));
  print_result(watch(epolls[2], epolls[3])), print_result(watch(epolls[1], epolls[3]));
  restart("loops");
  for (int i = 0; i < 3; ++i) print_result(watch(epolls[i], epolls[i + 1]));
  for (int i = 0; i < 4; ++i) print_result(watch(epolls[3], epolls[i]));
  print_result(call(N_epoll_ctl, epolls[0], DEL, epolls[1], 0)),
      print_result(watch(epolls[3], epolls[0]));
  restart("a file below");
  call(N_pipe2, ends, NONBLOCK);
  print_result(watch(epolls[4], ends[0]));
  for (int i = 4; i > 0; --i) print_result(watch(epolls[i - 1], epolls[i]));
  print_result(watch(epolls[5], epolls[0])), print_result(watch(epolls[5], epolls[1]));
  restart("many that watch one that watches a file");
  call(N_pipe2, ends, NONBLOCK);
  print_result(watch(epolls[0], ends[0]));
  long answer = 0;
  int i = 0;
  for (; i < 600 && answer == 0; ++i) answer = watch(call(N_epoll_create1, 0), epolls[0]);
  print_result(i), print_result(answer);
  restart("the file comes last");
  call(N_pipe2, ends, NONBLOCK);
  for (i = 0, answer = 0; i < 600 && answer == 0; ++i)
    answer = watch(call(N_epoll_create1, 0), epolls[0]);
  print_result(i), print_result(answer), print_result(watch(epolls[0], ends[0]));
  restart("many ways");
  call(N_pipe2, ends, NONBLOCK);
  print_result(watch(epolls[3], ends[0])), print_result(watch(epolls[0], ends[0]));
  for (i = 3; i > 0; --i) print_result(watch_duplicates(epolls[i - 1], epolls[i], 30));
  restart("ways from the outermost");
  call(N_pipe2, ends, NONBLOCK);
  for (i = 0; i < 4; ++i) print_result(watch_duplicates(epolls[i], epolls[i + 1], 3));
  print_result(watch(epolls[4], ends[0])), print_result(watch(epolls[3], ends[0])),
      print_result(watch(epolls[2], ends[0]));
  restart("other");
  call(N_pipe2, ends, NONBLOCK);
  print_result(watch(epolls[0], epolls[0])), print_result(watch(ends[0], epolls[0])),
      print_result(watch(epolls[0], 999));
  print_result(watch(999, epolls[0])),
      print_result(watch(epolls[0], call(N_openat, AT_FDCWD, "/", DIRECTORY)));
  print_result(call(N_epoll_ctl, epolls[0], DEL, ends[0], 0)),
      print_result(call(N_epoll_ctl, epolls[0], 7, ends[0], &readable));
  print_result(call(N_epoll_ctl, epolls[0], ADD, ends[0], 1)),
      print_result(watch(epolls[0], ends[0]));
  print_result(watch(epolls[0], ends[0])),
      print_result(call(N_epoll_ctl, epolls[0], 7, ends[0], &readable));
  print_result(call(N_epoll_pwait, epolls[0], bytes, 0, 0)),
      print_result(call(N_epoll_pwait, ends[0], bytes, 1, 0));
  print_result(call(N_epoll_pwait, 999, bytes, 1, 0)), print_result(call(N_epoll_create1, 1));
  print_result(call(N_read, epolls[0], bytes, 8)), print_result(call(N_write, epolls[0], bytes, 8));
  say("\n");
  return 0;
}

// Makes a timer that sends `signal`, or tries to.
static long timer_of(u64 clock, unsigned signal, unsigned notify) {
  const unsigned event[16] = {0, 0, signal, notify, (unsigned)call(N_gettid)};
  unsigned timer;
  return call(N_timer_create, clock, event, &timer);
}

static int timers(void) {
  print_heading("clocks of timers");
  for (u64 clock = 0; clock < 8; ++clock) print_result(timer_of(clock, 10, 0));
  print_result(timer_of(10, 10, 0)), print_result(timer_of(11, 10, 0)),
      print_result(timer_of(12, 10, 0));
  print_heading("notifications of timers");
  for (unsigned notify = 0; notify < 7; ++notify) print_result(timer_of(1, 10, notify));
  print_result(timer_of(1, 0, 0)), print_result(timer_of(1, 65, 0)),
      print_result(timer_of(1, 0, 1)), print_result(timer_of(1, 65, 1));
  print_result(call(N_timer_create, 1, 0, 8));
  print_heading("barriers");
  print_result(call(N_membarrier, 8, 0)), print_result(call(N_membarrier, 8, 1)),
      print_result(call(N_membarrier, 16, 0));
  print_result(call(N_membarrier, 8, 0)), print_result(call(N_membarrier, 3, 0));
  print_heading("groups");
  print_result(call(N_kill, -call(N_getpgid, 0), 0)),
      print_result(call(N_kill, -call(N_getpgid, 0), 65));
  say("\n");
  return 0;
}

// ---- files without names: seals, holes, transfers of any size

enum {
  GETFL = 3,
  SETFL = 4,
  PIPE_SIZE = 1031,
  ADD_SEALS = 1033,
  GET_SEALS = 1034,
  DIRECT = 0x4000
};
enum { KEEPS_SIZE = 1, PUNCHES = 2 };

static long memory_file(long flags, u64 size) {
  const long file = call(N_memfd_create, "file", flags);
  call(N_write, file, bytes, size);
  return file;
}
static long mapped(long file, long rights, long kind) {
  const long at = call(N_mmap, 0, 4096, rights, kind, file, 0);
  print_error(at);
  return at;
}
static int seals(void) {
  const long flags[] = {0, 2, 8, 10, 16, 18};
  for (int i = 0; i < 6; ++i) {
    const long file = memory_file(flags[i], 5000);
    print_heading("flags"), print_result(flags[i]), print_result(call(N_fcntl, file, GET_SEALS));
    print_error(call(N_fchmod, file, 0600)), print_error(call(N_fchmod, file, 0700));
    print_result(call(N_fcntl, file, ADD_SEALS, 64)),
        print_result(call(N_fcntl, file, ADD_SEALS, 0));
    print_result(call(N_fcntl, file, ADD_SEALS, 32)), print_result(call(N_fcntl, file, GET_SEALS));
    print_error(call(N_fchmod, file, 0600)), print_error(call(N_fchmod, file, 0710));
    print_result(call(N_fcntl, file, ADD_SEALS, 1)),
        print_result(call(N_fcntl, file, ADD_SEALS, 4));
  }
  for (long seal = 1; seal < 64; seal += seal) {
    const long file = memory_file(2, 5000);
    print_heading("seal"), print_result(seal), print_result(call(N_fcntl, file, ADD_SEALS, seal));
    print_result(call(N_fcntl, file, GET_SEALS));
    print_result(call(N_pwrite64, file, bytes, 8192, 0)),
        print_result(call(N_ftruncate, file, 5000));
    print_result(call(N_pwrite64, file, bytes, 100, 4950)),
        print_result(call(N_pwrite64, file, bytes, 0, 9000));
    print_result(call(N_ftruncate, file, 5000)),
        print_result(call(N_pwrite64, file, bytes, 3000, 4000));
    print_result(call(N_fallocate, file, 0, 0, 9000)),
        print_result(call(N_fallocate, file, KEEPS_SIZE, 0, 20000));
    print_result(call(N_fallocate, file, KEEPS_SIZE | PUNCHES, 0, 100));
    print_result(call(N_ftruncate, file, 6000)), print_result(call(N_ftruncate, file, 7000));
    print_result(call(N_ftruncate, file, 7000)), mapped(file, 3, 2), mapped(file, 1, 1);
    mapped(file, 3, 1);
  }
  const long file = memory_file(2, 5000), at = mapped(file, 3, 1);
  print_heading("mapped"), print_result(call(N_fcntl, file, ADD_SEALS, 8));
  print_result(call(N_fcntl, file, ADD_SEALS, 24)),
      print_result(call(N_fcntl, file, ADD_SEALS, 32));
  print_result(call(N_fcntl, file, ADD_SEALS, 16)), print_result(call(N_fcntl, file, GET_SEALS));
  *(volatile char*)at = 'x', print_result(call(N_pread64, file, bytes, 1, 0)),
             print_result(bytes[0] == 'x');
  print_result(call(N_munmap, at, 4096)), print_result(call(N_fcntl, file, ADD_SEALS, 8));
  int ends[2];
  call(N_pipe2, ends, NONBLOCK);
  print_heading("others"), print_result(call(N_fcntl, ends[0], GET_SEALS)),
      print_result(call(N_fcntl, ends[1], ADD_SEALS, 0));
  print_result(call(N_fcntl, 999, GET_SEALS)), print_result(call(N_fcntl, ends[0], ADD_SEALS, 0)),
      say("\n");
  return 0;
}

// Tells of the first and last byte that is zero, or -1.
static void zeros(long file, u64 size) {
  static char all[40000];
  long first = -1, last = -1;
  call(N_pread64, file, all, size, 0);
  for (u64 i = 0; i < size; ++i)
    if (!all[i]) first = first < 0 ? (long)i : first, last = (long)i;
  print_result(first), print_result(last), print_result(call(N_lseek, file, 0, 4)),
      print_result(call(N_lseek, file, 8192, 3));
}
static int holes(void) {
  static char large[300000];
  static const long ranges[][2] = {{5000, 9000},  {0, 4096}, {4096, 8192}, {100, 50},
                                   {19000, 9000}, {4095, 2}, {0, 40000},   {20000, 1}};
  for (u64 i = 0; i < sizeof large; ++i) large[i] = (char)(i % 251 + 1);
  for (int i = 0; i < 8; ++i) {
    const long file = call(N_memfd_create, "file", 0);
    call(N_write, file, large, 20000);
    print_heading("hole"),
        print_result(call(N_fallocate, file, PUNCHES | KEEPS_SIZE, ranges[i][0], ranges[i][1]));
    print_result(call(N_lseek, file, 0, 2)), zeros(file, 20000);
    print_result(call(N_pwrite64, file, "x", 1, ranges[i][0])),
        print_result(call(N_lseek, file, 0, 2));
  }
  const long file = call(N_memfd_create, "file", 0);
  print_heading("mapped"), print_result(call(N_write, file, large, 20000));
  volatile char* const at = (char*)call(N_mmap, 0, 20480, 3, 1, file, 0);
  at[9000] = 7, print_result(call(N_fallocate, file, PUNCHES | KEEPS_SIZE, 4096, 8192));
  print_result(at[4095]), print_result(at[4096]), print_result(at[9000]), print_result(at[12288]);
  print_heading("modes");
  for (long mode = 0; mode < 256; ++mode) {
    const long answer = call(N_fallocate, file, mode, 100, 10);
    if (answer != -95) print_result(mode), print_result(answer);
  }
  print_heading("many bytes");
  print_result(call(N_pwrite64, file, large, 300000, 10)), print_result(call(N_lseek, file, 10, 0));
  memset(large, 0, sizeof large), print_result(call(N_read, file, large, 300000));
  print_result(large[0]), print_result(large[299999]), print_result(call(N_read, file, large, 1));
  int ends[2];
  call(N_pipe2, ends, NONBLOCK), print_result(call(N_fcntl, ends[0], PIPE_SIZE, 1 << 20));
  print_result(call(N_write, ends[1], large, 300000)),
      print_result(call(N_read, ends[0], large, 300000));
  say("\n");
  return 0;
}

// ---- pipes, in pages

static int unread(long file) {
  int many = -1;
  call(N_ioctl, file, 0x541b, &many);
  return many;
}
static void fills(int ends[2], long size) {
  long many = 0;
  while (call(N_write, ends[1], bytes, size) == size) ++many;
  print_result(many), print_result(unread(ends[0]));
}
static void empties(int ends[2]) {
  while (call(N_read, ends[0], bytes, sizeof bytes) > 0) continue;
}
static int packets(void) {
  static char large[100000];
  static const long sizes[] = {1, 2, 100, 1000, 1365, 2048, 3000, 4095, 4096, 4097, 5000, 8192};
  int ends[2];
  for (long direct = 0; direct <= DIRECT; direct += DIRECT) {
    call(N_pipe2, ends, NONBLOCK | direct);
    print_heading(direct ? "packets" : "bytes");
    print_result(call(N_fcntl, ends[0], GETFL) & DIRECT),
        print_result(call(N_fcntl, ends[1], GETFL) & DIRECT);
    print_result(call(N_write, ends[1], "abc", 3)),
        print_result(call(N_write, ends[1], "defgh", 5));
    print_result(call(N_write, ends[1], large, 9000)), print_result(unread(ends[0]));
    for (long size = 2; size < 30000; size *= 9) print_result(call(N_read, ends[0], large, size));
    print_result(call(N_read, ends[0], large, 20000)),
        print_result(call(N_write, ends[1], large, 0));
    print_result(call(N_read, ends[0], large, 20000)),
        print_result(call(N_read, ends[0], large, 0));
    print_heading("filled");
    for (int i = 0; i < 12; ++i) {
      fills(ends, sizes[i]);
      print_result(call(N_write, ends[1], large, 1)), print_result(call(N_read, ends[0], large, 1));
      print_result(call(N_write, ends[1], large, 9000)),
          print_result(call(N_read, ends[0], large, 5000));
      print_result(call(N_write, ends[1], large, 9000)), print_result(unread(ends[0])),
          empties(ends);
    }
    print_heading("large"), print_result(call(N_write, ends[1], large, 100000)),
        print_result(unread(ends[0]));
    print_result(call(N_read, ends[0], large, 100000)), print_result(unread(ends[0])),
        empties(ends);
    print_heading("joined");
    for (int i = 0; i < 6; ++i) print_result(call(N_write, ends[1], large, 1500));
    print_result(call(N_fcntl, ends[1], PIPE_SIZE, 4096)),
        print_result(call(N_fcntl, ends[1], PIPE_SIZE, 8192));
    print_result(call(N_fcntl, ends[1], PIPE_SIZE, 16384)), fills(ends, 500), empties(ends);
    print_result(call(N_write, ends[1], large, 4000)),
        print_result(call(N_read, ends[0], large, 3990));
    for (int i = 0; i < 3; ++i) print_result(call(N_write, ends[1], large, 90));
    fills(ends, 90), empties(ends);
  }
  print_heading("mixed");
  print_result(call(N_fcntl, ends[1], SETFL, NONBLOCK)),
      print_result(call(N_write, ends[1], "abcd", 4));
  print_result(call(N_fcntl, ends[1], SETFL, NONBLOCK | DIRECT)),
      print_result(call(N_write, ends[1], "ef", 2));
  print_result(call(N_write, ends[1], large, 4096)), print_result(call(N_write, ends[1], "gh", 2));
  print_result(call(N_fcntl, ends[1], SETFL, NONBLOCK)),
      print_result(call(N_write, ends[1], "ij", 2));
  print_result(call(N_write, ends[1], "kl", 2));
  for (int i = 0; i < 5; ++i) print_result(call(N_read, ends[0], large, 5));
  say("\n");
  return 0;
}

// ---- statx

static void looks(long folder, const void* name, long flags, long mask) {
  static u32 stat[64];
  for (int i = 0; i < 64; ++i) stat[i] = 99;
  const long answer = call(N_statx, folder, name, flags, mask, stat);
  print_result(answer);
  if (answer == 0)
    print_result(stat[0] & 0xfff), print_result(stat[4]), print_result(stat[7] & 0777777);
}
static int described(void) {
  enum { EMPTY = 0x1000, SYNC = 0x6000, USUAL = 0x7ff };
  const long file = memory_file(0, 5000);
  int ends[2];
  call(N_pipe2, ends, NONBLOCK);
  print_heading("masks");
  for (u64 mask = 0; mask <= 0x80000000; mask = mask ? mask * 2 : 1)
    looks(file, "", EMPTY, (long)mask);
  print_heading("flags");
  for (u64 flag = 1; flag <= 0x80000000; flag *= 2)
    print_result(call(N_statx, AT_FDCWD, "/", flag, USUAL, bytes));
  looks(file, "", EMPTY | SYNC, USUAL), looks(file, "", EMPTY | 0x2000, USUAL);
  print_heading("names");
  looks(file, "", 0, USUAL), looks(file, 0, 0, USUAL), looks(999, "", EMPTY, USUAL);
  looks(file, "none", 0, USUAL), looks(AT_FDCWD, "/none/at/all", 0, USUAL);
  looks(AT_FDCWD, (char*)8, 0, USUAL), looks(file, "/dev/null", 0, USUAL);
  print_heading("kinds"), looks(ends[0], "", EMPTY, USUAL);
  looks(AT_FDCWD, "/dev/zero", 0, USUAL), looks(call(N_socket, UNIX, STREAM, 0), "", EMPTY, USUAL);
  print_heading("places"), print_result(call(N_statx, file, "", EMPTY, USUAL, 8));
  print_result(call(N_statx, file, "", EMPTY, USUAL, 0)), say("\n");
  return 0;
}

// ---- datagrams over loopback to addresses that nobody has

static void pending(long socket) {
  int error = -1, size = 4, mask = 0;
  struct {
    int file;
    short events, ready;
  } one = {(int)socket, 5, 0};
  long zero[2] = {0, 0};
  print_result(call(N_ppoll, &one, 1, zero, 0, 8)), mask = one.ready & ~4, print_result(mask);
  print_result(call(N_getsockopt, socket, 1, 4, &error, &size)), print_result(error);
}
static int datagrams(void) {
  static char large[70000];
  const struct name nobody = port(45001), other = port(45002);
  const long free = new_socket(INTERNET, DATAGRAM), bound = new_socket(INTERNET, DATAGRAM);
  const long to = new_socket(INTERNET, DATAGRAM);
  print_heading("unconnected"), print_result(call(N_sendto, free, "abc", 3, 0, &nobody, 16)),
      pending(free);
  print_result(call(N_sendto, free, "abc", 3, 0, &nobody, 16)),
      print_result(call(N_write, free, "abc", 3));
  print_result(call(N_recvfrom, free, bytes, 9, 0, 0, 0));
  print_heading("sizes"), print_result(call(N_sendto, free, large, 65507, 0, &nobody, 16));
  print_result(call(N_sendto, free, large, 65508, 0, &nobody, 16));
  print_heading("connected"), print_result(call(N_connect, to, &nobody, 16));
  print_result(call(N_getpeername, to, bytes, &(int){16}));
  print_result(call(N_write, to, "abc", 3)), pending(to), pending(to);
  print_result(call(N_write, to, "abc", 3)), print_result(call(N_write, to, "abc", 3));
  print_result(call(N_write, to, "abc", 3)), print_result(call(N_recvfrom, to, bytes, 9, 0, 0, 0));
  print_result(call(N_recvfrom, to, bytes, 9, 0, 0, 0)),
      print_result(call(N_write, to, large, 65508));
  print_heading("then bound"), print_result(call(N_bind, bound, &nobody, 16)),
      print_result(call(N_write, to, "abc", 3));
  print_result(call(N_recvfrom, bound, bytes, 9, 0, 0, 0)), print_result(call(N_close, bound));
  print_result(call(N_write, to, "abc", 3)), print_result(call(N_write, to, "abc", 3));
  print_result(call(N_write, to, "abc", 3));
  print_heading("bound to another");
  const long third = new_socket(INTERNET, DATAGRAM);
  print_result(call(N_bind, third, &other, 16)), print_result(call(N_connect, third, &nobody, 16));
  print_result(call(N_sendto, free, "abc", 3, 0, &other, 16)), pending(free);
  print_result(call(N_recvfrom, third, bytes, 9, 0, 0, 0)),
      print_result(call(N_connect, to, &other, 16));
  say("\n");
  return 0;
}

// ---- names of threads, memory that is locked, a peer that has closed its connection

static struct thread child;
static long tells_name(long of) {
  char name[17] = "................";
  (void)of, print_result(call(N_prctl, 16, name)), say(name), say("|"), say(name + 12);
  return 0;
}
static int few(void) {
  print_heading("names");
  print_result(call(N_prctl, 15, "a")), tells_name(0),
      print_result(call(N_prctl, 15, "fifteen letters and more"));
  tells_name(0), print_result(call(N_prctl, 15, 0)), print_result(call(N_prctl, 16, 0)),
      print_result(call(N_prctl, 15, ""));
  tells_name(0), print_result(call(N_prctl, 15, "parent"));
  start(&child, tells_name, 0), join(&child), print_result(call(N_prctl, 15, "again")),
      tells_name(0);
  print_heading("locked");
  for (long flags = 0; flags < 9; ++flags) print_result(call(N_mlockall, flags));
  print_result(call(N_munlockall));
  print_heading("a closed peer");
  for (int unread = 0; unread < 2; ++unread) {
    const struct name here = port(45003);
    const long listener = new_socket(INTERNET, STREAM), one = call(N_socket, INTERNET, STREAM, 0);
    print_result(call(N_setsockopt, listener, 1, 2, &(int){1}, 4)),
        print_result(call(N_bind, listener, &here, 16));
    print_result(call(N_listen, listener, 4)), print_result(call(N_connect, one, &here, 16));
    const long end = call(N_accept4, listener, 0, 0, NONBLOCK);
    print_result(call(N_write, end, "abc", 3));
    if (unread) print_result(call(N_write, one, "unread", 6));
    print_result(call(N_close, end)), print_result(call(N_close, listener));
    for (int i = 0; i < 3; ++i) print_result(call(N_sendto, one, "abc", 3, 0x4000));
    for (int i = 0; i < 3; ++i) print_result(call(N_recvfrom, one, bytes, 8, 64));
    print_result(call(N_close, one));
  }
  say("\n");
  return 0;
}

int run(int count, char** word) {
  static const struct {
    const char* word;
    int (*run)(void);
  } each[] = {
      {"sockets", sockets},     {"names", names},         {"sizes", sizes},
      {"futexes", futexes},     {"nested", nested},       {"timers", timers},
      {"seals", seals},         {"holes", holes},         {"packets", packets},
      {"described", described}, {"datagrams", datagrams}, {"few", few},
  };
  for (u64 i = 0; count > 1 && i < sizeof each / sizeof *each; ++i)
    if (same(word[1], each[i].word)) return each[i].run();
  return 100;
}

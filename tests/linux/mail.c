// Prints the results of system calls on messages that carry files or credentials, of calls on many
// messages, of sockets that share an address, of torn buffers, and of clocks; the argument names
// the subject.
#include "results.h"

enum { UNIX = 1, INTERNET = 2, STREAM = 1, DATAGRAM = 2, SEQUENCE = 5, NONBLOCK = 0x800 };
enum { RIGHTS = 1, CREDENTIALS = 2, PEEK = 2, WAIT_ALL = 0x100, CLOEXEC = 0x40000000 };
enum { SOL_SOCKET = 1, REUSE_ADDRESS = 2, PASS_CREDENTIALS = 16, REUSE_PORT = 15 };

static void make_pair(long type, int ends[2]) {
  call(N_socketpair, UNIX, type | NONBLOCK, 0, ends);
}
static const long kinds[] = {STREAM, DATAGRAM, SEQUENCE};
static char bytes[70000];

struct part {
  void* at;
  u64 size;
};
struct message {
  void* name;
  u64 name_size;
  struct part* parts;
  u64 many;
  void* control;
  u64 control_size;
  u64 flags;
};
struct control {
  u64 size;
  u32 level, type;
  int data[300];
};

// Sends `size` bytes with these descriptors.
static long pass(int by, const void* at, u64 size, const int* files, u64 many) {
  static struct control control;
  control = (struct control){16 + 4 * many, SOL_SOCKET, RIGHTS, {0}};
  for (u64 i = 0; i < many; ++i) control.data[i] = files[i];
  struct part part = {(void*)at, size};
  const struct message message = {0, 0, &part, 1, &control, (16 + 4 * many + 7) & ~7ul, 0};
  return call(N_sendmsg, by, &message, 0x4000);
}
// Receives up to `size` bytes, with a control buffer of `room` bytes, and prints the result, the
// flags, the size of the control messages, and the number of descriptors, which are left in
// `files`.
static int files[300];
static u64 receive(int by, u64 size, u64 room, long flags) {
  static struct control control;
  memset(&control, 0, sizeof control);
  struct part part = {bytes, size};
  struct message message = {0, 0, &part, 1, room ? &control : 0, room, 0};
  print_result(call(N_recvmsg, by, &message, flags));
  print_result((long)(message.flags & 0xffffffff)), print_result((long)message.control_size);
  const u64 many = control.size > 16 && control.type == RIGHTS ? (control.size - 16) / 4 : 0;
  for (u64 i = 0; i < many; ++i) files[i] = control.data[i];
  print_result((long)many);
  return many;
}
static void close_received(u64 many) {
  for (u64 i = 0; i < many; ++i) print_error(call(N_close, files[i]));
}

static int passed(void) {
  for (int i = 0; i < 3; ++i) {
    int ends[2], pipe[2];
    make_pair(kinds[i], ends), call(N_pipe2, pipe, NONBLOCK);
    print_heading("passed, and the sender's closed"), print_result(pass(ends[0], "ab", 2, pipe, 2));
    call(N_close, pipe[0]), call(N_close, pipe[1]);
    u64 many = receive(ends[1], 8, 64, 0);
    print_result(call(N_write, files[1], "xyz", 3)), print_result(call(N_read, files[0], bytes, 9));
    print_result(call(N_fcntl, files[0], 1)), close_received(many);
    print_heading("closed on exec"), print_result(pass(ends[0], "ab", 2, ends, 1));
    many = receive(ends[1], 8, 64, CLOEXEC);
    print_result(call(N_fcntl, files[0], 1)), close_received(many);
    print_heading("peeked"), print_result(pass(ends[0], "ab", 2, ends, 1));
    close_received(receive(ends[1], 1, 64, PEEK)), close_received(receive(ends[1], 8, 64, 0));
    print_heading("errors");
    call(N_pipe2, pipe, NONBLOCK);
    for (int n = 0; n < 300; ++n) files[n] = pipe[0];
    print_result(pass(ends[0], "ab", 2, files, 254)),
        print_result(pass(ends[0], "ab", 2, files, 253));
    print_result(pass(ends[0], "ab", 2, (int[]){pipe[0], 999}, 2));
    print_result(pass(ends[0], "ab", 2, (int[]){-1}, 1)),
        print_result(pass(ends[0], "ab", 2, pipe, 0));
    close_received(receive(ends[1], 2, 1200, 0) > 0), receive(ends[1], 8, 64, 0);
    print_heading("without bytes"), print_result(pass(ends[0], "", 0, pipe, 1));
    receive(ends[1], 8, 64, 0), print_result(pass(ends[0], "ab", 2, pipe, 1));
    receive(ends[1], 0, 64, 0), receive(ends[1], 8, 64, 0);
    print_heading("read without a place for them"),
        print_result(pass(ends[0], "ab", 2, pipe + 1, 1));
    print_error(call(N_close, pipe[1])), print_result(call(N_read, pipe[0], bytes, 9));
    print_result(call(N_read, ends[1], bytes, 9)), print_result(call(N_read, pipe[0], bytes, 9));
    print_heading("closed with them unread"), call(N_pipe2, pipe, NONBLOCK);
    print_result(pass(ends[0], "ab", 2, pipe + 1, 1)), print_error(call(N_close, pipe[1]));
    print_result(call(N_read, pipe[0], bytes, 9)), print_error(call(N_close, ends[1]));
    print_result(call(N_read, pipe[0], bytes, 9)), print_result(pass(ends[0], "ab", 2, pipe, 1));
  }
  say("\n");
  return 0;
}

static int controls(void) {
  static const u64 rooms[] = {0, 1, 12, 15, 16, 19, 20, 23, 24, 25, 28, 31, 32, 36, 40, 48};
  for (int i = 0; i < 3; ++i) {
    int ends[2], pipe[2];
    make_pair(kinds[i], ends), call(N_pipe2, pipe, NONBLOCK);
    print_heading("room");
    for (int room = 0; room < 16; ++room) {
      const int four[] = {pipe[0], pipe[0], pipe[0], pipe[0]};
      say(" |"), print_result(pass(ends[0], "a", 1, four, 4));
      close_received(receive(ends[1], 8, rooms[room], 0));
    }
    print_heading("sizes");
    static struct {
      struct control first;
    } sent;
    for (u64 size = 0; size < 40; size += size < 14 ? 7 : 1)
      for (u64 all = 24; all < 33; all += 8) {
        struct part part = {"a", 1};
        sent.first = (struct control){size, SOL_SOCKET, RIGHTS, {pipe[0], pipe[0], pipe[0]}};
        const struct message message = {0, 0, &part, 1, &sent, all, 0};
        const long answer = call(N_sendmsg, ends[0], &message, 0);
        print_result(answer);
        if (answer > 0) close_received(receive(ends[1], 8, 64, 0));
      }
    print_heading("kinds");
    for (u32 level = 0; level < 3; ++level)
      for (u32 type = 0; type < 5; ++type) {
        struct part part = {"a", 1};
        sent.first = (struct control){20, level, type, {pipe[0]}};
        if (type == CREDENTIALS || level == 1) continue;
        const struct message message = {0, 0, &part, 1, &sent, 24, 0};
        print_result(call(N_sendmsg, ends[0], &message, 0)), receive(ends[1], 8, 64, 0);
      }
    print_heading("places");
    struct part part = {"a", 1};
    const struct message nowhere = {0, 0, &part, 1, 0, 24, 0};
    print_result(call(N_sendmsg, ends[0], &nowhere, 0));
  }
  say("\n");
  return 0;
}

static int streams(void) {
  int ends[2], pipe[2];
  make_pair(STREAM, ends), call(N_pipe2, pipe, NONBLOCK);
  print_heading("joined up to a message with files");
  call(N_write, ends[0], "abc", 3), pass(ends[0], "de", 2, pipe, 1),
      pass(ends[0], "fgh", 3, pipe, 2);
  call(N_write, ends[0], "ijkl", 4), call(N_write, ends[0], "mnopq", 5);
  for (int i = 0; i < 4; ++i) close_received(receive(ends[1], 100, 64, i % 2 * WAIT_ALL));
  print_heading("a part of it");
  pass(ends[0], "abcdef", 6, pipe, 1), call(N_write, ends[0], "ghi", 3);
  for (int i = 0; i < 3; ++i) close_received(receive(ends[1], 4, 64, 0));
  print_heading("read"), pass(ends[0], "abc", 3, pipe, 1), call(N_write, ends[0], "de", 2);
  print_result(call(N_read, ends[1], bytes, 100)), print_result(call(N_read, ends[1], bytes, 100));
  print_heading("large"), print_result(pass(ends[0], bytes, 60000, pipe, 1));
  close_received(receive(ends[1], 60000, 64, 0));
  while (call(N_read, ends[1], bytes, sizeof bytes) > 0) continue;
  print_heading("waits for all"), pass(ends[0], "abc", 3, pipe, 1);
  call(N_write, ends[0], "de", 2), close_received(receive(ends[1], 5, 64, WAIT_ALL));
  print_heading("peeked twice"), receive(ends[1], 100, 64, 0);
  call(N_write, ends[0], "abc", 3), pass(ends[0], "de", 2, pipe, 1),
      call(N_write, ends[0], "fg", 2);
  for (int i = 0; i < 4; ++i)
    close_received(receive(ends[1], i == 1 ? 1 : 100, 64, i < 2 ? PEEK : 0));
  say("\n");
  return 0;
}

// Sockets that only messages hold are closed when the last way to them is.
static int cycles(void) {
  for (int i = 0; i < 3; ++i) {
    int ends[2], pipe[2], other[2];
    print_heading("in its own queue"), make_pair(kinds[i], ends), call(N_pipe2, pipe, NONBLOCK);
    print_result(pass(ends[0], "a", 1, ends + 1, 1)),
        print_result(pass(ends[0], "a", 1, pipe + 1, 1));
    call(N_close, pipe[1]), call(N_close, ends[1]), print_result(call(N_read, pipe[0], bytes, 8));
    call(N_close, ends[0]);
    for (int wait = 0; wait < 2000; ++wait) {
      if (call(N_read, pipe[0], bytes, 8) != -11) break;
      pause_for(100000);
    }
    print_result(call(N_read, pipe[0], bytes, 8));
    print_heading("a chain"), call(N_pipe2, pipe, NONBLOCK), make_pair(kinds[i], ends);
    pass(ends[0], "a", 1, pipe + 1, 1), call(N_close, pipe[1]);
    for (int link = 0; link < 200; ++link) {
      make_pair(kinds[i], other), print_error(pass(other[0], "a", 1, ends, 2));
      call(N_close, ends[0]), call(N_close, ends[1]);
      ends[0] = other[0], ends[1] = other[1];
    }
    print_result(call(N_read, pipe[0], bytes, 8));
    receive(ends[1], 8, 64, PEEK);
    call(N_close, files[0]), call(N_close, files[1]);
    call(N_close, ends[0]), call(N_close, ends[1]);
    for (int wait = 0; wait < 2000; ++wait) {
      if (call(N_read, pipe[0], bytes, 8) != -11) break;
      pause_for(100000);
    }
    print_result(call(N_read, pipe[0], bytes, 8));
  }
  say("\n");
  return 0;
}

// Sends descriptors until they are refused, because more are in flight than the limit of
// descriptors. Root may exceed this limit, so a run as root on Linux does not show it: the expected
// answers were derived from the source of Linux 6.18 (too_many_unix_fds).
static int bounded(void) {
  int ends[2], pipe[2];
  make_pair(STREAM, ends), call(N_pipe2, pipe, NONBLOCK);
  for (int n = 0; n < 253; ++n) files[n] = pipe[0];
  print_heading("too many");
  for (int n = 0; n < 8; ++n) print_result(pass(ends[0], "a", 1, files, 253));
  close_received(receive(ends[1], 8, 1200, 0) > 0), print_result(pass(ends[0], "a", 1, pipe, 1));
  say("\n");
  return 0;
}

// Sends datagrams of several sizes until no more can wait, and says how many there are.
static int filled(void) {
  static const u64 sizes[] = {0, 1, 192, 193, 704, 705, 4000, 20000, 65536};
  for (u64 i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    int ends[2];
    make_pair(DATAGRAM, ends);
    long count = 0, sent;
    while ((sent = call(N_write, ends[0], bytes, sizes[i])) >= 0 && count < 1000) ++count;
    print_heading("sent"), print_result((long)sizes[i]), print_result(count), print_result(sent);
    call(N_close, ends[0]), call(N_close, ends[1]);
  }
  say("\n");
  return 0;
}

static void send_signed(int by, u32 pid) {
  struct control control = {
      28, SOL_SOCKET, CREDENTIALS, {(int)pid, (int)call(N_getuid), (int)call(N_getgid)}};
  struct part part = {"s", 1};
  const struct message message = {0, 0, &part, 1, &control, 32, 0};
  print_result(call(N_sendmsg, by, &message, 0));
}
static void tell_sender(int by, u64 room) {
  static struct control control;
  memset(&control, 0, sizeof control);
  struct part part = {bytes, 100};
  struct message message = {0, 0, &part, 1, room ? &control : 0, room, 0};
  const long answer = call(N_recvmsg, by, &message, 0);
  say(" |"), print_result(answer);
  if (answer < 0) return;
  print_result((long)(message.flags & 0xffffffff)), print_result((long)message.control_size);
  print_result((long)control.size), print_result(control.type);
  if (control.size < 28) return;
  say(control.data[0] == call(N_getpid) ? " mine" : control.data[0] ? " other" : " none");
  say(control.data[1] == call(N_getuid) ? " mine" : control.data[1] == 65534 ? " none" : " other");
}
static int credentials(void) {
  for (int i = 0; i < 3; ++i) {
    int ends[2], on = 1;
    make_pair(kinds[i], ends);
    print_heading("not asked for"), send_signed(ends[0], (u32)call(N_getpid)),
        tell_sender(ends[1], 64);
    print_heading("sent before they are asked for"), call(N_write, ends[0], "abc", 3);
    print_error(call(N_setsockopt, ends[1], SOL_SOCKET, PASS_CREDENTIALS, &on, 4));
    print_result(call(N_write, ends[0], "de", 2)), send_signed(ends[0], (u32)call(N_getpid));
    for (int n = 0; n < 3; ++n) tell_sender(ends[1], 64);
    print_heading("room");
    for (u64 room = 0; room < 40; room += 7)
      call(N_write, ends[0], "a", 1), tell_sender(ends[1], room);
    print_heading("with files"), pass(ends[0], "a", 1, ends, 2), tell_sender(ends[1], 64);
    pass(ends[0], "a", 1, ends, 2), tell_sender(ends[1], 32);
  }
  say("\n");
  return 0;
}

// ---- many messages at once

struct many {
  struct message message;
  u64 size;
};
static struct many all[8];
static struct part parts[8];
static void prepare(u64 size, const void* from) {
  for (u64 i = 0; i < 8; ++i) {
    parts[i] = (struct part){from ? (void*)from : bytes + 1000 * i, from ? size + i : size};
    all[i] = (struct many){{0, 0, parts + i, 1, 0, 0, 0}, 0};
  }
}
static void print_sizes(void) {
  for (int i = 0; i < 8; ++i) print_result((long)(all[i].size & 0xffffffff));
}
static int many(void) {
  enum { WAIT_FOR_ONE = 0x10000, NOT_WAITING = 0x40 };
  for (int i = 0; i < 3; ++i) {
    int ends[2];
    make_pair(kinds[i], ends);
    print_heading("sent"), prepare(3, "abcdefghijklmn");
    print_result(call(N_sendmmsg, ends[0], all, 8, 0)), print_sizes();
    print_result(call(N_sendmmsg, ends[0], all, 0, 0)),
        print_result(call(N_sendmmsg, 999, all, 8, 0));
    print_result(call(N_sendmmsg, ends[0], 8, 8, 0)), print_result(call(N_sendmmsg, 0, all, 8, 0));
    print_heading("received"), prepare(5, 0);
    print_result(call(N_recvmmsg, ends[1], all, 3, 0, 0)), print_sizes();
    print_result(call(N_recvmmsg, ends[1], all, 8, WAIT_FOR_ONE, 0)), print_sizes();
    print_result(call(N_recvmmsg, ends[1], all, 8, 0, 0)),
        print_result(call(N_recvmmsg, ends[1], all, 0, 0, 0));
    print_heading("an error later"), prepare(3, "abcdefghijklmn");
    parts[2].at = (void*)8, print_result(call(N_sendmmsg, ends[0], all, 8, 0)), print_sizes();
    prepare(5, 0), parts[1].at = (void*)8;
    print_result(call(N_recvmmsg, ends[1], all, 8, 0, 0)), print_sizes();
    print_result(call(N_recvmmsg, ends[1], all, 8, 0, 0)), prepare(5, 0);
    print_result(call(N_recvmmsg, ends[1], all, 8, 0, 0));
    print_heading("times");
    long time[2] = {0, 1000000000};
    print_result(call(N_recvmmsg, ends[1], all, 8, 0, time)), time[1] = -1;
    print_result(call(N_recvmmsg, ends[1], all, 8, 0, time)), time[1] = 0;
    print_result(call(N_recvmmsg, ends[1], all, 8, 0, 8)), prepare(3, "abcdefghijklmn");
    call(N_sendmmsg, ends[0], all, 8, 0), prepare(5, 0);
    print_result(call(N_recvmmsg, ends[1], all, 8, 0, time)), time[0] = 5;
    print_result(call(N_recvmmsg, ends[1], all, 2, 0, time)), print_result(time[0] == 4);
  }
  say("\n");
  return 0;
}

// ---- sockets that share an address

struct name {
  unsigned short family;
  char path[14];
};
static struct name port(u32 number) {
  return (struct name){INTERNET, {(char)(number >> 8), (char)number, 127, 0, 0, 1}};
}
static long new_bound(long type, u32 number, long option) {
  const struct name here = port(number);
  const long socket = call(N_socket, INTERNET, type | NONBLOCK, 0);
  if (option) call(N_setsockopt, socket, SOL_SOCKET, option, &(int){1}, 4);
  print_result(call(N_bind, socket, &here, 16));
  return socket;
}
static int shared(void) {
  static const long options[] = {0, REUSE_ADDRESS, REUSE_PORT};
  for (long type = STREAM; type <= DATAGRAM; ++type)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        print_heading("bound");
        const long one = new_bound(type, 45011, options[a]),
                   two = new_bound(type, 45011, options[b]);
        if (type == STREAM) {
          print_result(call(N_listen, one, 4)), print_result(call(N_listen, two, 4));
          const long late = new_bound(type, 45011, options[b]);
          call(N_close, late);
        } else {
          const long by = call(N_socket, INTERNET, DATAGRAM, 0);
          const struct name here = port(45011);
          print_result(call(N_sendto, by, "abc", 3, 0, &here, 16)), call(N_close, by);
          if (options[a] != REUSE_PORT || options[b] != REUSE_PORT)
            print_result(call(N_read, one, bytes, 8)), print_result(call(N_read, two, bytes, 8));
        }
        call(N_close, one), call(N_close, two);
      }
  for (long type = STREAM; type <= DATAGRAM; ++type) {
    print_heading("each gets some");
    const struct name here = port(45012);
    long servers[4];
    int got[4] = {0};
    for (int i = 0; i < 4; ++i) {
      servers[i] = new_bound(type, 45012, REUSE_PORT);
      if (type == STREAM) print_result(call(N_listen, servers[i], 100));
    }
    for (int i = 0; i < 64; ++i) {
      const long by = call(N_socket, INTERNET, type, 0);
      if (type == STREAM) call(N_connect, by, &here, 16);
      if (type == DATAGRAM) call(N_sendto, by, "abc", 3, 0, &here, 16);
    }
    int sum = 0, idle = 0;
    for (int i = 0; i < 4; ++i) {
      while (type == STREAM ? call(N_accept4, servers[i], 0, 0, 0) >= 0
                            : call(N_read, servers[i], bytes, 8) > 0)
        ++got[i];
      sum += got[i], idle += got[i] == 0;
    }
    print_result(sum), print_result(idle);
  }
  say("\n");
  return 0;
}

// Binds three sockets to a port. Each has some of the two options, and those of one row listen.
static int rows(void) {
  static const long options[] = {REUSE_ADDRESS, REUSE_PORT};
  for (long type = STREAM; type <= DATAGRAM; ++type)
    for (int row = 0; row < 128; ++row) {
      long each[3];
      if (row % 16 == 0) print_heading("three at a port");
      for (int i = 0; i < 3; ++i) {
        const struct name here = port(45013);
        each[i] = call(N_socket, INTERNET, type | NONBLOCK, 0);
        for (int option = 0; option < 2; ++option)
          if (row >> (2 * i + option) & 1)
            call(N_setsockopt, each[i], SOL_SOCKET, options[option], &(int){1}, 4);
        print_result(call(N_bind, each[i], &here, 16));
        if (row >= 64) print_result(call(N_listen, each[i], 1));
      }
      for (int i = 0; i < 3; ++i) call(N_close, each[i]);
    }
  say("\n");
  return 0;
}

// ---- buffers that cannot be written, errors that wait, names that come late

static int torn(void) {
  enum { ALL = WAIT_ALL };
  static const long flags[] = {0, PEEK, ALL};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      int ends[2];
      print_heading("two parts, and a wrong one"), make_pair(kinds[i], ends);
      call(N_write, ends[0], "abcd", 4), call(N_write, ends[0], "efgh", 4);
      for (u64 size = 2; size <= 6; size += 2) {
        struct part parts[2] = {{bytes, size}, {(void*)1, 8}};
        struct message message = {0, 0, parts, 2, 0, 0, 0};
        memset(bytes, 0, 8);
        print_result(call(N_recvmsg, ends[1], &message, flags[j]));
        for (int k = 0; k < 6; ++k) print_result(bytes[k]);
      }
      print_result(call(N_read, ends[1], bytes, 9)), call(N_close, ends[0]);
      print_heading("an error that waits"), make_pair(kinds[i], ends);
      call(N_write, ends[0], "abcd", 4), call(N_write, ends[1], "ef", 2), call(N_close, ends[0]);
      print_result(call(N_recvfrom, ends[1], bytes, 8, flags[j], 0, 0));
      for (int k = 0; k < 2; ++k) print_result(call(N_recvfrom, ends[1], bytes, 8, ALL, 0, 0));
      call(N_close, ends[1]);
    }
  for (int i = 0; i < 3; ++i) {
    int ends[2];
    struct name own = {UNIX, {0, 'l', 'a', 't', 'e'}}, told = {0, {0}};
    print_heading("a name that comes late"), make_pair(kinds[i], ends);
    call(N_write, ends[0], "ab", 2), print_result(call(N_bind, ends[0], &own, 7));
    u32 size = sizeof told;
    print_result(call(N_recvfrom, ends[1], bytes, 8, 0, &told, &size)), print_result(size);
    print_result(told.path[1]), size = sizeof told, call(N_close, ends[0]);
    print_result(call(N_recvfrom, ends[1], bytes, 8, 0, &told, &size)), print_result(size);
  }
  print_heading("a private word at 0"), print_result(call(N_futex, 0, 128 | 3, 0, 1, bytes, 0));
  print_result(call(N_futex, 0, 128 | 4, 0, 1, bytes, 0)), say("\n");
  return 0;
}

// ---- clocks

static long time_of(long clock) {
  long time[2] = {0, 0};
  call(N_clock_gettime, clock, time);
  return time[0] * 1000000000 + time[1];
}
static int clocks(void) {
  static const long since_boot[] = {1, 4, 6, 7};
  print_heading("past a second");
  for (int i = 0; i < 4; ++i) print_result(time_of(since_boot[i]) > 1000000000);
  print_heading("coarse clocks show the last tick");
  const long fine = time_of(1), coarse = time_of(6), again = time_of(1);
  print_result(coarse <= again), print_result(coarse > fine - 20000000);
  print_heading("resolutions");
  for (long clock = 0; clock < 12; ++clock) {
    if (clock == 8 || clock == 9) continue;  // these need a clock that wakes the computer
    long time[2] = {-1, -1};
    const long answer = call(N_clock_getres, clock, time);
    print_result(answer);
    if (!answer)
      print_result(time[0]), print_result(clock == 5 || clock == 6 ? time[1] > 1 : time[1]);
  }
  print_heading("absolute times");
  for (int i = 0; i < 4; ++i) {
    if (since_boot[i] == 4 || since_boot[i] == 6) continue;
    const long begin = time_of(since_boot[i]), end = begin + 3000000;
    long time[2] = {end / 1000000000, end % 1000000000};
    print_result(call(N_clock_nanosleep, since_boot[i], 1, time, 0));
    const long woken = time_of(since_boot[i]);
    print_result(woken >= end), print_result(woken < end + 1000000000);
    time[0] = 1, print_result(call(N_clock_nanosleep, since_boot[i], 1, time, 0));
  }
  const long end = time_of(1) + 3000000;
  const long spec[4] = {0, 0, end / 1000000000, end % 1000000000};
  const long timer = call(N_timerfd_create, 1, 0);
  print_result(call(N_timerfd_settime, timer, 1, spec, 0)),
      print_result(call(N_read, timer, bytes, 8));
  print_result(time_of(1) >= end);
  const long every[4] = {0, 2000000, 0, 1000000};
  print_result(call(N_timerfd_settime, timer, 0, every, 0)), pause_for(8000000);
  print_result(call(N_read, timer, bytes, 8)), print_result(bytes[0] >= 4 && bytes[0] < 100);
  u32 word = 0;
  const long until[2] = {end / 1000000000, end % 1000000000};
  print_result(call(N_futex, &word, 9, 0, until, 0, -1));
  long about[16];
  call(N_sysinfo, about), print_result(about[0] > 1),
      print_result(about[0] - time_of(7) / 1000000000 < 2);
  say("\n");
  return 0;
}

static int limited(void) {
  enum { FIFO = 1, LIMIT = 14 };
  const u32 rank = 5, higher = 9;
  u64 limit[2] = {7, 7};
  print_heading("priorities"), print_result(call(N_prlimit64, 0, LIMIT, limit, 0));
  print_result(call(N_sched_setscheduler, 0, FIFO, &higher)),
      print_result(call(N_sched_setscheduler, 0, FIFO, &rank));
  limit[0] = 0, print_result(call(N_prlimit64, 0, LIMIT, limit, 0));
  print_result(call(N_sched_setparam, 0, &rank)), print_result(call(N_sched_setparam, 0, &higher));
  print_result(call(N_sched_setscheduler, 0, 0, &(u32){0})),
      print_result(call(N_sched_setscheduler, 0, FIFO, &rank));
  say("\n");
  return 0;
}

int run(int count, char** word) {
  static const struct {
    const char* word;
    int (*run)(void);
  } each[] = {
      {"passed", passed},   {"controls", controls},       {"streams", streams}, {"cycles", cycles},
      {"bounded", bounded}, {"credentials", credentials}, {"many", many},       {"shared", shared},
      {"clocks", clocks},   {"limited", limited},         {"filled", filled},   {"rows", rows},
      {"torn", torn},
  };
  for (u64 i = 0; count > 1 && i < sizeof each / sizeof *each; ++i)
    if (same(word[1], each[i].word)) return each[i].run();
  return 100;
}

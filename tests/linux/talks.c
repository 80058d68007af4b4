// Checks sockets. Exit status 0, or the number of the failed check.
#include "raw.h"

enum {
  UNIX = 1, INTERNET = 2, STREAM = 1, DATAGRAM = 2, SEQUENCE = 5, NONBLOCK = 04000, IN = 1, OUT = 4,
  HUP = 16, RDHUP = 0x2000, EAGAIN = 11, EPIPE = 32, NO_SIGNAL = 0x4000,
};

static struct thread threads[4];
static int ends[2];
static char text[256];

struct internet {
  unsigned short family, port;
  u32 address;
  char zero[8];
};
struct local {
  unsigned short family;
  char name[32];
};
static const u32 loopback = 0x0100007f;

static int poll_now(long file, int asked) {
  struct {
    int file;
    short asked, found;
  } one = {(int)file, (short)asked, 0};
  const u64 now[2] = {0, 0};
  call(N_ppoll, &one, 1, now, 0);
  return one.found;
}
static long send_text(long file, const char* what) {
  return call(N_sendto, file, what, length(what), NO_SIGNAL, 0, 0);
}
// True if the next bytes received are exactly `what`.
static int receives(long file, const char* what) {
  char heard[64];  // local, because several threads receive at the same time
  const long size = call(N_recvfrom, file, heard, sizeof heard - 1, 0, 0, 0);
  heard[size < 0 ? 0 : size] = 0;
  return size == (long)length(what) && same(heard, what);
}

static int pairs(void) {
  if (call(N_socketpair, UNIX, STREAM | NONBLOCK, 0, ends) != 0) return 1;
  if (poll_now(ends[0], IN | OUT) != OUT) return 2;
  if (send_text(ends[0], "one") != 3 || send_text(ends[0], "two") != 3) return 3;
  if (poll_now(ends[1], IN | OUT) != (IN | OUT) || !receives(ends[1], "onetwo")) return 4;
  if (send_text(ends[1], "back") != 4 || !receives(ends[0], "back")) return 5;
  if (call(N_read, ends[0], text, 9) != -EAGAIN) return 6;
  call(N_close, ends[1]);
  if (call(N_read, ends[0], text, 9) != 0 || send_text(ends[0], "x") != -EPIPE) return 7;
  if (poll_now(ends[0], IN | RDHUP) != (IN | HUP | RDHUP)) return 8;
  if (call(N_socketpair, UNIX, SEQUENCE, 0, ends) != 0) return 9;
  send_text(ends[0], "one"), send_text(ends[0], "two");
  return receives(ends[1], "one") && receives(ends[1], "two") ? 0 : 10;
}

static int datagrams(void) {
  struct internet at = {INTERNET, 0, loopback, {0}}, from;
  u32 size = sizeof at;
  const long a = call(N_socket, INTERNET, DATAGRAM, 0), b = call(N_socket, INTERNET, DATAGRAM, 0);
  if (call(N_bind, a, &at, sizeof at) || call(N_getsockname, a, &at, &size) || !at.port) return 1;
  if (call(N_sendto, b, "one", 3, 0, &at, sizeof at) != 3) return 2;
  if (call(N_sendto, b, "two!", 4, 0, &at, sizeof at) != 4) return 3;
  size = sizeof from;
  if (call(N_recvfrom, a, text, 200, 0, &from, &size) != 3 || from.address != loopback) return 4;
  if (call(N_sendto, a, "back", 4, 0, &from, sizeof from) != 4 || !receives(b, "back")) return 5;
  return call(N_recvfrom, a, text, 2, 0, 0, 0) == 2 && text[1] == 'w' ? 0 : 6;
}

static struct internet server_at;
static long listen_on_loopback(int flags) {
  const struct internet any = {INTERNET, 0, loopback, {0}};
  u32 size = sizeof server_at;
  const long server = call(N_socket, INTERNET, STREAM | flags, 0);
  if (call(N_bind, server, &any, sizeof any) || call(N_listen, server, 8)) fail(90);
  call(N_getsockname, server, &server_at, &size);
  return server;
}
static int same_address(struct internet a, struct internet b) {
  return a.family == b.family && a.port == b.port && a.address == b.address;
}
static struct internet clients_at[2];
static long connect_and_greet(long number) {
  struct internet other;
  u32 size = sizeof other;
  pause_for(200000 * (1 + (u64)number));
  const long mine = call(N_socket, INTERNET, STREAM, 0);
  if (call(N_connect, mine, &server_at, sizeof server_at)) fail(91);
  if (call(N_getpeername, mine, &other, &size) || !same_address(other, server_at)) fail(92);
  if (call(N_getsockname, mine, &clients_at[number], &size)) fail(95);
  pause_for(600000);  // by now the other end waits
  if (send_text(mine, number ? "hi" : "hello") < 0 || !receives(mine, "good day")) fail(96);
  return call(N_close, mine);
}
// One client is accepted as it connects, the other one later. Each has its own connection.
static int over_loopback(void) {
  struct internet peers[2], own;
  u32 size = sizeof own;
  long end[2];
  const long server = listen_on_loopback(0);
  for (long i = 0; i < 2; ++i) start(&threads[i], connect_and_greet, i);
  end[0] = call(N_accept4, server, &peers[0], &size, 0);
  while (poll_now(server, IN) != IN) pause_for(100000);
  end[1] = call(N_accept4, server, &peers[1], &size, 0);
  for (int i = 0; i < 2; ++i) {
    if (end[i] < 0 || peers[i].address != loopback || !peers[i].port) return 1;
    if (call(N_getsockname, end[i], &own, &size) || !same_address(own, server_at)) return 2;
  }
  for (int i = 0; i < 2; ++i) {
    const long size = call(N_read, end[i], text, 9);
    if (size != 2 && size != 5) return 3;
    if (!same_address(peers[i], clients_at[size == 2]) || send_text(end[i], "good day") != 8)
      return 4;
  }
  for (int i = 0; i < 2; ++i) join(&threads[i]);
  return call(N_read, end[0], text, 9) || call(N_read, end[1], text, 9) ? 5 : 0;
}

static int refused(void) {
  const long server = listen_on_loopback(NONBLOCK);
  if (call(N_accept4, server, 0, 0, 0) != -EAGAIN || poll_now(server, IN)) return 1;
  const long second = call(N_socket, INTERNET, STREAM, 0);
  if (call(N_bind, second, &server_at, sizeof server_at) != -98) return 2;
  call(N_close, server);
  if (call(N_connect, second, &server_at, sizeof server_at) != -111) return 3;
  if (call(N_listen, 0, 1) != -88 && call(N_listen, 99, 1) != -9) return 4;
  return call(N_socket, 99, STREAM, 0) == -97 ? 0 : 5;
}

static int unix_names(void) {
  const struct local at = {UNIX, "\0uncore-test"};
  const long server = call(N_socket, UNIX, STREAM, 0), mine = call(N_socket, UNIX, STREAM, 0);
  if (call(N_bind, server, &at, 14) || call(N_connect, mine, &at, 14) != -111) return 1;
  if (call(N_listen, server, 4) || call(N_connect, mine, &at, 14)) return 2;
  if (poll_now(server, IN) != IN) return 3;
  const long end = call(N_accept4, server, 0, 0, NONBLOCK);
  if (call(N_read, end, text, 9) != -EAGAIN || send_text(mine, "abc") != 3) return 4;
  return receives(end, "abc") ? 0 : 5;
}

static int shut_down(void) {
  call(N_socketpair, UNIX, STREAM, 0, ends);
  send_text(ends[0], "last");
  if (call(N_shutdown, ends[0], 1) || send_text(ends[0], "x") != -EPIPE) return 1;
  if (!receives(ends[1], "last") || call(N_read, ends[1], text, 9) != 0) return 2;
  return send_text(ends[1], "back") == 4 && receives(ends[0], "back") ? 0 : 3;
}

// A server that waits at one epoll file, and clients that each send a letter several times.
static long poller;
static long ask_ten_times(long letter) {
  char word[2] = {(char)letter, 0};
  const long mine = call(N_socket, INTERNET, STREAM, 0);
  if (call(N_connect, mine, &server_at, sizeof server_at)) fail(93);
  for (int i = 0; i < 10; ++i) {
    pause_for(100000);  // by now the server waits
    if (send_text(mine, word) != 1 || !receives(mine, word)) fail(94);
  }
  return call(N_close, mine);
}
static int echoes(void) {
  struct {
    u32 events, pad;
    u64 data;
  } event;
  const long server = listen_on_loopback(NONBLOCK);
  poller = call(N_epoll_create1, 0);
  event.events = IN, event.data = (u64)server;
  call(N_epoll_ctl, poller, 1, server, &event);
  char letters[32] = {0};  // the letter received from each file
  int accepted = 0, all = 0;
  for (int i = 0; i < 3; ++i) start(&threads[i], ask_ten_times, 'a' + i);
  for (int gone = 0; gone < 3;) {
    if (call(N_epoll_pwait, poller, &event, 1, -1, 0, 8) != 1) return 1;
    const long file = (long)event.data;
    if (file == server) {
      const long end = call(N_accept4, server, 0, 0, NONBLOCK);
      if (end < 0 || end >= 32 || ++accepted > 3 || event.events != IN) return 2;
      letters[end] = 0;  // the number may have belonged to a file that is closed now
      event.events = IN | RDHUP | 1u << 31, event.data = (u64)end;
      call(N_epoll_ctl, poller, 1, end, &event);
      continue;
    }
    for (long size; (size = call(N_read, file, text, 100)) != -EAGAIN;) {
      if (size == 0) {
        call(N_close, file), ++gone;
        break;
      }
      if (size != 1 || (letters[file] && letters[file] != text[0])) return 3;
      letters[file] = text[0], ++all;
      call(N_write, file, text, size);
    }
  }
  for (int i = 0; i < 3; ++i) join(&threads[i]);
  return all == 30 ? 0 : 4;
}

static int unconnected_socket(void) {
  const long alone = call(N_socket, INTERNET, STREAM, 0);
  if (poll_now(alone, IN | OUT) != (OUT | HUP)) return 1;
  if (call(N_recvfrom, alone, text, 9, 0, 0, 0) != -107) return 2;
  u32 value = 9, size = 4;
  if (call(N_getsockopt, alone, 1, 3, &value, &size) || value != STREAM || size != 4) return 3;
  return call(N_shutdown, alone, 2) == -107 ? 0 : 4;
}

int run(int count, char** words) {
  const char* const what = count > 1 ? words[1] : "";
  if (same(what, "pairs")) return pairs();
  if (same(what, "datagrams")) return datagrams();
  if (same(what, "over_loopback")) return over_loopback();
  if (same(what, "refused")) return refused();
  if (same(what, "unix_names")) return unix_names();
  if (same(what, "shut_down")) return shut_down();
  if (same(what, "echoes")) return echoes();
  if (same(what, "unconnected_socket")) return unconnected_socket();
  return 100;
}

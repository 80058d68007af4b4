// A task writes a byte to one end of a UNIX domain socket, and reads it at the other end.
//
// No task shares its pair of sockets with another. But while a writer appends to the buffer of the
// other end, the other end must not be closed. (A reader that reports new room to the writer holds
// the lock of the pair.) One of two locks ensures this (`link`):
//
//   global  one lock for all connections of the system, taken shared by every send and exclusively
//           by connect and close, and inside it the pair's mutex (UNP_LINK_RLOCK and UNP_PCB_LOCK
//           in uipc_send of FreeBSD 11's kern/uipc_usrreq.c). Even taken shared it is written
//           twice: its line moves to every task, and throughput is flat from eight tasks on
//   pair    a lock for each pair (FreeBSD 12): 128 tasks sent nineteen times as much (Macy 2018)
//
// After every `reconnect` bytes a task closes and reconnects its pair.
//
// Check: a task reads the byte that it has written, over the same connection.
#include "calls.h"
#include "mtx.h"
#include "rwlock.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("Kernel path UNIX sockets: one lock for all connections, or one each");
enum link { GLOBAL, PAIR };
UC_PARAM(choice, link, GLOBAL, "global|pair", "what guards the existence of the other end");
UC_PARAM(u64, reconnect, 0, "bytes", "a task closes and connects anew after so many; 0: never");
UC_PARAM(u64, work, 3500, "instructions", "entry, exit and private work of write and read");

#define BUFFER 64  // bytes; each is a word here

struct socket {
  UC_ALIGNED struct spinlock lock;  // guards the receive buffer
  uint64_t head, tail;              // number of words put in, and taken out, so far
  uint64_t words[BUFFER];
};

// Two connected sockets; the first writes, the second reads.
static struct pair {
  UC_ALIGNED struct mtx lock;
  struct socket* peer;  // the other end; null while not connected
  uint64_t connection;  // number of times that it was connected
  struct socket* reader;
  UC_ALIGNED uint64_t sent;  // number of words that the task has sent
}* pairs_of;

static struct rwlock* all_links;

static void connect_pair(struct pair* pair) {
  pair->peer = pair->reader;
  pair->connection++;
}

void uc_setup(unsigned n) {
  all_links = uc_alloc(sizeof *all_links, 0);
  rw_init(all_links, n);
  mtx_setup(n);
  pairs_of = uc_alloc(n * sizeof *pairs_of, 0);
  for (unsigned id = 0; id < n; id++) {
    pairs_of[id].reader = uc_alloc(sizeof(struct socket), 0);
    connect_pair(&pairs_of[id]);
  }
}

static void put(struct socket* socket, uint64_t word) {
  spin_lock(&socket->lock);
  if (!UC_SABOTAGE) socket->words[socket->head++ % BUFFER] = word;
  spin_unlock(&socket->lock);
}

// Takes a word from the buffer. Returns 0 if the buffer is empty.
static uint64_t take(struct socket* socket) {
  spin_lock(&socket->lock);
  bool empty = socket->tail == socket->head;
  uint64_t word = empty ? 0 : socket->words[socket->tail++ % BUFFER];
  spin_unlock(&socket->lock);
  return word;
}

static void write_byte(struct pair* pair, uint64_t word) {
  uc_work((int64_t)work / 2);
  if (link == GLOBAL) rw_rlock(all_links);
  mtx_lock(&pair->lock);
  if (pair->peer) put(pair->peer, word);
  mtx_unlock(&pair->lock);
  if (link == GLOBAL) rw_runlock(all_links);
}

static uint64_t read_byte(struct pair* pair) {
  uc_work((int64_t)work / 2);
  uint64_t word = take(pair->reader);
  mtx_lock(&pair->lock);  // to wake the writer, if it exists and waits for room
  uc_check(pair->peer == pair->reader, "the other end vanished");
  mtx_unlock(&pair->lock);
  return word;
}

static void connect_again(struct pair* pair) {
  if (link == GLOBAL) rw_wlock(all_links);
  mtx_lock(&pair->lock);
  pair->peer = NULL;
  connect_pair(pair);
  mtx_unlock(&pair->lock);
  if (link == GLOBAL) rw_wunlock(all_links);
}

static void call(unsigned id) {
  struct pair* pair = &pairs_of[id];
  uint64_t word = pair->connection << 48 | (uint64_t)id << 32 | ++pair->sent;
  write_byte(pair, word);
  uc_check(read_byte(pair) == word, "not the byte that was written");
  if (reconnect && pair->sent % reconnect == 0) connect_again(pair);
}

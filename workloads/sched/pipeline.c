// TCP to localhost: a sender, the only netisr thread of the system, and a receiver.
//
// Macy (2018): FreeBSD hands each segment sent to localhost to its netisr thread, which runs the
// protocol and wakes the receiver; window updates come back the same way. On one socket the third
// thread helps: 50 to 60 Gbit/s. With the netisr thread on the other socket, the queue, the header
// and the wake-up of every segment cross between the sockets twice, and throughput falls to 18 to
// 32 Gbit/s. Linux runs the protocol inline (`protocol=inline`), without a thread. The payload
// always moves from sender to receiver directly.
//
// A segment is a header, which the protocol reads and writes, and `lines` lines of payload: a
// processor prefetches the other lines. The window is FreeBSD's default, a socket buffer of 64 KiB
// over segments of 16 KiB, the MTU of lo0. The sender sleeps while the window is full, the other
// threads while their queue is empty. An operation is a segment received. The numbers of harts in
// parameters are taken modulo the run's harts.
//
// Each of several `connections` has its own sender and receiver, two harts after the previous ones.
// FreeBSD of 2018 has one netisr thread for all of them by default (net.isr.maxthreads);
// `netisrs=each` gives each connection one, on the next hart. With more connections the one thread
// becomes the bottleneck, and the total throughput stays level, while it rises with the number of
// connections if each has its own thread.
//
// Check: segments arrive in order, with the payload that was sent.
#include "loop.h"
#include "scheduler.h"
#include "spinlock.h"
#include "uncore.h"

UC_WORKLOAD("TCP to localhost: sender, netisr thread and receiver, near or far");
enum protocol { PROTOCOL_NETISR, PROTOCOL_INLINE };
UC_PARAM(choice, protocol, PROTOCOL_NETISR, "netisr|inline",
         "by the netisr thread, or whoever sends");
UC_PARAM(u64, sender, 0, "hart", "where the sender runs");
UC_PARAM(u64, receiver, 1, "hart", "where the receiver runs");
UC_PARAM(u64, netisr, 2, "hart", "where the netisr thread runs");
UC_PARAM(u64, connections, 1, "connections", "a sender and a receiver each");
enum netisrs { NETISRS_ONE, NETISRS_EACH };
UC_PARAM(choice, netisrs, NETISRS_ONE, "one|each", "netisr threads: for all connections, or each");
UC_PARAM(u64, lines, 4, "lines", "of a payload that nothing prefetches, 64 bytes each");
UC_PARAM(u64, window, 4, "segments", "that may be under way");
UC_PARAM(u64, ack_every, 2, "segments", "the receiver opens the window after so many");
UC_PARAM(duration, work, 250, "ns", "private work of each thread for a segment");

enum kind { DATA, WINDOW_UPDATE };

struct connection;

struct segment {
  UC_ALIGNED struct segment* next;
  struct connection* connection;
  enum kind kind;
  bool last;
  uint64_t number;  // number of the segment; in a window update, of segments acknowledged
  UC_ALIGNED struct line {
    _Alignas(64) uint64_t word;
  } payload[];
};

struct queue {
  UC_ALIGNED struct spinlock lock;
  struct segment *first, *last;
  _Atomic uint64_t length;
};

// The sender's socket.
struct send_buffer {
  UC_ALIGNED _Atomic uint64_t acknowledged;  // number of segments acknowledged
  UC_ALIGNED uint64_t sent;                  // number sent; only the sender uses it
};

static struct connection {
  UC_ALIGNED struct queue *protocol_queue, *receive_buffer;
  struct send_buffer* send_buffer;
  struct segment **ring, **updates;  // `window` segments each, used in turn
}* all_connections;

// ---- Queues between threads ---------------------------------------------------------------------

static void put(struct queue* queue, struct segment* segment) {
  segment->next = NULL;
  spin_lock(&queue->lock);
  if (queue->first)
    queue->last->next = segment;
  else
    queue->first = segment;
  queue->last = segment;
  bool was_empty = atomic_fetch_add_explicit(&queue->length, 1, memory_order_relaxed) == 0;
  spin_unlock(&queue->lock);
  if (was_empty) uc_wakeup(queue);
}

static void sleep_while_empty(struct queue* queue) {
  while (!atomic_load_explicit(&queue->length, memory_order_acquire)) {
    uc_sleepq_lock(queue);
    if (atomic_load_explicit(&queue->length, memory_order_acquire))
      uc_sleepq_release(queue);
    else
      uc_sleepq_wait(queue);
  }
}

static struct segment* get(struct queue* queue) {
  sleep_while_empty(queue);
  spin_lock(&queue->lock);
  struct segment* segment = queue->first;
  queue->first = segment->next;
  atomic_fetch_sub_explicit(&queue->length, 1, memory_order_relaxed);
  spin_unlock(&queue->lock);
  return segment;
}

// ---- The protocol: run by the netisr thread, or inline ------------------------------------------

static void input(struct segment* segment) {
  uc_delay(work);
  if (segment->kind == DATA) {
    put(segment->connection->receive_buffer, segment);
    return;
  }
  struct send_buffer* send_buffer = segment->connection->send_buffer;
  atomic_fetch_add_explicit(&send_buffer->acknowledged, segment->number, memory_order_release);
  uc_wakeup(send_buffer);
}

static void output(struct segment* segment) {
  if (protocol == PROTOCOL_NETISR)
    put(segment->connection->protocol_queue, segment);
  else
    input(segment);
}

// Serves a queue until all its connections have ended.
static void netisr_thread(void* argument) {
  struct queue* queue = argument;
  for (uint64_t left = netisrs == NETISRS_ONE ? connections : 1; left;) {
    struct segment* segment = get(queue);
    bool over = segment->kind == WINDOW_UPDATE && segment->last;
    input(segment);
    left -= over;
  }
}

// ---- The sender ---------------------------------------------------------------------------------

static bool window_full(struct send_buffer* send_buffer) {
  return send_buffer->sent -
             atomic_load_explicit(&send_buffer->acknowledged, memory_order_acquire) >=
         window;
}

static void sleep_while_full(struct send_buffer* send_buffer) {
  while (!UC_SABOTAGE && window_full(send_buffer)) {
    uc_sleepq_lock(send_buffer);
    if (window_full(send_buffer))
      uc_sleepq_wait(send_buffer);
    else
      uc_sleepq_release(send_buffer);
  }
}

static void send_segment(struct connection* connection, bool last) {
  struct send_buffer* send_buffer = connection->send_buffer;
  sleep_while_full(send_buffer);
  struct segment* segment = connection->ring[send_buffer->sent % window];
  segment->kind = DATA;
  segment->last = last;
  segment->number = send_buffer->sent++;
  for (uint64_t i = 0; i < lines; i++) segment->payload[i].word = segment->number + i;
  uc_delay(work);
  output(segment);
}

static void sender_thread(void* argument) {
  struct loop loop = loop_plan();
  for (bool more = loop_more(&loop); more;) {
    more = loop_more(&loop);
    send_segment(argument, !more);
  }
}

// ---- The receiver -------------------------------------------------------------------------------

static void open_window(struct connection* connection, uint64_t number, uint64_t segments,
                        bool last) {
  struct segment* update = connection->updates[number % window];
  update->kind = WINDOW_UPDATE;
  update->last = last;
  update->number = segments;
  output(update);
}

static void receive(struct segment* segment, uint64_t expected) {
  uint64_t number = segment->number;
  uc_check(number == expected, "a segment was lost or overtaken");
  uc_delay(work);
  for (uint64_t i = 0; i < lines; i++)
    uc_check(segment->payload[i].word == number + i, "a payload was overwritten");
}

static void receiver_thread(void* argument) {
  struct connection* connection = argument;
  uint64_t pending = 0;
  bool last = ops == 0 && !duration;
  for (uint64_t number = 0; !last; number++) {
    uc_start();
    struct segment* segment = get(connection->receive_buffer);
    last = segment->last;
    receive(segment, number);
    uc_op();
    if (++pending < ack_every && pending < window && !last) continue;
    open_window(connection, number, pending, last);
    pending = 0;
  }
}

// ---- Threads ------------------------------------------------------------------------------------

static struct segment** make_segments(struct connection* connection, uint64_t payload) {
  struct segment** segments = uc_alloc(window * sizeof *segments, 0);
  for (uint64_t i = 0; i < window; i++) {
    segments[i] = uc_alloc(sizeof(struct segment) + payload * sizeof(struct line), 0);
    segments[i]->connection = connection;
  }
  return segments;
}

static void start(void (*body)(void*), void* argument, uint64_t hart, unsigned n) {
  uc_thread_create(body, argument, uc_cpuset_one((unsigned)(hart % n)));
}

static void connect(uint64_t number, unsigned n) {
  struct connection* connection = &all_connections[number];
  bool own_netisr = number == 0 || netisrs == NETISRS_EACH;
  connection->protocol_queue = own_netisr ? uc_alloc(sizeof *connection->protocol_queue, 0)
                                          : all_connections[0].protocol_queue;
  connection->receive_buffer = uc_alloc(sizeof *connection->receive_buffer, 0);
  connection->send_buffer = uc_alloc(sizeof *connection->send_buffer, 0);
  connection->ring = make_segments(connection, lines);
  connection->updates = make_segments(connection, 0);
  start(receiver_thread, connection, receiver + 2 * number, n);
  start(sender_thread, connection, sender + 2 * number, n);
  if (own_netisr && protocol == PROTOCOL_NETISR && (ops || duration))
    start(netisr_thread, connection->protocol_queue, netisr + number, n);
}

void uc_setup(unsigned n) {
  uc_sched_setup(n);
  uc_require(window && connections, "window and connections must be 1 or more");
  all_connections = uc_alloc(connections * sizeof *all_connections, 0);
  for (uint64_t number = 0; number < connections; number++) connect(number, n);
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  loop_attend();
  uc_sched_run();
  loop_end();
}

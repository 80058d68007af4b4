// A database server's threads and the lock of their descriptor table, with more clients than CPUs.
//
// Each client has a thread in the server. A query is private work and `calls` system calls on its
// socket, each of which briefly takes the lock of the process's one descriptor table. With as many
// clients as CPUs that is harmless. With more, a thread now and then loses its CPU while it holds
// the lock. Then it matters how the other threads wait (`mutex`):
//
//   adaptive  spin while the owner runs, else sleep; a running thread takes a free lock.
//             FreeBSD 7 with such a mutex lost 8 % from 8 to 20 clients on 8 CPUs (Kennaway
//             2007)
//   sleep     the same without spinning: each collision costs a sleep and a wake-up, and a sleeper
//             must wait for a CPU on which another thread runs. It is as good at 8 clients, then
//             falls, like Linux, which at 20 clients had a quarter of FreeBSD's rate
//   handoff   unlocking gives the lock to the longest sleeper, and until this one runs no thread
//             uses the lock: a convoy forms
//
// A thread runs until its `quantum` is over, or until it sleeps. With `preempt=user` a quantum that
// ends within the kernel takes effect only at the return to the program, as in FreeBSD, whose clock
// interrupt then only sets TDF_NEEDRESCHED. So no thread loses its CPU with the descriptor lock
// held. The server has locks of its own, of which the kernel does not know: `inner` is the time
// that a query holds one, a pthread mutex, whose waiters sleep. Kennaway's notes of 2008 blame
// these locks for the loss of throughput above 8 clients.
//
// Check: what each lock guards is changed by one thread at a time, and every call is counted.
#include "loop.h"
#include "mtx.h"
#include "uncore.h"

UC_WORKLOAD("Database threads and one descriptor lock, more clients than CPUs");
UC_PARAM(u64, clients, 20, "threads", "clients, however many harts there are");
UC_PARAM(u64, calls, 4, "calls", "system calls of a query, each with the descriptor lock");
UC_PARAM(duration, work, 80000, "ns", "private work of a query");
UC_PARAM(duration, hold, 100, "ns", "time with the lock held, each call");
UC_PARAM(duration, inner, 0, "ns", "of the work of a query, with a lock of the server's own held");
enum preempt { PREEMPT_ANYWHERE, PREEMPT_USER };
UC_PARAM(choice, preempt, PREEMPT_ANYWHERE, "anywhere|user",
         "where a quantum ends: also in the kernel, or at the return to the program");
UC_PARAM(duration, quantum, 100000, "ns", "after which a thread lets another one run");

// Volatile, so that the compiler keeps each access; not atomic, because the lock protects them.
static struct table {
  UC_ALIGNED struct mtx lock;
  UC_ALIGNED volatile uint64_t calls;
  const volatile void* inside;
}* table;

// A pthread mutex: a word in the program's memory, and a sleep queue of the kernel for waiters.
static struct server {
  UC_ALIGNED _Atomic uint32_t word;
  UC_ALIGNED volatile uint64_t queries;
  const volatile void* inside;
}* server;

enum { SERVER_FREE, SERVER_TAKEN, SERVER_CONTESTED };

struct client {
  UC_ALIGNED uint64_t quantum_end;
};

static uint64_t share;  // one client's share of the operations of all harts

// At the end of its quantum the thread goes to the end of the queue, with the locks that it holds.
static void preempt_if_due(struct client* self) {
  if (uc_now() < self->quantum_end) return;
  uc_yield();
  self->quantum_end = uc_now() + quantum;
}

static void run_for(struct client* self, uint64_t ns) {
  uc_delay(ns);
  preempt_if_due(self);
}

static bool server_take(uint32_t taken) {
  return atomic_exchange_explicit(&server->word, taken, memory_order_acquire) == SERVER_FREE;
}

static void server_lock(void) {
  uint32_t word = SERVER_FREE;
  if (atomic_compare_exchange_strong_explicit(&server->word, &word, SERVER_TAKEN,
                                              memory_order_acquire, memory_order_relaxed))
    return;
  uc_sleepq_lock(server);
  while (!server_take(SERVER_CONTESTED)) {
    uc_sleepq_wait(server);
    uc_sleepq_lock(server);
  }
  uc_sleepq_release(server);
}

static void server_unlock(void) {
  if (atomic_exchange_explicit(&server->word, SERVER_FREE, memory_order_release) ==
      SERVER_CONTESTED)
    uc_wakeup_one(server);
}

static void use_server(struct client* self) {
  server_lock();
  uc_check(!server->inside, "two threads have the server's own lock");
  server->inside = self;
  uint64_t before = server->queries;
  run_for(self, inner);
  server->queries = before + 1;
  server->inside = NULL;
  server_unlock();
}

static void use_descriptor(struct client* self) {
  if (!UC_SABOTAGE) mtx_lock(&table->lock);
  uc_check(!table->inside, "two threads in the descriptor table");
  table->inside = self;
  uint64_t before = table->calls;
  if (preempt == PREEMPT_USER)
    uc_delay(hold);
  else
    run_for(self, hold);
  table->calls = before + 1;
  table->inside = NULL;
  if (!UC_SABOTAGE) mtx_unlock(&table->lock);
  if (preempt == PREEMPT_USER) preempt_if_due(self);
}

static void query(struct client* self) {
  if (inner) use_server(self);
  for (uint64_t i = 0; i < calls; i++) {
    run_for(self, (work - inner) / calls);
    use_descriptor(self);
  }
}

static void serve(void* argument) {
  struct client* self = argument;
  self->quantum_end = uc_now() + quantum;
  struct loop loop = loop_plan();
  loop.left = share;
  while (loop_more(&loop)) {
    uc_start();
    query(self);
    uc_op();
  }
}

void uc_setup(unsigned n) {
  mtx_setup(n);
  uc_require(clients && calls, "there must be a client or more, and a call or more in a query");
  uc_require(inner <= work, "inner is a part of work, and may not be longer");
  share = (ops * n + clients - 1) / clients;
  table = uc_alloc(sizeof *table, 0);
  server = uc_alloc(sizeof *server, 0);
  for (uint64_t i = 0; i < clients; i++)
    uc_thread_create(serve, uc_alloc(sizeof(struct client), 0), NULL);
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  loop_attend();
  uc_sched_run();
  loop_end();
}

void uc_finish(unsigned n) {
  uc_check(table->calls == calls * uc_total_ops(n), "calls were not counted");
  uc_check(!inner || server->queries == uc_total_ops(n), "queries were not counted");
}

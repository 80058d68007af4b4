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
// The cause of Linux's fall in 2007 was none of the kernel's locks: its idle CPUs had threads that
// slept in futex(2) for the lock of glibc's malloc, and with another allocator the fall was gone
// (A. Blanchard, "MySQL scalability on Linux with sysbench", ozlabs.org/~anton/linux/sysbench,
// March 2007: 31 % idle, 130,000 switches a second). Linux looks up a descriptor without a lock
// (`descriptors=rcu`, fget_light). A query has `allocations` pieces of work in between, each with
// the heap's lock held for `allocating`:
//
//   one    glibc's main arena, a pthread mutex: a thread that finds it taken sleeps at once. Up to
//          a thread a CPU, the owner soon lets it go. With more, an owner loses its CPU, all
//          others come to sleep, and from then on each unlock wakes one: a convoy that lasts,
//          because threads are back at the lock before it is empty
//   own    an arena for each thread: FreeBSD 7's jemalloc (up to four for each CPU)
//
// Check: what each lock guards is changed by one thread at a time, and every call is counted.
#include "glibc_mutex.h"
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
enum descriptors { DESCRIPTORS_LOCK, DESCRIPTORS_RCU };
UC_PARAM(choice, descriptors, DESCRIPTORS_LOCK, "lock|rcu", "how a descriptor is looked up");
enum heap { HEAP_ONE, HEAP_OWN };
UC_PARAM(choice, heap, HEAP_ONE, "one|own", "arenas of the allocator: one, or one a thread");
UC_PARAM(u64, allocations, 0, "allocations", "of a query, a multiple of its calls");
UC_PARAM(duration, allocating, 200, "ns", "of the work of a query, each time with the heap's lock");
UC_PARAM(duration, quantum, 100000, "ns", "after which a thread lets another one run");

// Volatile, so that the compiler keeps each access; not atomic, because the lock protects them.
static struct table {
  UC_ALIGNED struct mtx lock;
  UC_ALIGNED volatile uint64_t calls;
  const volatile void* inside;
}* table;

// Data under a pthread mutex.
struct guarded {
  UC_ALIGNED struct glibc_mutex mutex;
  UC_ALIGNED volatile uint64_t uses;
  const volatile void* inside;
};

static struct guarded *server, *arena;

static struct client {
  UC_ALIGNED uint64_t quantum_end;
  uint64_t calls;  // number of descriptors looked up without a lock
  struct guarded* heap;
}* all_clients;

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

static void use(struct guarded* data, struct client* self, uint64_t ns) {
  glibc_lock(&data->mutex);
  uc_check(!data->inside, "two threads have one lock of the server's own");
  data->inside = self;
  uint64_t before = data->uses;
  run_for(self, ns);
  data->uses = before + 1;
  data->inside = NULL;
  glibc_unlock(&data->mutex);
}

static void use_descriptor(struct client* self) {
  if (descriptors == DESCRIPTORS_RCU) {
    uc_delay(hold);
    self->calls++;
    if (preempt == PREEMPT_USER) preempt_if_due(self);
    return;
  }
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

// Runs for `ns`, with an allocation after each of `pieces` parts. They are a part of `ns`.
static void run_and_allocate(struct client* self, uint64_t ns, uint64_t pieces) {
  for (uint64_t i = 0; i < pieces; i++) {
    run_for(self, ns / pieces - allocating);
    use(self->heap, self, allocating);
  }
  if (!pieces) run_for(self, ns);
}

static void query(struct client* self) {
  if (inner) use(server, self, inner);
  for (uint64_t i = 0; i < calls; i++) {
    run_and_allocate(self, (work - inner) / calls, allocations / calls);
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
  uc_require(allocations % calls == 0, "allocations must be a multiple of calls");
  uc_require(inner + allocations * allocating <= work,
             "inner and allocations are parts of work, and may not be longer");
  share = (ops * n + clients - 1) / clients;
  table = uc_alloc(sizeof *table, 0);
  server = uc_alloc(sizeof *server, 0);
  arena = uc_alloc(sizeof *arena, 0);
  all_clients = uc_alloc(clients * sizeof *all_clients, 0);
  for (uint64_t i = 0; i < clients; i++) {
    all_clients[i].heap = heap == HEAP_ONE ? arena : uc_alloc(sizeof *arena, 0);
    uc_thread_create(serve, &all_clients[i], NULL);
  }
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  loop_attend();
  uc_sched_run();
  loop_end();
}

void uc_finish(unsigned n) {
  uint64_t looked_up = table->calls, allocated = heap == HEAP_ONE ? arena->uses : 0;
  for (uint64_t i = 0; i < clients; i++) {
    looked_up += all_clients[i].calls;
    if (heap == HEAP_OWN) allocated += all_clients[i].heap->uses;
  }
  uc_check(looked_up == calls * uc_total_ops(n), "calls were not counted");
  uc_check(!inner || server->uses == uc_total_ops(n), "queries were not counted");
  uc_check(allocated == allocations * uc_total_ops(n), "allocations were not counted");
}

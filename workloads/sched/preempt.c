// A protocol thread preempts the driver for each frame, or runs once for a burst of frames.
//
// Dillon (2005): preemption makes code paths longer and prevents aggregation. A frame's protocol
// takes a microsecond, as a thread switch does, so it is better to process several frames after one
// switch than each frame at once. Driver and protocol are threads of one hart, as in DragonFly: the
// driver puts each frame of a burst into the protocol's port and wakes it. With `policy=preempt`
// the protocol thread, which is more urgent, runs at once, with `policy=aggregate` only when the
// driver yields after the burst.
//
// With preempt each frame costs two switches, with aggregate each burst does. In addition each
// thread misses on data that the other has displaced from the first-level cache, if both do not fit
// there (`footprint`): the driver's ring, the protocol's connections. The model has no instruction
// cache, so such misses of code are left out. With one frame in a burst both policies do the same.
//
// Each hart has a driver and a protocol thread. An operation is a frame processed.
//
// Check: each frame is processed once, in order.
#include "loop.h"
#include "scheduler.h"
#include "uncore.h"

UC_WORKLOAD("Frames for a protocol thread that preempts the driver or waits for its burst");
enum policy { POLICY_AGGREGATE, POLICY_PREEMPT };
UC_PARAM(choice, policy, POLICY_AGGREGATE, "aggregate|preempt", "when the protocol's thread runs");
UC_PARAM(u64, burst, 6, "frames", "that the driver finds at a time");
UC_PARAM(u64, footprint, 16, "lines", "of its own that either thread uses for a frame");
UC_PARAM(duration, work, 500, "ns", "private work of either thread for a frame");

#define SLOTS 64

static struct line {
  _Alignas(64) volatile uint64_t used;
}* data;

static struct port {
  UC_ALIGNED uint64_t put, taken;  // number of frames; not atomic, because one hart uses them
  bool over;
  uint64_t frames[SLOTS];
}* ports;

static void use_lines(struct line* lines) {
  for (uint64_t i = 0; i < footprint; i++) lines[i].used++;
  uc_delay(work);
}

static struct line* lines_of(unsigned hart, unsigned thread) {
  return &data[(2 * hart + thread) * footprint];
}

// ---- The protocol -------------------------------------------------------------------------------

static bool port_empty(struct port* port) { return port->put == port->taken; }

static void process(struct port* port) {
  uint64_t frame = port->frames[port->taken % SLOTS];
  uc_check(frame == port->taken, "a frame was lost or overtaken");
  port->taken++;
  use_lines(lines_of(uc_id(), 1));
  uc_op();
}

static void protocol_thread(void* argument) {
  struct port* port = argument;
  while (!port->over || !port_empty(port)) {
    uc_sleepq_lock(port);
    if (port_empty(port) && !port->over)
      uc_sleepq_wait(port);
    else
      uc_sleepq_release(port);
    while (!port_empty(port)) process(port);
  }
}

// ---- The driver ---------------------------------------------------------------------------------

static void hand_over(struct port* port) {
  use_lines(lines_of(uc_id(), 0));
  port->frames[port->put % SLOTS] = port->put + (UC_SABOTAGE && port->put == 1);
  port->put++;
  if (policy == POLICY_PREEMPT || port->put == port->taken + 1) uc_wakeup(port);
  if (policy == POLICY_PREEMPT) uc_yield();
}

// Lets the protocol thread run until its port is empty, because the driver has nothing to do.
static void yield_until_empty(struct port* port) {
  while (!port_empty(port)) uc_yield();
}

static void driver_thread(void* argument) {
  struct port* port = argument;
  for (struct loop loop = loop_plan(); loop_more(&loop);) {
    for (uint64_t i = 0; i < burst; i++) hand_over(port);
    yield_until_empty(port);
  }
  port->over = true;
  uc_wakeup(port);
}

void uc_setup(unsigned n) {
  uc_require(burst && burst <= SLOTS, "burst must be 1 to 64 frames");
  uc_sched_setup(n);
  ports = uc_alloc(n * sizeof *ports, 0);
  data = uc_alloc(2 * n * footprint * sizeof *data, 0);
  for (unsigned hart = 0; hart < n; hart++) {
    struct uc_thread* protocol =
        uc_thread_create(protocol_thread, &ports[hart], uc_cpuset_one(hart));
    uc_thread_prioritize(protocol, UC_PRIORITY_INTERRUPT);
    uc_thread_create(driver_thread, &ports[hart], uc_cpuset_one(hart));
  }
}

void uc_main(unsigned id, unsigned n) {
  (void)id, (void)n;
  loop_attend();
  uc_sched_run();
  loop_end();
}

void uc_finish(unsigned n) {
  for (unsigned hart = 0; hart < n; hart++)
    uc_check(port_empty(&ports[hart]), "frames were not processed");
}

#include "core/watches.hh"

#include "core/thread_port.hh"

namespace uncore {

Watches::Watches(const JobSpec& job, Code& code, Attribution* attribution)
    : job_(job), code_(code), attribution_(attribution) {
  for (const WatchSpec& watch : job.process.watches) {
    begins_ |= watch.what == What::begins;
    ends_ |= watch.what == What::ends;
    operates_ |= watch.what == What::operates;
    code.watch(watch.address);
  }
}

void Thread::arrived() {
  if (!confined()) core.context.watches->arrived(*this);
}

void Watches::arrived(Thread& thread) {
  const Call call{thread.hart.pc, thread.hart.x[kStackPointer]};
  if (const auto entered = entered_.find(call); entered != entered_.end()) {
    const EnteredCall left = entered->second;
    entered_.erase(entered);
    leave(thread, left);
  }
  for (const WatchSpec& watch : job_.process.watches)
    if (watch.address == thread.hart.pc) enter(thread, watch.what);
}

// Returns the record of the function call that begins now. The record exists until the call
// returns.
Watches::EnteredCall& Watches::called(const Thread& thread) {
  const Call call{thread.hart.x[1], thread.hart.x[kStackPointer]};
  code_.watch(call.ra);
  return entered_[call];
}

void Watches::enter(Thread& thread, What what) {
  const uint64_t* const arguments = &thread.hart.x[10];
  switch (what) {
    case What::begins:
      thread.marker(UC_MARK_ROI_ON, 0);
      if (!ends_) called(thread).begins = true;
      return;
    case What::ends:
      if (!operates_) thread.marker(UC_MARK_OP, 0);
      thread.marker(UC_MARK_ROI_OFF, 0);
      return;
    case What::operates:
      if (!begins_) thread.marker(UC_MARK_ROI_ON, 0);
      thread.marker(UC_MARK_START, 0);
      called(thread).operates = true;
      return;
    case What::first:
    case What::second:
    case What::product:
      if (!attribution_) return;
      EnteredCall& entered = called(thread);
      entered.allocates = true;
      entered.size = what == What::first    ? arguments[0]
                     : what == What::second ? arguments[1]
                                            : arguments[0] * arguments[1];
      entered.callers = thread.core.observed.callers(thread);
  }
}

void Watches::leave(Thread& thread, const EnteredCall& entered) {
  if (entered.operates) thread.marker(UC_MARK_OP, 0);
  if (entered.begins && !operates_) thread.marker(UC_MARK_OP, 0);
  if (entered.begins || (entered.operates && !begins_)) thread.marker(UC_MARK_ROI_OFF, 0);
  if (entered.allocates)
    attribution_->allocations.push_back({thread.hart.x[10], entered.size, entered.callers});
}

}  // namespace uncore

// The observers of a run: the transaction log, the trace and the attribution. A job requests some
// of them, usually none; the pointers to the others are null.
//
// A part of the machine reports each event and does not test whether it is observed. The part has
// an observer of its own class (message_observer.hh, resolver_observer.hh), derived from this
// struct. Each function of such an observer first tests inline, as unlikely, whether there is
// something to record, and records it out of line. Its arguments must cost nothing: callers pass
// the packet's message or the entry by reference, and the observer computes the rest. Each part has
// its own copy of the observer, so that the test is one load from the part's own memory. The
// observer is not a template argument, because an attribution may begin in the middle of a run
// (Engine::observe), and because every engine would be compiled twice. Counters
// (observe/counters.hh) are always active, need no test, and are separate.
//
// An observer decides nothing, so all its functions are const and return nothing. The core's
// observer (core/observed.hh) is not derived from this one: it has its own pointers, which its
// callers test.
#pragma once

namespace uncore {

class Attribution;
class Log;
class Trace;

struct Observer {
  Log* log = nullptr;
  Trace* trace = nullptr;  // set only if log and attribution are set, too
  Attribution* attribution = nullptr;
};

}  // namespace uncore

// The observers of a run: the transaction log, the trace and the attribution. A job asks for some
// of them, usually for none; the pointers to the others are null.
//
// A part of the machine reports each event and does not test whether it is observed. It has an
// observer of its own type (message_observer.hh, resolver_observer.hh), derived from this one. Each
// function of such an observer first tests inline, as unlikely, whether there is anything to
// record, and does the recording out of line. Its arguments must cost nothing: callers pass the
// packet's message or the entry by reference, and the observer computes the rest. Each part has its
// own copy of the observer, so that the test is one load from the part's own memory. The observer
// is not a template argument: an attribution may begin in the middle of a run (Engine::observe),
// and every engine would be compiled twice. Counters that always count (observe/counters.hh) need
// no test and are separate.
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

// The observers of a run: the transaction log, the trace and the attribution. A job asks for some
// of them, mostly for none; pointers to the others are null.
//
// A part of the machine reports what happens and never asks if anybody watches. It has an observer
// of its kind (message_observer.hh, resolver_observer.hh), made from this one. Each of its
// functions first tests, inline and as unlikely, if there is anything to feed, and does the rest
// out of line. Arguments must therefore cost nothing: pass the packet's message or the entry by
// reference, and compute in the observer. An observer is copied, not referred to, so that the test
// is one load from the part's own memory. It is not a template argument, because an attribution may
// begin in the midst of a run (Engine::observe), and every engine would be built twice. Counters
// that always count (observe/counters.hh) need no test, and are apart.
//
// An observer decides nothing, so all its functions are const and return nothing. The core's
// (core/observed.hh) is not derived from this one: it has pointers of its own, which its callers
// test.
#pragma once

namespace uncore {

class Attribution;
class Log;
class Trace;

struct Observer {
  Log* log = nullptr;
  Trace* trace = nullptr;  // set only if log and attribution are
  Attribution* attribution = nullptr;
};

}  // namespace uncore

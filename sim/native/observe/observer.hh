// What watches a run: the transaction log, the trace and the attribution, of which a job asks for
// some, and mostly for none. An observer that is made of nothing does nothing.
//
// A part of the machine says what happens and never asks whether anybody watches. It has an
// observer of its kind (message_observer.hh, resolver_observer.hh), made from this one; each of its
// functions begins with the one test, inline and unlikely, whether what it feeds is there, and does
// the rest out of line. Arguments must therefore cost nothing: pass the packet's message or the
// entry by reference, and compute in the observer. It is copied, not referred to: the test is then
// one load of the part's own memory, as the null pointers were that it replaces. It is no template
// argument: an attribution may begin in the midst of a run (Engine::observe), and an engine for
// each would be built twice. What is always counted (observe/counters.hh) needs no test, and stays
// apart.
//
// For the owner of `core`: core/observed.hh is the third of its kind and should become
// CoreObserver : Observer, made from CoreSurroundings::observer instead of the two pointers there.
// Its callers say `if (observed) observed.access(...)` and `if (observed) observed->missed(id)`;
// both become observed.access(...) and observed.missed(id), with the test in the function:
//     void missed(uint32_t hart) const { if (attribution) [[unlikely]] attribution->missed(hart); }
// Engine::observe() calls core->observed.begin(attribution) today, and goes on to: the copies of
// the fabric and of resolvers feed no attribution. An observer decides nothing, which is why all
// its functions are const and return nothing; where a core takes its slow path because it is
// watched (Lines::slow), it asks `attribution != nullptr`, once, when it begins.
#pragma once

namespace uncore {

class Attribution;
class Log;
class Trace;

struct Observer {
  Log* log = nullptr;
  Trace* trace = nullptr;  // with a log and an attribution
  Attribution* attribution = nullptr;
};

}  // namespace uncore

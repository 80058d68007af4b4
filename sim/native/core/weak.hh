// Tracks which writes a hart of a weakly ordered core has seen, and in which order it must see
// later ones (rule H8).
//
// Times serve as views, as in Pulte et al., "Promising-ARM/RISC-V" (PLDI 2019): every access has a
// time at which it is seen, which the ordering rules bound from below, and a load reads the bytes
// that were in memory then. Stores are ordered when they leave the buffer.
//
// Interface: call waits() and waits_for() before an access is performed, the other functions when
// it is performed. Invariant: no access is seen later than it is performed.
#pragma once

#include <cstdint>

#include "core/store_buffer.hh"
#include "hart/views.hh"
#include "memory/versions.hh"
#include "time/chance.hh"

namespace uncore {

class Weak {
 public:
  // `max_look_back`: the longest time by which a load may look back (H8.5). `max_stay`: the longest
  // time that a store stays in the buffer (H8.1).
  Weak(Versions& versions, uint32_t hart, uint64_t seed, Time max_look_back, Time max_stay)
      : versions_(versions),
        max_look_back_(max_look_back),
        look_back_draws_(Draws::load, seed, hart, max_look_back),
        stay_draws_(Draws::store, seed, hart, max_stay),
        wait_draws_(Draws::answer, seed, hart, max_stay > 0),
        stall_draws_(Draws::stall, seed, hart, 4 * max_stay),
        max_stay_(max_stay) {}

  Views views;  // views of the hart's registers (H8.7)

  // waits_for() returns true if this store must leave the buffer before the access (H8.3); waits()
  // returns true if any store of the buffer must.
  bool waits_for(const Store& store, const Access& access) const;
  bool waits(const Access& access, const StoreBuffer& buffer) const;

  // --- accesses that are performed at `now` ---
  void fence(unsigned predecessor, unsigned successor, const StoreBuffer& buffer, Time now);
  uint64_t load(const Access& access, const Bytes& line, Time now);
  // Decides whether the buffer forwards its value to a load. Returns false if the load waits for
  // the stores to leave instead (H8.9).
  bool try_forward(const Access& load, const StoreBuffer& buffer);
  void reserve(const Access& access, const Bytes& line, Time now);
  void note_change(uint64_t address, unsigned size, const Bytes& line, Time now);
  void atomic(const Access& access, Time now);  // called when an AMO or an SC has written
  void left(const Store& store, const Bytes& line, Time now);
  Time stall();  // draws the additional time of a write (H8.11)
  // Makes sure that no later load is seen before `now`.
  void sees_all(Time now) { earliest_view_ = now; }
  // Returns true if a waiting loop repeats itself (S1): it is back at `pc` with the same views as
  // one iteration ago, and no load of this iteration has read old bytes.
  bool end_iteration(uint64_t pc);

  // --- the store buffer ---
  Store enter(const Access& store, Time now);
  // Returns true if this entry may leave the buffer.
  static bool may_leave(const StoreBuffer& buffer, std::size_t entry, Time now);

 private:
  // The state, apart from memory, on which a loop iteration depends.
  struct State {
    uint64_t pc = 0;
    Time earliest_view = 0, loads = 0, writes = 0;
    Views::Registers registers{};
    bool operator==(const State&) const = default;
  };
  void loaded(Time view);
  void wrote(uint64_t address, unsigned size, Time now);

  Versions& versions_;
  const Time max_look_back_;  // longest time by which a load looks back
  // draws that decide how far a load looks back, how long a store stays, whether a load waits
  // (H8.9)
  const Draws look_back_draws_, stay_draws_, wait_draws_;
  uint64_t num_look_backs_ = 0, num_stays_ = 0,
           num_waits_ = 0;  // number of draws of each kind so far
  bool must_wait_ = false;  // the load being executed waits for the hart's own stores
  uint32_t group_ = 0;      // Store::group of new stores: grows with each fence that separates them
  Time earliest_view_ = 0;  // no later load is seen before this time (H8.6)
  Time loads_ = 0, writes_ = 0, releases_ = 0;  // when the latest load, write and release were seen
  LineMap<Time> words_;   // per doubleword: write time of the newest version that the hart has seen
  State last_iteration_;  // state at the end of the loop's last iteration
  bool looked_back_ = false;  // a load of this iteration has read old bytes
  const Draws stall_draws_;   // draws for stall()
  const Time max_stay_;       // longest time that a store stays
  uint64_t num_stalls_ = 0;   // number of draws for stall() so far
};

}  // namespace uncore

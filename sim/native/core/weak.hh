// What a hart of a weakly ordered core has seen, and what must be seen in order (rule H8).
//
// Times stand for views, as in Pulte et al., "Promising-ARM/RISC-V" (PLDI 2019): every access is
// seen at a time that its order allows, and a load takes the bytes that were in memory then. The
// stores' order is that in which they leave the buffer.
//
// Interface: waits() before an access is performed, the rest when it is. Invariant: no access is
// seen later than it is performed.
#pragma once

#include <cstdint>

#include "core/store_buffer.hh"
#include "hart/views.hh"
#include "memory/versions.hh"
#include "time/chance.hh"

namespace uncore {

class Weak {
 public:
  // The longest times that a load looks back and a store stays.
  Weak(Versions& versions, uint32_t hart, uint64_t seed, Time load, Time store)
      : versions_(versions),
        furthest_(load),
        back_(Draws::load, seed, hart, load),
        keeps_(Draws::store, seed, hart, store) {}

  Views views;  // of its registers

  // Must this store leave the buffer before the access? Must any?
  bool waits_for(const Store& store, const Access& access) const;
  bool waits(const Access& access, const StoreBuffer& buffer) const;

  // --- what is performed, at `now` ---
  void fence(unsigned predecessor, unsigned successor, const StoreBuffer& buffer, Time now);
  uint64_t load(const Access& access, const Bytes& line, Time now);
  void forwarded(const Access& load, const StoreBuffer& by);
  void reserve(const Access& access, const Bytes& line, Time now);
  void changes(uint64_t address, unsigned size, const Bytes& line, Time now);
  void atomic(const Access& access, Time now);  // an AMO or an SC has written
  void interrupted(Time now) { after_ = now; }
  // Has a loop that waits come back to `pc` and seen the same, and nothing old? Then it goes on so.
  bool repeats(uint64_t pc);

  // --- the store buffer ---
  Store enters(const Access& store, Time now);
  // May this entry leave?
  static bool is_free(const StoreBuffer& buffer, std::size_t entry, Time now);

 private:
  struct State {
    uint64_t pc = 0;
    Time after = 0, loads = 0, writes = 0;
    Views::Registers registers{};
    bool operator==(const State&) const = default;
  };
  void loaded(Time view);
  void wrote(uint64_t address, unsigned size, Time now);

  Versions& versions_;
  const Time furthest_;  // that a load looks back
  const Draws back_, keeps_;
  uint64_t choices_ = 0, stores_ = 0;           // that were drawn
  uint32_t group_ = 0;                          // of its stores, between fences
  Time after_ = 0;                              // no load is seen before
  Time loads_ = 0, writes_ = 0, releases_ = 0;  // the newest that was seen of each
  LineMap<Time> words_;                         // which version of a doubleword it has seen
  State turn_;
  bool looked_back_ = false;  // in this turn
};

}  // namespace uncore

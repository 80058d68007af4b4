#include "core/weak.hh"

#include <algorithm>

namespace uncore {

bool Weak::waits_for(const Store& s, const Access& a) const {
  using K = Access::Kind;
  if (a.kind == K::load || a.kind == K::store) return false;
  if (a.kind == K::fence) {
    const unsigned predecessor = a.order >> 4, successor = a.order & 15;
    return orders_write_before_read(predecessor, successor) ||
           (s.is_atomic() && (predecessor & kReads) && (successor & (kReads | kInput)));
  }
  if (a.kind == K::write || a.kind == K::read || a.releases()) return true;
  return s.line == a.line || (a.writes() && s.group != group_);
}

bool Weak::waits(const Access& a, const StoreBuffer& buffer) const {
  return std::ranges::any_of(buffer.entries(), [&](const Store& s) { return waits_for(s, a); });
}

void Weak::fence(unsigned predecessor, unsigned successor, const StoreBuffer& buffer, Time now) {
  const bool separates =
      (predecessor & kWrites) ? !buffer.empty() : (predecessor & kReads) && buffer.has_atomics();
  if ((successor & kWrites) && separates) ++group_;
  if (!(successor & kReads)) return;
  if (predecessor & kReads) earliest_view_ = std::max(earliest_view_, loads_);
  if (predecessor & kWrites) earliest_view_ = std::max(earliest_view_, writes_);
  if (predecessor & (kInput | kOutput)) earliest_view_ = now;
}

// H8.5: a load reads the bytes that memory had at a randomly drawn time, if several versions are
// allowed.
uint64_t Weak::load(const Access& a, const Bytes& line, Time now) {
  must_wait_ = false;
  const uint64_t word = a.address / kWordBytes;
  const Time earliest = std::max(earliest_view_, views.address);
  const auto last_seen = words_.find(word);
  const Time first = std::max(earliest, last_seen == words_.end() ? 0 : last_seen->second);
  const Time last = versions_.last_write(word);
  Time then = now;
  if (last > first && last + max_look_back_ > now) {
    const Time back = look_back_draws_(++num_look_backs_);
    then = std::max(first, now > back ? now - back : 0);
  }
  const uint64_t current = line.read(line.offset(word * kWordBytes), kWordBytes);
  const auto [value, since] = versions_.at(word, current, then);
  looked_back_ |= last > since;
  if (since > 0) words_[word] = since;
  loaded(std::max(earliest, since));
  return zero_extend(value >> a.address % kWordBytes * 8, a.size);
}

// Decides whether a store in the buffer forwards its value to the hart's load before other harts
// see the store (rule 12 of RVWMO; H8.7).
bool Weak::try_forward(const Access& a, const StoreBuffer& buffer) {
  if (!must_wait_) must_wait_ = wait_draws_(++num_waits_) > 0;
  if (must_wait_) return false;
  const auto stores = buffer.entries();
  const auto from = std::find_if(stores.rbegin(), stores.rend(), [&](const Store& s) {
    return s.address < a.address + a.size && a.address < s.address + s.size;
  });
  loaded(std::max({earliest_view_, views.address, from->view}));
  return true;
}

// H8.8: an LR reads the present bytes, because its SC succeeds only if no other hart has written
// since.
void Weak::reserve(const Access& a, const Bytes& line, Time now) {
  const uint64_t word = a.address / kWordBytes;
  const uint64_t current = line.read(line.offset(word * kWordBytes), kWordBytes);
  const Time since = versions_.at(word, current, now).since;
  if (since > 0) words_[word] = since;
  Time view = std::max({earliest_view_, views.address, since});
  if (a.acquires()) view = std::max(view, releases_);
  if (a.releases()) view = std::max({view, loads_, writes_});
  loaded(view);
  if (a.acquires()) earliest_view_ = std::max(earliest_view_, view);
}

void Weak::note_change(uint64_t address, unsigned size, const Bytes& line, Time now) {
  versions_.change(address, size, line, now);
  wrote(address, size, now);
}

void Weak::atomic(const Access& a, Time now) {
  wrote(a.address, a.size, now);
  if (a.operates()) loads_ = now;
  views.result = now;
  if (a.acquires()) earliest_view_ = now;
  if (a.releases()) releases_ = now;
}

// Called when a store, or an AMO, which also reads (H8.10), has left the buffer.
void Weak::left(const Store& s, const Bytes& line, Time now) {
  note_change(s.address, s.size, line, now);
  if (s.is_atomic()) loads_ = now;
}

// Draws one number, which decides both whether a write stalls (one time in four) and for how long.
Time Weak::stall() {
  const Time drawn = stall_draws_(++num_stalls_);
  return drawn > 3 * max_stay_ ? drawn - 3 * max_stay_ : 0;
}

bool Weak::end_iteration(uint64_t pc) {
  const State now{pc, earliest_view_, loads_, writes_, views.registers()};
  const bool same = now == last_iteration_ && !looked_back_;
  last_iteration_ = now;
  looked_back_ = false;
  return same;
}

void Weak::loaded(Time view) {
  loads_ = std::max(loads_, view);
  views.result = view;
}

void Weak::wrote(uint64_t address, unsigned size, Time now) {
  writes_ = now;
  for (uint64_t word = address / kWordBytes; word * kWordBytes < address + size; ++word)
    words_[word] = now;
}

Store Weak::enter(const Access& a, Time now) {
  Store store{a.address, a.line, a.value, a.size, a.operates() ? a : Access{}};
  store.leaves = now + stay_draws_(++num_stays_);
  store.view = std::max(views.address, views.data);
  store.group = group_;
  return store;
}

bool Weak::may_leave(const StoreBuffer& buffer, std::size_t entry, Time now) {
  const auto all = buffer.entries();
  const Store& store = all[entry];
  return store.leaves <= now &&
         std::none_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(entry),
                      [&](const Store& older) {
                        return older.line == store.line || older.group != store.group;
                      });
}

}  // namespace uncore

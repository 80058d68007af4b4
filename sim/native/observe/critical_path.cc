#include "observe/critical_path.hh"

namespace uncore {

// Forgets the writes of which this one has written every byte, else the oldest if there is no room.
void CriticalPath::Writes::note(uint32_t hart, uint64_t bytes, Point point) {
  Write* place = kept_.data();
  for (Write& write : kept_) {
    if (!(write.bytes & ~bytes)) write = {};
    if (write.point.at < place->point.at) place = &write;
  }
  *place = {bytes, point, hart};
}

const CriticalPath::Point* CriticalPath::Writes::cause(uint32_t reader, uint64_t bytes, Time since,
                                                       Time now) const {
  const Write* last = nullptr;
  for (const Write& write : kept_)
    if (write.bytes & bytes && write.point.at <= now)
      if (!last || write.point.at >= last->point.at) last = &write;
  return last && last->hart != reader && last->point.at >= since ? &last->point : nullptr;
}

void CriticalPath::waited(uint32_t hart, const Writes& writes, const Waiting& wait, Time now) {
  Hart& h = harts_[hart];
  const Time looked = h.woken ? std::min(wait.looked, h.woken) : wait.looked;
  const Point* write = nullptr;
  if (looked != kNever) write = writes.cause(hart, wait.bytes, std::min(looked, wait.since), now);
  if (!write && wait.since == now) return;  // the hart slept because of another line
  h.last = add(write ? *write : Point{wait.since, h.last}, wait.use, now);
  h.woken = 0;
}

void CriticalPath::drained(uint32_t hart, Writes& writes, const Drain& drain, Time now) {
  Hart& h = harts_[hart];
  const Point from = h.drained.at > drain.entered.at ? h.drained : drain.entered;
  h.drained = {now, add(from, drain.use, now)};
  writes.note(hart, drain.bytes, h.drained);
  if (drain.waits) h.last = h.drained.last;
}

CriticalPath::Wide CriticalPath::weigh(std::vector<uint64_t>& weights) const {
  Wide total = 0;
  for (const End& end : weighted_ends()) {
    weights[end.last] += end.weight;
    total += Wide{end.weight} * (end.at - std::min(begin_, end.at));
  }
  for (auto s = static_cast<Step>(steps_.size()); s-- > 1;) {
    const Wait& wait = steps_[s];
    if (!weights[s] || wait.end <= begin_) continue;
    if (wait.begin == wait.end) total -= Wide{weights[s]} * (wait.begin - begin_);
    weights[wait.parent] += weights[s];
  }
  return total;
}

std::vector<CriticalPath::End> CriticalPath::weighted_ends() const {
  double rates = 0;
  for (const Hart& h : harts_) rates += rate(h);
  std::vector<End> ends;
  uint64_t remaining_weight = kTotalWeight;
  for (const Hart& h : harts_) {
    const double part = rates > 0 ? kTotalWeight * (rate(h) / rates) : 0;
    const auto weight = std::min(remaining_weight, static_cast<uint64_t>(part));
    if (weight) ends.push_back({h.end.at, h.end.last, weight}), remaining_weight -= weight;
  }
  ends.push_back({end_, harts_[last_hart_].end.last, remaining_weight});
  return ends;
}

double CriticalPath::rate(const Hart& h) {
  if (h.end.at == kNever || h.end.at <= h.begun) return 0;
  return static_cast<double>(h.operations) / static_cast<double>(h.end.at - h.begun);
}

}  // namespace uncore

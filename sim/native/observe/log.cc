#include "observe/log.hh"

#include <algorithm>
#include <tuple>

namespace uncore {

// Returns the record of a child's request. Returns null for recalls and accesses to memory, which
// the log does not contain (L1).
Log::Record* Log::find(RequestName name) {
  const auto record = under_way_.find(key(name));
  return record == under_way_.end() ? nullptr : &records_[record->second];
}

void Log::requested(RequestName name, Kind op, Agent resolver, uint64_t line, Time when) {
  under_way_[key(name)] = records_.size();
  Record& t = records_.emplace_back();
  t.name = name;
  t.op = op;
  t.resolver = resolver;
  t.line = line;
  t.request = static_cast<int64_t>(when);
}

void Log::opened(RequestName name, Agent owner, Time when) {
  if (Record* t = find(name)) t->open = static_cast<int64_t>(when), t->owner = owner;
}

void Log::probed(RequestName name, Time when) {
  Record* t = find(name);
  if (t && t->probes++ == 0) t->probe = static_cast<int64_t>(when);
}

void Log::supplied(RequestName name, Agent source) {
  Record* t = find(name);
  if (t && t->op != Kind::Put) t->source = source;
}

void Log::closed(RequestName name, State right, Time when) {
  Record* t = find(name);
  if (!t) return;
  t->close = static_cast<int64_t>(when);
  t->right = right;
  if (t->data != Record::kNotYet) under_way_.erase(key(name));
}

void Log::arrived(RequestName name, Time when) {
  Record* t = find(name);
  if (!t) return;
  t->data = static_cast<int64_t>(when);
  if (t->close != Record::kNotYet) under_way_.erase(key(name));
}

std::vector<Log::Record> Log::records() const {
  std::vector<Record> done;
  std::copy_if(records_.begin(), records_.end(), std::back_inserter(done),
               [](const Record& t) { return t.close != Record::kNotYet; });
  const auto rank = [](const Record& t) {
    return std::tuple(t.request, t.name.requester, t.name.number);
  };
  std::sort(done.begin(), done.end(),
            [&](const Record& a, const Record& b) { return rank(a) < rank(b); });
  return done;
}

}  // namespace uncore

// epoll: a set of watched files, and a ready list (Linux's rdllist) of those that may be ready.
//
// Invariant: an item is on the ready list at most once. A change of a file only puts its item on
// the list; the file is polled when a task calls epoll_wait. Epolls nest at most EP_MAX_NESTS deep
// and without cycles, and the number of paths that lead up from a file is limited, so that every
// call and every wakeup terminates quickly.
#include <algorithm>
#include <array>
#include <deque>
#include <list>
#include <map>

#include "os/calls.hh"

namespace uncore {
namespace {

enum : uint32_t {
  EPOLLEXCLUSIVE = 1u << 28,
  EPOLLWAKEUP = 1u << 29,
  EPOLLONESHOT = 1u << 30,
  EPOLLET = 1u << 31,
  EP_PRIVATE_BITS = EPOLLEXCLUSIVE | EPOLLWAKEUP | EPOLLONESHOT | EPOLLET,
};
enum : uint64_t { EPOLL_CTL_ADD = 1, EPOLL_CTL_DEL = 2, EPOLL_CTL_MOD = 3 };
constexpr unsigned EP_MAX_NESTS = 4;  // deepest nesting of epolls in an epoll
// The greatest number of paths that may lead from a file up through 1, 2, ... epolls (Linux's
// path_limits). Paths of length 1 are not limited.
constexpr std::array<unsigned, EP_MAX_NESTS + 1> kPathLimits = {~0u, 500, 100, 50, 10};

struct EpollEvent {  // struct epoll_event
  uint32_t events, pad;
  uint64_t data;
};

class Epoll;
using EpollRef = std::shared_ptr<Epoll>;

struct Item : WaitQueue::Watcher {
  Item(std::weak_ptr<Epoll> of, uint64_t of_descriptor, OpenFileRef of_file)
      : epoll(std::move(of)), descriptor(of_descriptor), file(std::move(of_file)) {}

  Work changed(Scheduler& scheduler, Flow& by, uint32_t from, uint16_t events) override;
  bool is_exclusive() const override { return wanted.events & EPOLLEXCLUSIVE; }
  // Returns the wanted events for which the file is ready.
  uint16_t ready(const Task& t) const {
    if (!file || !(wanted.events & ~uint32_t{EP_PRIVATE_BITS})) return 0;
    return answered(static_cast<uint16_t>(wanted.events), file->poll(t));
  }
  bool is_open() const { return file->descriptors > 0; }

  const std::weak_ptr<Epoll> epoll;
  const uint64_t descriptor;
  const OpenFileRef file;
  EpollEvent wanted{};
};
using ItemRef = std::shared_ptr<Item>;

class Epoll : public OpenFile, public std::enable_shared_from_this<Epoll> {
 public:
  Epoll() : OpenFile(O_RDWR) {}

  Work read(Linux&, Task&, UserBuffer, uint64_t&) override { co_return -EINVAL; }
  Work write(Linux&, Task&, UserBuffer, uint64_t&) override { co_return -EINVAL; }
  bool can_read() const override { return false; }
  bool can_write() const override { return false; }
  Stat stat() const override {
    Stat s;
    s.mode = 0600;
    return s;
  }
  uint16_t poll(const Task& t) const override { return has_ready(t) ? kReadable : 0; }
  Work hang_up(Linux&, Task&) override {
    items_.clear();
    ready_list_.clear();
    co_return 0;
  }

  ItemRef find(uint64_t descriptor, const OpenFileRef& file);
  ItemRef add(uint64_t descriptor, OpenFileRef file);
  void remove(const ItemRef& item);
  std::vector<OpenFileRef> watched_files() const;  // the watched files that are still open
  // Puts the item on the ready list. The caller wakes the tasks that wait for this epoll.
  void add_ready(const ItemRef& item) {
    if (std::ranges::find(ready_list_, item) == ready_list_.end()) ready_list_.push_back(item);
  }
  bool has_ready(const Task& t) const {
    return std::ranges::any_of(ready_list_,
                               [&](const ItemRef& i) { return i->is_open() && i->ready(t); });
  }
  // Removes at most `max_items` ready items from the list and returns their events. Level-triggered
  // items are put back at its end.
  std::vector<EpollEvent> take(const Task& t, std::size_t max_items);

 private:
  std::list<ItemRef> items_;
  std::deque<ItemRef> ready_list_;
};

Work Item::changed(Scheduler& scheduler, Flow& by, uint32_t from, uint16_t events) {
  const EpollRef owner = epoll.lock();
  const auto wanted_events = static_cast<uint16_t>(wanted.events);
  if (events & POLLIN) events |= kReadable;
  if (events & POLLOUT) events |= kWritable | POLLWRBAND;
  if (!owner || !(wanted.events & ~uint32_t{EP_PRIVATE_BITS}) || !answered(wanted_events, events))
    co_return 0;
  const std::shared_ptr<Item> itself = owner->find(descriptor, file);
  if (itself.get() != this) co_return 0;
  owner->add_ready(itself);
  co_return co_await owner->ready.wake_all(scheduler, by, from, POLLIN);
}

ItemRef Epoll::find(uint64_t descriptor, const OpenFileRef& file) {
  const auto found = std::ranges::find_if(items_, [&](const ItemRef& item) {
    return item->descriptor == descriptor && item->file == file;
  });
  return found == items_.end() ? nullptr : *found;
}

// Adds an item, and removes the items of files whose last descriptor has been closed.
ItemRef Epoll::add(uint64_t descriptor, OpenFileRef file) {
  std::erase_if(items_, [](const ItemRef& item) { return !item->is_open(); });
  const ItemRef item = std::make_shared<Item>(weak_from_this(), descriptor, std::move(file));
  items_.push_back(item);
  item->file->waits().watch(item);
  return item;
}

void Epoll::remove(const ItemRef& item) {
  std::erase(items_, item);
  std::erase(ready_list_, item);
}

std::vector<OpenFileRef> Epoll::watched_files() const {
  std::vector<OpenFileRef> files;
  for (const ItemRef& item : items_)
    if (item->is_open()) files.push_back(item->file);
  return files;
}

// Returns the epolls that watch a file. An epoll with several items for it is listed once for each.
std::vector<EpollRef> watchers_of(OpenFile& file) {
  std::vector<EpollRef> epolls;
  for (const auto& watcher : file.waits().watchers()) {
    const auto item = std::dynamic_pointer_cast<Item>(watcher);
    const EpollRef epoll = item ? item->epoll.lock() : nullptr;
    if (epoll && item->file.operator->() == &file) epolls.push_back(epoll);
  }
  return epolls;
}

// Maps each visited file to the length of the longest chain of epolls below it, including itself
// (levels_below), or above it (levels_above). It also ensures that a file is visited only once,
// even if many paths lead to it.
using Levels = std::map<OpenFile*, unsigned>;

unsigned levels_below(OpenFile& file, Levels& known) {
  const auto [at, is_new] = known.try_emplace(&file, 0);
  const auto* const epoll = dynamic_cast<Epoll*>(&file);
  if (!is_new || !epoll) return at->second;
  unsigned max_levels = 0;
  for (const OpenFileRef& inner : epoll->watched_files())
    max_levels = std::max(max_levels, levels_below(*inner.operator->(), known));
  return at->second = max_levels + 1;
}
unsigned levels_above(OpenFile& file, Levels& known) {
  const auto [at, is_new] = known.try_emplace(&file, 0);
  if (!is_new) return at->second;
  unsigned max_levels = 0;
  for (const EpollRef& outer : watchers_of(file))
    max_levels = std::max(max_levels, levels_above(*outer, known) + 1);
  return at->second = max_levels;
}

// Counts the paths that lead from the file up to epolls that no other epoll watches. Returns false
// if they exceed kPathLimits or EP_MAX_NESTS.
bool has_few_paths(OpenFile& file, std::array<unsigned, EP_MAX_NESTS + 1>& paths, unsigned nests) {
  if (nests > EP_MAX_NESTS) return false;
  for (const EpollRef& epoll : watchers_of(file))
    if (!watchers_of(*epoll).empty()) {
      if (!has_few_paths(*epoll, paths, nests + 1)) return false;
    } else if (++paths[nests] > kPathLimits[nests]) {
      return false;
    }
  return true;
}
bool have_few_paths(const Levels& below) {
  return std::ranges::all_of(below, [](const auto& of) {
    std::array<unsigned, EP_MAX_NESTS + 1> paths{};
    return dynamic_cast<Epoll*>(of.first) || has_few_paths(*of.first, paths, 0);
  });
}

std::vector<EpollEvent> Epoll::take(const Task& t, std::size_t max_items) {
  std::vector<EpollEvent> reported;
  std::deque<ItemRef> put_back;
  while (!ready_list_.empty() && reported.size() < max_items) {
    const ItemRef item = ready_list_.front();
    ready_list_.pop_front();
    const uint32_t events = item->is_open() ? item->ready(t) : 0;
    if (!events) continue;
    reported.push_back({events, 0, item->wanted.data});
    if (item->wanted.events & EPOLLONESHOT)
      item->wanted.events &= EP_PRIVATE_BITS;
    else if (!(item->wanted.events & EPOLLET))
      put_back.push_back(item);
  }
  ready_list_.insert(ready_list_.end(), put_back.begin(), put_back.end());
  return reported;
}

EpollRef epoll_at(Linux& os, uint64_t descriptor) { return os.files.at(descriptor).as<Epoll>(); }

// Sets the wanted events of an item, and polls its file at once, because it may be ready already.
Work set_wanted_events(Linux& os, Task& t, EpollRef epoll, ItemRef item, EpollEvent event) {
  item->wanted = event;
  item->wanted.events |= POLLERR | POLLHUP;  // always reported, until EPOLLONESHOT clears them
  if (!item->ready(t)) co_return 0;
  epoll->add_ready(item);
  co_return co_await epoll->ready.wake_all(os.scheduler, t, POLLIN);
}

Work add(Linux& os, Task& t, EpollRef epoll, uint32_t descriptor, OpenFileRef file,
         EpollEvent event) {
  constexpr uint32_t EPOLLEXCLUSIVE_OK_BITS =
      POLLIN | POLLOUT | POLLERR | POLLHUP | EPOLLEXCLUSIVE | EPOLLWAKEUP | EPOLLET;
  const EpollRef inner = file.as<Epoll>();
  Levels below, above;
  if ((event.events & EPOLLEXCLUSIVE) && (inner || (event.events & ~EPOLLEXCLUSIVE_OK_BITS)))
    co_return -EINVAL;
  const unsigned levels = levels_below(*file.operator->(), below) + levels_above(*epoll, above);
  if (inner && (below.contains(epoll.get()) || levels > EP_MAX_NESTS)) co_return -ELOOP;
  if (epoll->find(descriptor, file)) co_return -EEXIST;
  const ItemRef item = epoll->add(descriptor, file);
  if (!have_few_paths(below)) {
    epoll->remove(item);
    co_return -EINVAL;
  }
  co_return co_await set_wanted_events(os, t, epoll, item, event);
}

Work wait(Linux& os, Task& t, Time until) {
  const EpollRef epoll = epoll_at(os, t.args[0]);
  constexpr uint64_t kMostEvents = 1 << 16;
  constexpr uint32_t EP_MAX_EVENTS = 0x7fffffff / sizeof(EpollEvent);
  const auto max_events = static_cast<int32_t>(t.args[2]);
  if (!os.files.at(t.args[0])) co_return -EBADF;
  if (max_events <= 0 || static_cast<uint32_t>(max_events) > EP_MAX_EVENTS) co_return -EINVAL;
  if (!UserMemory::is_range(t.args[1], static_cast<uint32_t>(max_events) * sizeof(EpollEvent)))
    co_return -EFAULT;
  if (!epoll) co_return -EINVAL;
  // With a timeout of 0, a pending signal does not make the call fail with -EINTR.
  if (until <= t.now() && os.signals.due(t) && !epoll->has_ready(t)) co_return 0;
  const WaitQueue::Member waits(epoll->ready, t, true);
  const int64_t error = co_await os.signals.wait(t, until, [&] { return epoll->has_ready(t); });
  if (error == -ETIMEDOUT) co_return 0;
  if (error < 0) co_return -EINTR;
  const uint64_t room = std::min<uint64_t>(static_cast<uint64_t>(max_events), kMostEvents);
  const uint64_t fits =
      os.memory.usable(t.args[1], room * sizeof(EpollEvent), UserMemory::Use::write);
  if (fits < sizeof(EpollEvent)) co_return -EFAULT;
  const auto events = epoll->take(t, fits / sizeof(EpollEvent));
  if (epoll->has_ready(t)) co_await epoll->ready.wake_one(os.scheduler, t, t.hart);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(events.data());
  const int64_t fault =
      co_await os.memory.copy_out(t, {bytes, events.size() * sizeof(EpollEvent)}, t.args[1]);
  co_return fault < 0 ? fault : static_cast<int64_t>(events.size());
}

}  // namespace

namespace calls {

Work epoll_create1(Linux& os, Task& t) {
  if (static_cast<uint32_t>(t.args[0]) & ~O_CLOEXEC) co_return -EINVAL;
  co_return os.files.open(std::make_shared<Epoll>(), os.limits.descriptors(), t.args[0]);
}

Work epoll_ctl(Linux& os, Task& t) {
  const EpollRef epoll = epoll_at(os, t.args[0]);
  const OpenFileRef file = os.files.at(t.args[2]);
  const auto operation = static_cast<uint32_t>(t.args[1]),
             descriptor = static_cast<uint32_t>(t.args[2]);
  EpollEvent event{};
  if (operation != EPOLL_CTL_DEL) {
    const int64_t error = co_await os.memory.read(t, t.args[3], event);
    if (error < 0) co_return error;
  }
  if (!file || !os.files.at(t.args[0])) co_return -EBADF;
  if (!file->is_watchable()) co_return -EPERM;
  if (!epoll || file.as<Epoll>() == epoll) co_return -EINVAL;
  if (operation == EPOLL_CTL_ADD) co_return co_await add(os, t, epoll, descriptor, file, event);
  if (operation == EPOLL_CTL_MOD && (event.events & EPOLLEXCLUSIVE)) co_return -EINVAL;
  if (operation != EPOLL_CTL_MOD && operation != EPOLL_CTL_DEL) co_return -EINVAL;
  const ItemRef item = epoll->find(descriptor, file);
  if (!item) co_return -ENOENT;
  if (operation == EPOLL_CTL_MOD) {
    if (item->wanted.events & EPOLLEXCLUSIVE) co_return -EINVAL;
    co_return co_await set_wanted_events(os, t, epoll, item, event);
  }
  epoll->remove(item);
  co_return 0;
}

Work epoll_pwait(Linux& os, Task& t) {
  constexpr Time kMillisecond = 1'000'000'000;
  const auto timeout = static_cast<int32_t>(t.args[3]);
  const Time until = timeout < 0 ? kNever : t.now() + static_cast<Time>(timeout) * kMillisecond;
  const int64_t error = co_await mask_from(os, t, t.args[4], t.args[5]);
  if (error < 0) co_return error;
  co_return co_await wait(os, t, until);
}

Work epoll_pwait2(Linux& os, Task& t) {
  Time until = kNever;
  if (t.args[3]) {
    const int64_t error = co_await read_time(os, t, t.args[3], kClockMonotonic, true, until);
    if (error < 0) co_return error;
  }
  const int64_t error = co_await mask_from(os, t, t.args[4], t.args[5]);
  if (error < 0) co_return error;
  co_return co_await wait(os, t, until);
}

}  // namespace calls
}  // namespace uncore

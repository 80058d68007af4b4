#include "os/in_flight.hh"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "os/linux.hh"

namespace uncore {
namespace {

SocketRef socket_of(const std::weak_ptr<OpenFile>& file) {
  return std::dynamic_pointer_cast<Socket>(file.lock());
}
// Returns whether the socket's queue has a message with files.
bool is_carrier(const std::weak_ptr<OpenFile>& file) {
  const SocketRef socket = socket_of(file);
  return socket && socket->in && socket->in->carries_files();
}
// Returns the socket through which a program can get at a queue: of a connection that has not been
// accepted, the listener.
const OpenFile* holder_of(const SocketRef& socket) {
  const SocketRef listener = socket->listener.lock();
  return listener ? listener.get() : socket.get();
}

}  // namespace

void FilesInFlight::hold(const OpenFileRefs& files) {
  for (const OpenFileRef& file : files) ++file->descriptors;
}

void FilesInFlight::drop(OpenFileRefs files) {
  std::ranges::move(files, std::back_inserter(dropped_));
}

void FilesInFlight::drop_unread(OpenFileRefs files) {
  count_ -= files.size();
  drop(std::move(files));
}

void FilesInFlight::sent(const std::shared_ptr<OpenFile>& reader, std::size_t files) {
  count_ += files;
  std::erase_if(carriers_, [&](const auto& other) {
    const std::shared_ptr<OpenFile> file = other.lock();
    return !file || file == reader || !is_carrier(file);
  });
  carriers_.push_back(reader);
}

Work FilesInFlight::finish(Linux& os, Task& t) {
  while (has_work()) {
    while (!dropped_.empty()) {
      const OpenFileRef file = dropped_.front();
      dropped_.pop_front();
      if (--file->descriptors == 0) co_await file->hang_up(os, t);
    }
    if (std::exchange(may_have_cycles_, false)) drop_unread(unreachable());
  }
  co_return 0;
}

// Empties the queues that no program can get at any more, and returns the files that they carried.
// A socket can be got at if it has more references than messages hold, or if a message has it in a
// queue that can be got at.
OpenFileRefs FilesInFlight::unreachable() {
  std::map<const OpenFile*, uint32_t> references;
  std::multimap<const OpenFile*, SocketRef> queues;  // key: the holder
  for (const auto& carrier : carriers_) {
    if (!is_carrier(carrier)) continue;
    const SocketRef socket = socket_of(carrier);
    queues.emplace(holder_of(socket), socket);
    socket->in->each_file([&](const OpenFileRef& file) { ++references[&*file]; });
  }
  std::set<const OpenFile*> reached;
  std::vector<const OpenFile*> next;
  const auto reach = [&](const OpenFile* file) {
    if (reached.insert(file).second) next.push_back(file);
  };
  for (const auto& [holder, socket] : queues)
    if (holder->descriptors > references[holder]) reach(holder);
  while (!next.empty()) {
    const auto [first, last] = queues.equal_range(next.back());
    next.pop_back();
    for (auto queue = first; queue != last; ++queue)
      queue->second->in->each_file([&](const OpenFileRef& file) { reach(&*file); });
  }
  OpenFileRefs files;
  for (const auto& carrier : carriers_) {
    if (!is_carrier(carrier)) continue;
    const SocketRef socket = socket_of(carrier);
    if (!reached.contains(holder_of(socket)))
      std::ranges::move(socket->in->clear(), std::back_inserter(files));
  }
  return files;
}

void FilesInFlight::clear() {
  OpenFileRefs files;
  for (const auto& carrier : carriers_)
    if (is_carrier(carrier))
      std::ranges::move(socket_of(carrier)->in->clear(), std::back_inserter(files));
  carriers_.clear(), dropped_.clear();
  count_ = 0;
}

}  // namespace uncore

#include "os/socket.hh"

#include <algorithm>
#include <functional>
#include <ranges>

#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore {

std::vector<SocketRef> Addresses::open_at(const std::string& key) const {
  std::vector<SocketRef> open;
  const auto found = taken_.find(key);
  if (found == taken_.end()) return open;
  for (const auto& taker : found->second.sockets)
    if (const SocketRef socket = taker.lock(); socket && socket->descriptors > 0)
      open.push_back(socket);
  return open;
}

SocketRef Addresses::at(const std::string& key, uint16_t from) const {
  std::vector<SocketRef> open = open_at(key);
  const auto listens = [](const SocketRef& socket) { return socket->listens; };
  if (std::ranges::any_of(open, listens)) std::erase_if(open, std::not_fn(listens));
  const auto shares = [](const SocketRef& socket) { return socket->has(Socket::kReusePort); };
  if (open.empty()) return nullptr;
  return std::ranges::all_of(open, shares) ? open[from % open.size()] : open.back();
}

// Returns whether a socket can share its address with those that have it. As in Linux, the search
// for a datagram socket that forbids it begins with the last that was bound, and ends at one that
// also has SO_REUSEPORT (udp_lib_lport_inuse), so further ones are not asked.
bool Addresses::share(const Socket& socket, const std::vector<SocketRef>& open) {
  for (const SocketRef& other : std::views::reverse(open)) {
    if (other.get() == &socket) continue;
    if (!socket.is_internet()) return false;
    const bool reuses = socket.has(Socket::kReuseAddress) && other->has(Socket::kReuseAddress);
    if (reuses && !other->listens) continue;
    const bool shares = socket.has(Socket::kReusePort) && other->has(Socket::kReusePort);
    if (!shares || socket.is_datagram()) return shares;
  }
  return true;
}

bool Addresses::take(const std::string& key, const SocketRef& socket) {
  std::vector<SocketRef> open = open_at(key);
  const bool reuses = socket->has(Socket::kReuseAddress) && !socket->listens;
  const bool shares = socket->has(Socket::kReusePort);
  Takers& takers = taken_[key];
  const bool is_first = open.empty(), is_connection = !socket->is_datagram();
  const bool fits = socket->is_internet() && is_connection && !is_first &&
                    ((takers.all_reuse && reuses) || (takers.last_shares && shares));
  if (!fits && !share(*socket, open)) return false;
  takers.all_reuse = (is_first || takers.all_reuse) && reuses;
  takers.last_shares = shares;
  if (std::ranges::find(open, socket) == open.end()) open.push_back(socket);
  takers.sockets.assign(open.begin(), open.end());
  if (taken_.size() > max_taken_) {
    std::erase_if(taken_, [&](const auto& entry) { return open_at(entry.first).empty(); });
    max_taken_ = 2 * taken_.size() + kFewAddresses;
  }
  return true;
}

uint16_t Addresses::free_port(const std::string& family) {
  while (at(family + std::to_string(next_port_))) ++next_port_;
  return next_port_++;
}

constexpr uint32_t kStream = 1;  // SOCK_STREAM

bool Socket::keeps_boundaries() const { return type != kStream; }

bool Socket::has(uint32_t option) const {
  const auto set = options.find(option);
  return set != options.end() && set->second.front() != 0;
}

Stream& Socket::inbox() {
  if (!in) {
    in = std::make_shared<Stream>(
        kSocketBytes, keeps_boundaries() ? Stream::Kind::datagrams : Stream::Kind::bytes);
    in->reader = shared_from_this();
  }
  return *in;
}

void Socket::pair(const SocketRef& a, const SocketRef& b) {
  a->inbox(), b->inbox();
  a->out = b->in, b->out = a->in;
  a->in->writer = b, b->in->writer = a;
}

Stat Socket::stat() const {
  Stat s;
  s.mode = S_IFSOCK | 0777;
  return s;
}

uint16_t Socket::poll(const Task&) const {
  constexpr unsigned kRoom = kWritable | POLLWRBAND;
  if (listens) return accept_queue.empty() ? 0 : kReadable;
  const bool is_closed = in && in->is_writer_closed(),
             broken = !out || out->is_reader_closed() || out->is_writer_closed();
  unsigned ready = in && in->has_some() ? kReadable : 0;
  if (is_closed) ready |= kReadable | POLLRDHUP;
  if (is_closed && (is_datagram() ? is_send_shut : broken)) ready |= POLLHUP;
  if (!is_datagram() && !out) ready |= POLLHUP;
  if (has_error()) ready |= POLLERR;
  if (!out || broken || out->has_room(Stream::kPipeBuf)) ready |= kRoom;
  return static_cast<uint16_t>(ready);
}

std::string Socket::peer_name() const {
  const SocketRef other = out ? std::dynamic_pointer_cast<Socket>(out->reader.lock()) : nullptr;
  return other && !is_internet() ? other->name : peer;
}

uint64_t Socket::size_of(const UserBuffers& parts) {
  uint64_t size = 0;
  for (const UserBuffer& part : parts) size += part.size;
  return size;
}

int64_t Socket::may_send(const Linux& os, const UserBuffers& parts) {
  const std::size_t most = is_internet() ? kMostOfInternet : kSocketBytes - kOverhead;
  if (size_of(parts) > most) return -EMSGSIZE;
  if (has_error()) return take_error();
  if (is_send_shut ||
      (!is_datagram() && out && (out->is_reader_closed() || out->is_writer_closed())))
    return -EPIPE;
  for (const UserBuffer& part : parts)
    if (os.memory.usable(part.address, part.size, UserMemory::Use::read) < part.size)
      return -EFAULT;
  return 0;
}

bool Socket::may_send_to(const Socket& other) const {
  if (is_internet() && !other.peer.empty())
    return name.size() > 3 && other.peer.compare(2, 2, name, 2, 2) == 0;  // the port
  const std::shared_ptr<OpenFile> peer_of_it = other.out ? other.out->reader.lock() : nullptr;
  return !other.out || peer_of_it.get() == this;
}

namespace {
uint16_t port_of(const std::string& address) {
  return static_cast<uint16_t>(static_cast<uint8_t>(address[2]) << 8 |
                               static_cast<uint8_t>(address[3]));
}
}  // namespace

SocketRef Socket::peer_now(const Linux& os) const {
  return os.addresses.at(
      std::to_string(family) + '/' + std::to_string(type) + '/' + std::to_string(port_of(peer)),
      name.size() > 3 ? port_of(name) : uint16_t{0});
}

Work Socket::read(Linux& os, Task& t, UserBuffer to, uint64_t&) {
  if (to.size == 0) co_return 0;
  co_return co_await read_all(os, t, UserBuffers(1, to));
}
Work Socket::read_all(Linux& os, Task& t, UserBuffers to) {
  Stream::ReceiveResult received;
  const Stream::IoOptions io_options{.waits = !(flags & O_NONBLOCK)};
  const int64_t size = co_await receive(os, t, std::move(to), io_options, received);
  os.in_flight.drop(std::move(received.files));
  co_return size;
}
Work Socket::receive(Linux& os, Task& t, UserBuffers to, Stream::IoOptions io_options,
                     Stream::ReceiveResult& received) {
  if (is_datagram()) inbox();
  if (!in) co_return type == kStream && !is_internet() ? -EINVAL : -ENOTCONN;
  if (keeps_boundaries() && has_error()) co_return take_error();
  if (is_datagram() && !io_options.waits && !in->has_some()) co_return -EAGAIN;
  const std::shared_ptr<Stream> from = in;
  io_options.by_sender = tells_credentials();
  const int64_t size = co_await from->receive(os, t, *this, std::move(to), io_options, received);
  if (size < 0) os.in_flight.drop(std::exchange(received.files, {}));
  co_return size;
}

Work Socket::write(Linux& os, Task& t, UserBuffer from, uint64_t&) {
  co_return co_await write_all(os, t, UserBuffers(1, from));
}
Work Socket::write_all(Linux& os, Task& t, UserBuffers from) {
  const Stream::IoOptions io_options{.waits = !(flags & O_NONBLOCK)};
  OpenFileRefs no_files;
  co_return co_await send(os, t, out, std::move(from), io_options, no_files);
}
// A datagram over AF_INET is lost if nobody has the address: a connected sender's next call fails.
// A sender of datagrams gets no SIGPIPE. If the peer has closed its socket, the sender gets
// -ECONNREFUSED and is no longer connected to it.
Work Socket::send(Linux& os, Task& t, std::shared_ptr<Stream> to, UserBuffers from,
                  Stream::IoOptions io_options, OpenFileRefs& files) {
  if (keeps_boundaries()) io_options.signals = false;
  if (is_datagram_over_internet()) {
    if (const int64_t no = may_send(os, from); no < 0) co_return no;
    const bool is_connected = !peer.empty() && to == out;
    const SocketRef now = is_connected ? peer_now(os) : nullptr;
    if (is_connected) to = now ? (now->inbox(), now->in) : nullptr;
    if (is_connected && (!to || !may_send_to(*now))) {
      if (!to) fail(ECONNREFUSED);
      co_return static_cast<int64_t>(size_of(from));
    }
  }
  const bool is_message = keeps_boundaries() && !is_internet();
  if (is_message && !is_datagram() && has_error()) co_return take_error();
  if (!to && !is_datagram() && !is_internet()) co_return -ENOTCONN;
  if (is_message)
    if (const int64_t no = may_send(os, from); no < 0) co_return no;
  const auto other = to ? std::dynamic_pointer_cast<Socket>(to->reader.lock()) : nullptr;
  if (is_message && is_datagram() && other && !may_send_to(*other)) co_return -EPERM;
  const bool is_connection = type == kStream && is_internet();
  if (is_connection && has_error()) co_return take_error();
  if (is_connection && to && to->is_reader_closed() && !std::exchange(is_refused, true))
    co_return static_cast<int64_t>(size_of(from));  // the answer comes later
  const bool is_broken_pipe = is_send_shut || (!to && is_internet() && !is_datagram());
  if (is_broken_pipe && io_options.signals)
    co_await os.signals.send(t, t.hart, t, {.number = SIGPIPE, .code = SI_USER});
  if (is_broken_pipe) co_return -EPIPE;
  if (!to) co_return is_internet() ? -EDESTADDRREQ : -ENOTCONN;
  if (has_error() && !is_internet() && size_of(from) > 0 && !to->is_reader_closed())
    co_return take_error();
  if (tells_credentials() || (other && (other->tells_credentials() || other->listener.lock())))
    io_options.is_signed = true;
  const int64_t sent =
      co_await to->send(os, t, *this, std::move(from), io_options, own_name, files);
  if (sent != -EPIPE || !is_datagram() || !to->is_reader_closed()) co_return sent;
  if (to == out) disconnect(os);
  co_return -ECONNREFUSED;
}

void Socket::disconnect(Linux& os) {
  if (out && in && in->has_some() && !is_internet()) {
    os.in_flight.drop_unread(in->clear());
    const auto other = std::dynamic_pointer_cast<Socket>(out->reader.lock());
    if (other && other->out == in) other->fail(ECONNRESET);
  }
  out.reset(), peer.clear();
}

// Also closes the connections in the accept queue. A datagram socket does not end its peer's
// stream, because other sockets may still send to it.
Work Socket::hang_up(Linux& os, Task& t) {
  const SocketRef other = out ? std::dynamic_pointer_cast<Socket>(out->reader.lock()) : nullptr;
  if (other && !is_internet() && other->out == in) other->peer = name;
  const std::shared_ptr<Stream> from = in, to = out;
  const std::deque<SocketRef> waiting = std::exchange(accept_queue, {});
  if (to && from && from->has_unread() && !is_datagram()) {
    to->fail(ECONNRESET);
    if (other) other->is_refused = true;
  }
  if (from) os.in_flight.drop_unread(from->take_files());
  if (!is_internet() && is_made) os.in_flight.closed_socket();
  if (from) co_await from->close_reading(os, t);
  if (to && !is_datagram()) co_await to->close_writing(os, t);
  for (const SocketRef& other : waiting) {
    if (other->out) other->out->fail(ECONNRESET);
    co_await other->hang_up(os, t);
  }
  co_return 0;
}

}  // namespace uncore

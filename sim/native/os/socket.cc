#include "os/socket.hh"

#include "os/linux.hh"
#include "os/uapi.hh"

namespace uncore {

SocketRef Addresses::at(const std::string& key) const {
  const auto found = taken_.find(key);
  const SocketRef socket = found == taken_.end() ? nullptr : found->second.lock();
  return socket && socket->descriptors > 0 ? socket : nullptr;
}

bool Addresses::take(const std::string& key, const SocketRef& socket) {
  if (at(key)) return false;
  taken_[key] = socket;
  return true;
}

uint16_t Addresses::free_port(const std::string& family) {
  while (at(family + std::to_string(next_port_))) ++next_port_;
  return next_port_++;
}

bool Socket::keeps_ends() const { return type != 1; }  // SOCK_STREAM

Stream& Socket::inbox() {
  if (!in) {
    in = std::make_shared<Stream>(kSocketBytes, keeps_ends());
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
  s.mode = 0140777;
  return s;
}

uint16_t Socket::poll(const Task&) const {
  if (listens) return coming.empty() ? 0 : POLLIN;
  const bool over = in && in->is_ended(), broken = !out || out->is_unread() || out->is_ended();
  if (type != 2 && !out) return POLLOUT | POLLHUP;  // neither SOCK_DGRAM nor connected
  unsigned ready = in && in->has_some() ? POLLIN : 0;
  if (over) ready |= POLLIN | POLLRDHUP;
  if (over && broken) ready |= POLLHUP;
  if (!out || broken || out->has_room(Stream::kPipeBuf)) ready |= POLLOUT;
  return static_cast<uint16_t>(ready);
}

Work Socket::read(Linux& os, Task& t, UserBuffer to, uint64_t&) {
  co_return co_await read_all(os, t, UserBuffers(1, to));
}
Work Socket::read_all(Linux& os, Task& t, UserBuffers to) {
  Stream::Got got;
  co_return co_await receive(os, t, std::move(to), {.waits = !(flags & O_NONBLOCK)}, got);
}
Work Socket::receive(Linux& os, Task& t, UserBuffers to, Stream::How how, Stream::Got& got) {
  constexpr uint32_t kStream = 1;
  if (is_datagram()) inbox();
  if (!in) co_return type == kStream && !is_internet() ? -EINVAL : -ENOTCONN;
  if (is_datagram() && !how.waits && !in->has_some()) co_return -EAGAIN;
  const std::shared_ptr<Stream> from = in;
  co_return co_await from->receive(os, t, *this, std::move(to), how, got);
}

Work Socket::write(Linux& os, Task& t, UserBuffer from, uint64_t&) {
  co_return co_await write_all(os, t, UserBuffers(1, from));
}
Work Socket::write_all(Linux& os, Task& t, UserBuffers from) {
  co_return co_await send(os, t, out, std::move(from), {.waits = !(flags & O_NONBLOCK)});
}
// A sender of datagrams gets no SIGPIPE. If the peer has closed its socket, the sender gets
// -ECONNREFUSED and is no longer connected to it.
Work Socket::send(Linux& os, Task& t, std::shared_ptr<Stream> to, UserBuffers from,
                  Stream::How how) {
  if (is_datagram()) how.signals = false;
  const bool is_pipe = is_mute || (!to && is_internet() && !is_datagram());
  if (is_pipe && how.signals)
    co_await os.signals.send(t, t.hart, t, {.number = SIGPIPE, .code = SI_USER});
  if (is_pipe) co_return -EPIPE;
  if (!to) co_return is_internet() ? -EDESTADDRREQ : -ENOTCONN;
  const int64_t sent = co_await to->send(os, t, *this, std::move(from), how, name);
  if (sent != -EPIPE || !is_datagram() || !to->is_unread()) co_return sent;
  if (to == out) out.reset(), peer.clear();
  co_return -ECONNREFUSED;
}

// Also closes the connections that wait to be accepted. A datagram socket does not end the stream
// of its peer, because others may still send to that.
Work Socket::hang_up(Linux& os, Task& t) {
  const std::shared_ptr<Stream> from = in, to = out;
  const std::deque<SocketRef> left = std::exchange(coming, {});
  if (to && from && from->has_some() && !is_datagram()) to->reset();
  if (from) co_await from->close_reading(os, t);
  if (to && !is_datagram()) co_await to->close_writing(os, t);
  for (const SocketRef& other : left) {
    if (other->out) other->out->reset();
    co_await other->hang_up(os, t);
  }
  co_return 0;
}

}  // namespace uncore

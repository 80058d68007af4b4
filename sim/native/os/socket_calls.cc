// System calls on sockets: AF_UNIX and AF_INET, between sockets of the one program.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "os/calls.hh"
#include "os/socket.hh"

namespace uncore::calls {
namespace {

enum : uint16_t { kUnix = 1, kInternet = 2 };                             // AF_UNIX, AF_INET
enum : uint32_t { kStream = 1, kDatagram = 2, kRaw = 3, kSequence = 5 };  // SOCK_
enum : uint64_t {
  kPeek = 2,
  kTruncated = 0x20,
  kDontWait = 0x40,
  kWaitAll = 0x100,
  kNoSignal = 0x4000
};  // MSG_
constexpr std::size_t kLongestAddress = 128;  // struct sockaddr_storage
constexpr std::size_t kLongestUnix = 110;     // struct sockaddr_un
constexpr std::size_t kInternetBytes = 16;    // struct sockaddr_in
constexpr uint64_t kFlags = O_NONBLOCK | O_CLOEXEC;
constexpr uint64_t kOfSockets = 1, kLastOption = 83;  // SOL_SOCKET, SO_INQ

SocketRef socket_at(Linux& os, uint64_t descriptor) { return os.files.at(descriptor).as<Socket>(); }
int64_t no_socket(Linux& os, uint64_t descriptor) {
  return os.files.at(descriptor) ? -ENOTSOCK : -EBADF;
}

int64_t may_make(uint64_t family, uint64_t type, uint64_t protocol) {
  constexpr uint64_t kTypes = 15, kTcp = 6, kUdp = 17;  // SOCK_TYPE_MASK, IPPROTO_TCP, _UDP
  const uint64_t kind = type & kTypes;
  if (type & ~(kTypes | kFlags)) return -EINVAL;
  if (family != kUnix && family != kInternet) return -EAFNOSUPPORT;
  if (family == kUnix && protocol > kUnix) return -EPROTONOSUPPORT;
  if (family == kUnix) return kind == kSequence || (kind && kind <= kRaw) ? 0 : -ESOCKTNOSUPPORT;
  if (!kind || kind > kRaw) return -ESOCKTNOSUPPORT;
  const bool fits = protocol == 0 || protocol == (kind == kStream ? kTcp : kUdp);
  return kind != kRaw && fits ? 0 : -EPROTONOSUPPORT;
}

// Creates a socket. SOCK_RAW of AF_UNIX means SOCK_DGRAM, as in Linux.
SocketRef make(uint64_t family, uint64_t type) {
  const auto kind = static_cast<uint32_t>(type & ~kFlags);
  return std::make_shared<Socket>(static_cast<uint16_t>(family), kind == kRaw ? kDatagram : kind,
                                  type & O_NONBLOCK);
}

uint16_t family_of(const std::string& address) {
  uint16_t family = 0;
  if (address.size() >= sizeof family) std::memcpy(&family, address.data(), sizeof family);
  return family;
}
uint16_t port_of(const std::string& address) {
  return static_cast<uint16_t>(static_cast<uint8_t>(address[2]) << 8 |
                               static_cast<uint8_t>(address[3]));
}
void set_port(std::string& address, uint16_t port) {
  address[2] = static_cast<char>(port >> 8), address[3] = static_cast<char>(port & 255);
}
// Returns whether an address is of this machine: in 127.0.0.0/8, or 0.0.0.0, which stands for all
// its addresses.
bool is_here(const std::string& address) {
  return address[4] == 127 || address.compare(4, 4, std::string(4, '\0')) == 0;
}

std::string prefix(const Socket& socket) {
  return std::to_string(socket.family) + '/' + std::to_string(socket.type) + '/';
}
// Returns whether an AF_UNIX address is a path. Otherwise it is an abstract name, which begins with
// a zero byte.
bool is_path(const Socket& socket, const std::string& address) {
  return socket.family == kUnix && address.size() > 2 && address[2] != '\0';
}
std::string path_of(const std::string& address) { return address.substr(2).c_str(); }
std::string key(const Socket& socket, const std::string& address) {
  if (socket.family == kInternet) return prefix(socket) + std::to_string(port_of(address));
  return prefix(socket) + address.substr(2);
}
// Returns the key of a socket that is bound to a path, made from the number of its inode.
std::string key(const Inode& node) { return "file " + std::to_string(node.number); }

// Finds the socket with an address on behalf of socket `by`, which wants to connect or send to it.
// Returns 0 or an error.
int64_t look_up(Linux& os, const Socket& by, const std::string& address, SocketRef& found) {
  if (!is_path(by, address)) {
    found = os.addresses.at(key(by, address));
    return found ? 0 : -ECONNREFUSED;
  }
  const auto there =
      os.files.tree.walk(os.files.working, path_of(address), FileTree::Last::followed);
  if (there.error) return there.error;
  if (!there.node) return -ENOENT;
  found = os.addresses.at(key(*there.node));
  if (!found) return -ECONNREFUSED;
  return found->type == by.type ? 0 : -EPROTOTYPE;
}

// Reads a socket address from the program's memory. It must be of the socket's family.
Work read_address(Linux& os, Task& t, const Socket& socket, uint64_t from, uint64_t size,
                  std::string& address) {
  const bool is_unix = socket.family == kUnix;
  if (size < sizeof(uint16_t) || size > (is_unix ? kLongestUnix : kLongestAddress))
    co_return -EINVAL;
  address.assign(size, '\0');
  const int64_t failed = co_await os.memory.copy_in(
      t, from, {reinterpret_cast<uint8_t*>(address.data()), address.size()});
  if (failed < 0) co_return failed;
  if (family_of(address) != socket.family) co_return is_unix ? -EINVAL : -EAFNOSUPPORT;
  if (socket.family == kInternet && size < kInternetBytes) co_return -EINVAL;
  if (socket.family == kInternet) address.resize(kInternetBytes);
  co_return 0;
}

// Writes an address to `to`, truncated to the size given by the word at `size_at`, and then writes
// the address's full size to that word.
Work write_address(Linux& os, Task& t, const Socket& socket, std::string address, uint64_t to,
                   uint64_t size_at) {
  if (!to || !size_at) co_return 0;
  uint32_t room = 0;
  const int64_t failed = co_await os.memory.read(t, size_at, room);
  if (failed < 0) co_return failed;
  if (address.empty()) {
    address.assign(socket.family == kInternet ? kInternetBytes : 2, '\0');
    address[0] = static_cast<char>(socket.family);
  }
  const auto* const bytes = reinterpret_cast<const uint8_t*>(address.data());
  const std::size_t part = std::min<std::size_t>(room, address.size());
  const int64_t fault = co_await os.memory.copy_out(t, {bytes, part}, to);
  if (fault < 0) co_return fault;
  co_return co_await os.memory.put(t, size_at, address.size(), 4);
}

// Binds a socket to a path. The inode that this creates remains when the socket is closed, as in
// Linux.
int64_t name_by_path(Linux& os, const SocketRef& socket, const std::string& address) {
  FileTree& tree = os.files.tree;
  const auto there = tree.walk(os.files.working, path_of(address), FileTree::Last::named);
  if (there.error) return there.error;
  if (there.node) return -EADDRINUSE;
  if (there.slash) return -ENOENT;
  if (there.directory->sealed) return -EROFS;
  const InodeRef node = tree.make(Inode::Kind::socket, 0777 & ~os.files.mask);
  tree.enter(there.directory, there.name, node);
  os.addresses.take(key(*node), socket);
  socket->name = address;
  return 0;
}

int64_t name_it(Linux& os, const SocketRef& socket, std::string address) {
  if (!socket->name.empty()) return -EINVAL;
  if (is_path(*socket, address)) return name_by_path(os, socket, address);
  if (socket->family == kUnix && address.size() == 2) {  // autobind: the system chooses a name
    char name[8];
    std::snprintf(name, sizeof name, "%05x", os.addresses.free_port(prefix(*socket)));
    address += std::string(1, '\0') + name;
  }
  if (socket->family == kInternet && !is_here(address)) return -EADDRNOTAVAIL;
  if (socket->family == kInternet && port_of(address) == 0)
    set_port(address, os.addresses.free_port(prefix(*socket)));
  if (!os.addresses.take(key(*socket, address), socket)) return -EADDRINUSE;
  socket->name = address;
  return 0;
}

// Gives an AF_INET socket without an address a loopback address, before it connects or sends.
void name_by_itself(Linux& os, const SocketRef& socket) {
  if (socket->family != kInternet || !socket->name.empty()) return;
  std::string address(kInternetBytes, '\0');
  address[0] = kInternet, address[4] = 127, address[7] = 1;
  name_it(os, socket, address);
}

// Connects a socket. The connection exists at once; the listener gets its other end by accept().
Work reach(Linux& os, Task& t, SocketRef socket, std::string address) {
  SocketRef other;
  if (socket->family == kInternet && !is_here(address)) co_return -ENETUNREACH;
  if (const int64_t failed = look_up(os, *socket, address, other); failed < 0) co_return failed;
  name_by_itself(os, socket);
  if (socket->type == kDatagram) {
    socket->inbox(), other->inbox();
    socket->out = other->in, socket->peer = address;
    co_return 0;
  }
  if (!other->listens) co_return -ECONNREFUSED;
  if (other->coming.size() > other->most)
    co_return socket->family == kUnix ? -EAGAIN : -ECONNREFUSED;
  const SocketRef end = make(other->family, other->type);
  Socket::pair(socket, end);
  end->name = other->name, end->peer = socket->name, socket->peer = other->name;
  other->coming.push_back(end);
  co_return co_await other->ready.wake_all(os.scheduler, t, POLLIN);
}

// Sets `to` to the stream to which a call sends: the peer's, or, for a datagram with an address,
// that of the socket with this address.
Work target(Linux& os, Task& t, const SocketRef& socket, uint64_t address, uint64_t size,
            std::shared_ptr<Stream>& to) {
  to = socket->out;
  if (!address) co_return 0;
  const bool is_stream = socket->type == kStream && socket->family == kUnix;
  if (is_stream) co_return to ? -EISCONN : -EOPNOTSUPP;
  if (socket->type != kDatagram) co_return 0;
  std::string whom;
  const int64_t failed = co_await read_address(os, t, *socket, address, size, whom);
  if (failed < 0) co_return failed;
  SocketRef other;
  if (const int64_t no = look_up(os, *socket, whom, other); no < 0) co_return no;
  name_by_itself(os, socket);
  other->inbox();
  to = other->in;
  co_return 0;
}

Stream::How how(const Socket& socket, uint64_t flags) {
  return {.waits = !(socket.flags & O_NONBLOCK) && !(flags & kDontWait),
          .keeps = (flags & kPeek) != 0,
          .fills = (flags & kWaitAll) != 0,
          .signals = !(flags & kNoSignal)};
}

struct Message {  // struct msghdr
  uint64_t name;
  uint32_t name_size, pad;
  uint64_t parts, many, control, control_size;
  uint32_t flags, pad2;
};

Work read_message(Linux& os, Task& t, uint64_t at, Message& message, UserBuffers& parts) {
  const int64_t failed = co_await os.memory.read(t, at, message);
  if (failed < 0) co_return failed;
  if (message.many > kMostParts) co_return -EMSGSIZE;
  co_return co_await read_parts(os, t, message.parts, message.many, parts);
}

struct Address {  // when sending, `size` is the address's size; when receiving, points to it
  uint64_t at, size;
};

Work send(Linux& os, Task& t, UserBuffers parts, uint64_t flags, Address whom) {
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  std::shared_ptr<Stream> to;
  const int64_t failed = co_await target(os, t, socket, whom.at, whom.size, to);
  if (failed < 0) co_return failed;
  co_return co_await socket->send(os, t, to, std::move(parts), how(*socket, flags));
}

// Receives into `parts`. Sets `lost` to whether a datagram did not fit and was truncated.
Work receive(Linux& os, Task& t, UserBuffers parts, uint64_t flags, Address from, bool& lost) {
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  Stream::Got got;
  const int64_t size = co_await socket->receive(os, t, std::move(parts), how(*socket, flags), got);
  if (size < 0) co_return size;
  if (!socket->keeps_ends()) {  // a stream socket reports no sender's address
    const int64_t failed = from.at && from.size ? co_await os.memory.put(t, from.size, 0, 4) : 0;
    co_return failed < 0 ? failed : size;
  }
  lost = got.whole > static_cast<uint64_t>(size);
  const int64_t failed = co_await write_address(os, t, *socket, got.from, from.at, from.size);
  if (failed < 0) co_return failed;
  co_return (flags & kTruncated) ? static_cast<int64_t>(got.whole) : size;
}

}  // namespace

Work socket(Linux& os, Task& t) {
  if (const int64_t may = may_make(t.args[0], t.args[1], t.args[2]); may < 0) co_return may;
  co_return os.files.open(make(t.args[0], t.args[1]), os.limits.descriptors());
}

Work socketpair(Linux& os, Task& t) {
  if (const int64_t may = may_make(t.args[0], t.args[1], t.args[2]); may < 0) co_return may;
  if (t.args[0] != kUnix) co_return -EOPNOTSUPP;
  const SocketRef a = make(t.args[0], t.args[1]), b = make(t.args[0], t.args[1]);
  Socket::pair(a, b);
  co_return co_await give_pair(os, t, a, b, t.args[3]);
}

Work bind(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  std::string address;
  if (!socket) co_return no_socket(os, t.args[0]);
  const int64_t failed = co_await read_address(os, t, *socket, t.args[1], t.args[2], address);
  if (failed < 0) co_return failed;
  if (socket->type == kDatagram) socket->inbox();
  co_return name_it(os, socket, address);
}

Work listen(Linux& os, Task& t) {
  constexpr uint64_t kMostComing = 4096;  // net.core.somaxconn
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  if (socket->type == kDatagram) co_return -EOPNOTSUPP;
  if (socket->out || (socket->family == kUnix && socket->name.empty())) co_return -EINVAL;
  name_by_itself(os, socket);
  socket->listens = true;
  socket->most = std::min<uint64_t>(static_cast<uint32_t>(t.args[1]), kMostComing);
  co_return 0;
}

Work accept4(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  if (t.args[3] & ~kFlags) co_return -EINVAL;
  if (!socket->listens) co_return socket->type == kDatagram ? -EOPNOTSUPP : -EINVAL;
  if (socket->coming.empty() && (socket->flags & O_NONBLOCK)) co_return -EAGAIN;
  if (socket->coming.empty()) {
    const WaitQueue::Member waits(socket->ready, t);
    const int64_t failed =
        co_await os.signals.wait(t, kNever, [&] { return !socket->coming.empty(); });
    if (failed < 0) co_return failed;
  }
  const SocketRef end = socket->coming.front();
  socket->coming.pop_front();
  end->flags |= t.args[3] & O_NONBLOCK;
  const int64_t failed = co_await write_address(os, t, *end, end->peer, t.args[1], t.args[2]);
  if (failed < 0) co_return failed;
  co_return os.files.open(end, os.limits.descriptors());
}
Work accept(Linux& os, Task& t) {
  t.args[3] = 0;
  co_return co_await accept4(os, t);
}

Work connect(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  std::string address;
  if (!socket) co_return no_socket(os, t.args[0]);
  const int64_t failed = co_await read_address(os, t, *socket, t.args[1], t.args[2], address);
  if (failed < 0) co_return failed;
  if (socket->listens || address.size() == 2) co_return -EINVAL;
  if (socket->out && socket->type != kDatagram) co_return -EISCONN;
  co_return co_await reach(os, t, socket, address);
}

Work getsockname(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  co_return co_await write_address(os, t, *socket, socket->name, t.args[1], t.args[2]);
}

Work getpeername(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  if (!socket->out) co_return -ENOTCONN;
  co_return co_await write_address(os, t, *socket, socket->peer, t.args[1], t.args[2]);
}

Work sendto(Linux& os, Task& t) {
  if (!UserMemory::is_range(t.args[1], t.args[2])) co_return -EFAULT;
  const UserBuffers parts(1, {t.args[1], t.args[2]});
  const Address whom{t.args[4], t.args[5]};
  co_return co_await send(os, t, parts, t.args[3], whom);
}

Work recvfrom(Linux& os, Task& t) {
  bool lost = false;
  if (!UserMemory::is_range(t.args[1], t.args[2])) co_return -EFAULT;
  const UserBuffers parts(1, {t.args[1], t.args[2]});
  const Address from{t.args[4], t.args[5]};
  co_return co_await receive(os, t, parts, t.args[3], from, lost);
}

// Ignores ancillary data (descriptors and credentials).
Work sendmsg(Linux& os, Task& t) {
  Message message{};
  UserBuffers parts;
  const int64_t failed = co_await read_message(os, t, t.args[1], message, parts);
  if (failed < 0) co_return failed;
  const Address whom{message.name, message.name_size};
  co_return co_await send(os, t, parts, t.args[2], whom);
}

Work recvmsg(Linux& os, Task& t) {
  Message message{};
  UserBuffers parts;
  bool lost = false;
  const uint64_t at = t.args[1], name_size = at + offsetof(Message, name_size);
  int64_t failed = co_await read_message(os, t, at, message, parts);
  if (failed < 0) co_return failed;
  const Address from{message.name, name_size};
  const int64_t size = co_await receive(os, t, parts, t.args[2], from, lost);
  if (size < 0) co_return size;
  failed = co_await os.memory.put(t, at + offsetof(Message, control_size), 0, 8);
  const uint64_t flags = lost ? uint64_t{kTruncated} : 0;
  if (failed == 0) failed = co_await os.memory.put(t, at + offsetof(Message, flags), flags, 4);
  co_return failed < 0 ? failed : size;
}

Work shutdown(Linux& os, Task& t) {
  constexpr uint64_t kReading = 0, kBoth = 2;  // SHUT_RD, SHUT_RDWR
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  if (t.args[1] > kBoth) co_return -EINVAL;
  const std::shared_ptr<Stream> in = socket->in, out = socket->out;
  const bool reading = t.args[1] == kReading || t.args[1] == kBoth;
  if (!out && socket->family == kInternet) co_return -ENOTCONN;
  if (t.args[1] != kReading) socket->is_mute = true;
  if (t.args[1] != kReading && out && !socket->is_datagram()) co_await out->close_writing(os, t);
  if (reading && in) co_await in->close_writing(os, t);
  co_return 0;
}

// Socket options are accepted but have no effect.
Work setsockopt(Linux& os, Task& t) {
  if (!socket_at(os, t.args[0])) co_return no_socket(os, t.args[0]);
  if (t.args[1] != kOfSockets) co_return 0;
  if (static_cast<uint32_t>(t.args[4]) < sizeof(int32_t)) co_return -EINVAL;
  co_return t.args[2] <= kLastOption ? 0 : -ENOPROTOOPT;
}
Work getsockopt(Linux& os, Task& t) {
  constexpr uint64_t kType = 3, kFamily = 39;  // SO_TYPE, SO_DOMAIN
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  uint64_t value = 0;
  if (t.args[1] == kOfSockets && t.args[2] > kLastOption) co_return -ENOPROTOOPT;
  if (t.args[1] == kOfSockets && t.args[2] == kType) value = socket->type;
  if (t.args[1] == kOfSockets && t.args[2] == kFamily) value = socket->family;
  const int64_t failed = co_await os.memory.put(t, t.args[3], value, 4);
  if (failed < 0) co_return failed;
  co_return co_await os.memory.put(t, t.args[4], 4, 4);
}

}  // namespace uncore::calls

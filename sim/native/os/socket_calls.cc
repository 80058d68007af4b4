// System calls on sockets: AF_UNIX and AF_INET, only between sockets of the same program.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <optional>

#include "os/calls.hh"
#include "os/socket.hh"

namespace uncore::calls {
namespace {

enum : uint16_t { kUnix = 1, kInternet = 2 };                             // AF_UNIX, AF_INET
enum : uint32_t { kStream = 1, kDatagram = 2, kRaw = 3, kSequence = 5 };  // SOCK_
enum : uint64_t {
  kOutOfBand = 1,
  kPeek = 2,
  kTruncated = 0x20,
  kDontWait = 0x40,
  kWaitAll = 0x100,
  kErrorQueue = 0x2000,
  kNoSignal = 0x4000,
  kControlTruncated = 8,
  kWaitForOne = 0x10000,
  kCloseOnExec = 0x40000000,  // MSG_CMSG_CLOEXEC
  kCompatible = 0x80000000,   // MSG_CMSG_COMPAT, which programs must not set
};  // MSG_
enum : uint32_t { kRights = 1, kSenderCredentials = 2 };  // SCM_
constexpr std::size_t kLongestAddress = 128;              // struct sockaddr_storage
constexpr std::size_t kLongestUnix = 110;                 // struct sockaddr_un
constexpr std::size_t kInternetBytes = 16;                // struct sockaddr_in
constexpr uint64_t kDescriptorFlags = O_NONBLOCK | O_CLOEXEC;
constexpr uint64_t kSocketLevel = 1, kLastOption = 84;  // SOL_SOCKET, SO_INQ

SocketRef socket_at(Linux& os, uint64_t descriptor) { return os.files.at(descriptor).as<Socket>(); }
int64_t no_socket(Linux& os, uint64_t descriptor) {
  return os.files.at(descriptor) ? -ENOTSOCK : -EBADF;
}

bool has_known_flags(uint64_t type) {
  constexpr uint64_t kTypeMask = 15;  // SOCK_TYPE_MASK
  return (static_cast<uint32_t>(type) & ~(kTypeMask | kDescriptorFlags)) == 0;
}
int64_t may_make(uint32_t family, uint32_t type, uint32_t protocol) {
  constexpr uint64_t kTypeMask = 15, kTcp = 6, kUdp = 17;  // SOCK_TYPE_MASK, IPPROTO_TCP, _UDP
  constexpr uint64_t kNumFamilies = 46, kNumTypes = 11;    // AF_MAX, SOCK_MAX
  constexpr uint64_t kIcmp = 1;                            // IPPROTO_ICMP
  const uint64_t kind = type & kTypeMask;
  if (family >= kNumFamilies) return -EAFNOSUPPORT;
  if (kind >= kNumTypes) return -EINVAL;
  if (family != kUnix && family != kInternet) return -EAFNOSUPPORT;
  if (family == kUnix && protocol > kUnix) return -EPROTONOSUPPORT;
  if (family == kUnix) return kind == kSequence || (kind && kind <= kRaw) ? 0 : -ESOCKTNOSUPPORT;
  if (!kind || kind > kRaw) return -ESOCKTNOSUPPORT;
  // Ping sockets are not allowed for this group (net.ipv4.ping_group_range).
  if (kind == kDatagram && protocol == kIcmp) return -EACCES;
  const bool fits = protocol == 0 || protocol == (kind == kStream ? kTcp : kUdp);
  return kind != kRaw && fits ? 0 : -EPROTONOSUPPORT;
}

// Creates a socket. SOCK_RAW of AF_UNIX means SOCK_DGRAM, as in Linux.
SocketRef make(uint64_t family, uint64_t type) {
  const auto kind = static_cast<uint32_t>(type & ~kDescriptorFlags);
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
// Returns the name of an address in the table of bound sockets (Addresses).
std::string bound_name(const Socket& socket, const std::string& address) {
  if (socket.family == kInternet) return prefix(socket) + std::to_string(port_of(address));
  return prefix(socket) + address.substr(2);
}
// Returns the name, in the table of bound sockets, of one that is bound to a path. It is made from
// the number of its inode.
std::string bound_name(const Inode& node) { return "file " + std::to_string(node.number); }

// Finds the socket with an address on behalf of socket `by`, which wants to connect or send to it.
// Returns 0 or an error.
int64_t look_up(Linux& os, const Socket& by, const std::string& address, SocketRef& found) {
  if (!is_path(by, address)) {
    const uint16_t from = !by.is_internet() ? 0
                          : by.name.empty() ? os.addresses.next_port()
                                            : port_of(by.name);
    found = os.addresses.at(bound_name(by, address), from);
    return found ? 0 : -ECONNREFUSED;
  }
  const auto walked =
      os.files.tree.walk(os.files.working, path_of(address), FileTree::LinkPolicy::follow);
  if (walked.error) return walked.error;
  if (!walked.node) return -ENOENT;
  found = os.addresses.at(bound_name(*walked.node));
  if (!found) return -ECONNREFUSED;
  return found->type == by.type ? 0 : -EPROTOTYPE;
}

// Reads the socket address of a call, without a check of its content.
Work read_bytes(Linux& os, Task& t, uint64_t from, uint64_t size, std::string& address) {
  if (static_cast<uint32_t>(size) > kLongestAddress) co_return -EINVAL;
  address.assign(static_cast<uint32_t>(size), '\0');
  co_return co_await os.memory.copy_in(
      t, from, {reinterpret_cast<uint8_t*>(address.data()), address.size()});
}

// Checks that an address belongs to the socket's family, and cuts it to the length that Linux
// stores.
int64_t check_address(const Socket& socket, std::string& address) {
  const bool is_unix = socket.family == kUnix;
  const std::size_t size = address.size();
  if (size < sizeof(uint16_t) || (is_unix && size > kLongestUnix)) return -EINVAL;
  if (family_of(address) != socket.family) return is_unix ? -EINVAL : -EAFNOSUPPORT;
  if (!is_unix && size < kInternetBytes) return -EINVAL;
  if (!is_unix) address.resize(kInternetBytes);
  if (is_path(socket, address)) address.resize(sizeof(uint16_t) + path_of(address).size() + 1);
  return 0;
}

// Writes an address to `to`, cut to the size in the word at `size_at`, and then its full size to
// that word.
Work write_address(Linux& os, Task& t, std::string address, uint64_t to, uint64_t size_at) {
  uint32_t room = 0;
  const int64_t error = co_await os.memory.read(t, size_at, room);
  if (error < 0) co_return error;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(address.data());
  const std::size_t part = std::min<std::size_t>(room, address.size());
  if (static_cast<int32_t>(room) < 0) co_return -EINVAL;
  const int64_t fault = co_await os.memory.copy_out(t, {bytes, part}, to);
  const int64_t put_failed = co_await os.memory.put(t, size_at, address.size(), 4);
  co_return fault < 0 ? fault : put_failed;
}

// Writes 0 as the size of the sender's address, because it has none.
Work write_none(Linux& os, Task& t, uint64_t size_at) {
  int32_t room = 0;
  if (!os.memory.peek(size_at, {reinterpret_cast<uint8_t*>(&room), sizeof room})) co_return -EFAULT;
  if (room < 0) co_return -EINVAL;
  co_return co_await os.memory.put(t, size_at, 0, sizeof room);
}

// Returns the address to report for a socket that is not bound: its family, and zeros.
std::string no_address(const Socket& socket) {
  std::string address(socket.family == kInternet ? kInternetBytes : sizeof(uint16_t), '\0');
  address[0] = static_cast<char>(socket.family);
  return address;
}

// Binds a socket to a path. The inode that this creates remains when the socket is closed, as in
// Linux.
int64_t bind_to_path(Linux& os, const SocketRef& socket, const std::string& address) {
  FileTree& tree = os.files.tree;
  const auto found = tree.walk(os.files.working, path_of(address), FileTree::LinkPolicy::name_only);
  if (found.error) return found.error;
  if (found.is_too_long()) return -ENAMETOOLONG;
  if (found.node) return -EADDRINUSE;
  if (found.slash || found.directory->is_removed()) return -ENOENT;
  if (found.directory->sealed) return -EROFS;
  if (!socket->name.empty()) return -EINVAL;
  const InodeRef node = tree.make(Inode::Kind::socket, 0777 & ~os.files.mask);
  tree.enter(found.directory, found.name, node);
  os.addresses.take(bound_name(*node), socket);
  socket->name = address;
  return 0;
}

int64_t bind_to(Linux& os, const SocketRef& socket, std::string address) {
  const bool wants_autobind = socket->family == kUnix && address.size() == sizeof(uint16_t);
  if (is_path(*socket, address)) return bind_to_path(os, socket, address);
  if (!socket->name.empty()) return wants_autobind ? 0 : -EINVAL;
  if (wants_autobind) {
    char name[8];
    std::snprintf(name, sizeof name, "%05x", os.addresses.free_port(prefix(*socket)));
    address += std::string(1, '\0') + name;
  }
  if (socket->family == kInternet && !is_here(address)) return -EADDRNOTAVAIL;
  if (socket->family == kInternet && port_of(address) == 0)
    set_port(address, os.addresses.free_port(prefix(*socket)));
  if (!os.addresses.take(bound_name(*socket, address), socket)) return -EADDRINUSE;
  socket->name = address;
  return 0;
}

// Binds a socket without an address before it connects, listens or sends: one of AF_INET to a
// loopback address (Linux's inet_autobind), one that tells credentials to an abstract name
// (unix_autobind).
void autobind(Linux& os, const SocketRef& socket) {
  if (!socket->name.empty()) return;
  if (socket->tells_credentials()) bind_to(os, socket, no_address(*socket));
  if (socket->family != kInternet) return;
  std::string address(kInternetBytes, '\0');
  address[0] = kInternet, address[4] = 127, address[7] = 1;
  bind_to(os, socket, address);
}

// Connects a socket. The connection exists at once; the listener gets its other end by accept().
Work connect_to(Linux& os, Task& t, SocketRef socket, std::string address) {
  SocketRef other;
  if (socket->family == kInternet && !is_here(address)) co_return -ENETUNREACH;
  if (socket->family == kUnix) autobind(os, socket);
  const int64_t error = look_up(os, *socket, address, other);
  if (error < 0 && !socket->is_datagram_over_internet()) co_return error;
  autobind(os, socket);
  if (socket->type == kDatagram) {
    if (socket->family == kUnix && !socket->may_send_to(*other)) co_return -EPERM;
    socket->inbox();
    if (!other || other->in != socket->out) socket->disconnect(os);
    socket->out.reset(), socket->peer = address;
    if (other) other->inbox(), socket->out = other->in;
    co_return 0;
  }
  if (!other->listens || other->is_receive_shut) co_return -ECONNREFUSED;
  if (other->accept_queue.size() > other->backlog)
    co_return socket->family == kUnix ? -EAGAIN : -ECONNREFUSED;
  if (socket->out) co_return -EISCONN;
  if (socket->listens) co_return -EINVAL;
  const SocketRef end = make(other->family, other->type);
  Socket::pair(socket, end);
  end->name = other->name, end->peer = socket->name, socket->peer = other->name;
  if (other->tells_credentials())
    end->options[Socket::kPassCredentials] = other->options[Socket::kPassCredentials];
  end->listener = other;
  other->accept_queue.push_back(end);
  co_return co_await other->ready.wake_all(os.scheduler, t, POLLIN);
}

constexpr int64_t kNobody = 1;
// Sets `to` to the stream to which a call sends. It is the peer's, unless a datagram has a
// destination address of its own. Returns kNobody if no socket has the
// address of a datagram over AF_INET, which is then lost.
Work target(Linux& os, Task& t, const SocketRef& socket, uint64_t address, uint64_t size,
            const UserBuffers& parts, std::shared_ptr<Stream>& to) {
  to = socket->out;
  const bool is_unix_message = socket->keeps_boundaries() && !socket->is_internet();
  if (!address || !static_cast<uint32_t>(size)) {
    if (is_unix_message && to) autobind(os, socket);
    co_return 0;
  }
  const bool is_stream = socket->type == kStream && socket->family == kUnix;
  std::string name;
  if (is_stream || socket->type != kDatagram) {
    if (static_cast<uint32_t>(size) > kLongestAddress) co_return -EINVAL;
    if (os.memory.usable(address, size, UserMemory::Use::read) < size) co_return -EFAULT;
    co_return !is_stream ? 0 : to ? -EISCONN : -EOPNOTSUPP;
  }
  const int64_t error = co_await read_bytes(os, t, address, size, name);
  if (error < 0) co_return error;
  if (const int64_t no = check_address(*socket, name); no < 0) co_return no;
  if (name.size() == sizeof(uint16_t)) co_return -EINVAL;
  if (is_unix_message) autobind(os, socket);
  if (const int64_t no = socket->may_send(os, parts); no < 0) co_return no;
  SocketRef other;
  const int64_t no = look_up(os, *socket, name, other);
  if (no == 0 || socket->is_internet()) autobind(os, socket);
  if (no < 0) co_return socket->is_internet() ? kNobody : no;
  if (!socket->may_send_to(*other)) co_return socket->is_internet() ? kNobody : -EPERM;
  other->inbox();
  to = other->in;
  co_return 0;
}

Stream::IoOptions io_options(const Socket& socket, uint64_t flags) {
  return {.waits = !(socket.flags & O_NONBLOCK) && !(flags & kDontWait),
          .peeks = (flags & kPeek) != 0,
          .waits_for_all = (flags & kWaitAll) != 0,
          .signals = !(flags & kNoSignal),
          .waits_if_zero = true};
}

struct Message {  // struct msghdr
  uint64_t name;
  uint32_t name_size, pad;
  uint64_t parts, many, control, control_size;
  uint32_t flags, pad2;
};

Work read_message(Linux& os, Task& t, uint64_t address, Message& message, UserBuffers& parts) {
  const int64_t error = co_await os.memory.read(t, address, message);
  if (error < 0) co_return error;
  if (static_cast<int32_t>(message.name_size) < 0) co_return -EINVAL;
  if (message.many > kMostParts) co_return -EMSGSIZE;
  co_return co_await read_parts(os, t, message.parts, message.many, parts);
}

struct Address {  // when sending, `size` is the address's size; when receiving, points to it
  uint64_t at, size;
};

// Files and credentials that are sent or received beside the bytes.
struct Attachment {
  OpenFileRefs files;
  bool is_signed = false;
};

// Takes the files if it has sent them.
Work send(Linux& os, Task& t, SocketRef socket, UserBuffers parts, uint64_t flags,
          Address destination, Attachment& attached) {
  std::shared_ptr<Stream> to;
  if ((flags & kOutOfBand) && socket->keeps_boundaries()) co_return -EOPNOTSUPP;
  const int64_t error = co_await target(os, t, socket, destination.at, destination.size, parts, to);
  if (error < 0) co_return error;
  if (error == kNobody) co_return static_cast<int64_t>(Socket::size_of(parts));
  Stream::IoOptions options = io_options(*socket, flags);
  options.is_signed = attached.is_signed;
  co_return co_await socket->send(os, t, to, std::move(parts), options, attached.files);
}

// Receives into `parts`. Sets `truncated` if the end of a datagram did not fit (MSG_TRUNC). The
// caller drops the files that it has received.
Work receive(Linux& os, Task& t, SocketRef socket, UserBuffers parts, uint64_t flags, Address from,
             bool& truncated, Stream::ReceiveResult& received) {
  if ((flags & kOutOfBand) && socket->keeps_boundaries()) co_return -EOPNOTSUPP;
  const int64_t size =
      co_await socket->receive(os, t, std::move(parts), io_options(*socket, flags), received);
  if (size < 0) co_return size;
  truncated = socket->keeps_boundaries() && received.full_size > static_cast<uint64_t>(size);
  int64_t error = 0;
  const bool is_unix_stream = !socket->keeps_boundaries() && !socket->is_internet();
  if (is_unix_stream && received.is_signed) received.from = socket->peer_name();  // not at the end
  if (from.at && received.from.empty())
    error = co_await write_none(os, t, from.size);
  else if (from.at)
    error = co_await write_address(os, t, received.from, from.at, from.size);
  if (error < 0) co_return error;
  co_return truncated && (flags & kTruncated) ? static_cast<int64_t>(received.full_size) : size;
}

// Returns the buffer of sendto or recvfrom, cut to MAX_RW_COUNT bytes as in Linux.
UserBuffer buffer_argument(const Task& t) {
  constexpr uint64_t kMaxTransferBytes = 0x7ffff000;  // MAX_RW_COUNT
  return {t.args[1], std::min(t.args[2], kMaxTransferBytes)};
}

}  // namespace

Work socket(Linux& os, Task& t) {
  const auto family = static_cast<uint32_t>(t.args[0]), type = static_cast<uint32_t>(t.args[1]);
  if (!has_known_flags(type)) co_return -EINVAL;
  const int64_t may = may_make(family, type, static_cast<uint32_t>(t.args[2]));
  if (may < 0) co_return may;
  co_return os.files.open(make(family, type), os.limits.descriptors(), type);
}

// Writes the descriptors before it makes sockets or fails for a family without pairs, as Linux
// does.
Work socketpair(Linux& os, Task& t) {
  const auto family = static_cast<uint32_t>(t.args[0]), type = static_cast<uint32_t>(t.args[1]);
  if (!has_known_flags(type)) co_return -EINVAL;
  int64_t may = may_make(family, type, static_cast<uint32_t>(t.args[2]));
  if (may == 0 && family != kUnix) may = -EOPNOTSUPP;
  const SocketRef a = make(kUnix, type), b = make(kUnix, type);
  a->is_made = b->is_made = false;
  const int64_t error = co_await give_pair(os, t, a, b, t.args[3], type);
  if (error < 0) co_return error;
  if (may < 0) {
    for (const OpenFileRef& file : {OpenFileRef(a), OpenFileRef(b)}) os.files.drop(file);
    co_return may;
  }
  a->is_made = b->is_made = true;
  Socket::pair(a, b);
  co_return 0;
}

Work bind(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  std::string address;
  if (!socket) co_return no_socket(os, t.args[0]);
  const int64_t error = co_await read_bytes(os, t, t.args[1], t.args[2], address);
  if (error < 0) co_return error;
  if (const int64_t no = check_address(*socket, address); no < 0) co_return no;
  if (socket->type == kDatagram) socket->inbox();
  co_return bind_to(os, socket, address);
}

Work listen(Linux& os, Task& t) {
  constexpr uint64_t kMaxBacklog = 4096;  // net.core.somaxconn
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  if (socket->type == kDatagram) co_return -EOPNOTSUPP;
  if (socket->out || (socket->family == kUnix && socket->name.empty())) co_return -EINVAL;
  autobind(os, socket);
  const bool begins = !std::exchange(socket->listens, true);
  if (begins && socket->is_internet() &&
      !os.addresses.take(bound_name(*socket, socket->name), socket)) {
    socket->listens = false;
    co_return -EADDRINUSE;
  }
  socket->backlog = std::min<uint64_t>(static_cast<uint32_t>(t.args[1]), kMaxBacklog);
  co_return 0;
}

Work accept4(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!os.files.at(t.args[0])) co_return -EBADF;
  if (static_cast<uint32_t>(t.args[3]) & ~kDescriptorFlags) co_return -EINVAL;
  if (!os.files.has_room(os.limits.descriptors())) co_return -EMFILE;
  if (!socket) co_return -ENOTSOCK;
  if (!socket->listens) co_return socket->type == kDatagram ? -EOPNOTSUPP : -EINVAL;
  if (socket->accept_queue.empty() && (socket->flags & O_NONBLOCK)) co_return -EAGAIN;
  if (socket->accept_queue.empty() && socket->is_receive_shut) co_return -EINVAL;
  if (socket->accept_queue.empty()) {
    const WaitQueue::Member waits(socket->ready, t);
    const int64_t error =
        co_await os.signals.wait(t, kNever, [&] { return !socket->accept_queue.empty(); });
    if (error < 0) co_return error;
  }
  const SocketRef end = socket->accept_queue.front();
  socket->accept_queue.pop_front();
  end->listener.reset();
  end->flags |= t.args[3] & O_NONBLOCK;
  if (t.args[1]) {
    const std::string peer_name = end->peer.empty() ? no_address(*end) : end->peer;
    const int64_t error = co_await write_address(os, t, peer_name, t.args[1], t.args[2]);
    if (error < 0) {
      co_await end->hang_up(os, t);
      co_return error;
    }
  }
  co_return os.files.open(end, os.limits.descriptors(), t.args[3]);
}
Work accept(Linux& os, Task& t) {
  t.args[3] = 0;
  co_return co_await accept4(os, t);
}

Work connect(Linux& os, Task& t) {
  constexpr uint16_t kNone = 0;  // AF_UNSPEC
  const SocketRef socket = socket_at(os, t.args[0]);
  std::string address;
  if (!os.files.at(t.args[0])) co_return -EBADF;
  const int64_t error = co_await read_bytes(os, t, t.args[1], t.args[2], address);
  if (error < 0) co_return error;
  if (!socket) co_return -ENOTSOCK;
  if (socket->is_datagram() && address.size() >= sizeof kNone && family_of(address) == kNone) {
    socket->disconnect(os);
    co_return 0;
  }
  if (const int64_t no = check_address(*socket, address); no < 0) co_return no;
  if (address.size() == sizeof kNone) co_return -EINVAL;
  co_return co_await connect_to(os, t, socket, address);
}

Work getsockname(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  const std::string name = socket->name.empty() ? no_address(*socket) : socket->name;
  co_return co_await write_address(os, t, name, t.args[1], t.args[2]);
}

Work getpeername(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  const bool has_peer =
      socket->out || (socket->is_datagram_over_internet() && !socket->peer.empty());
  if (!has_peer) co_return -ENOTCONN;
  const std::string name = socket->peer_name();
  const std::string peer = name.empty() ? no_address(*socket) : name;
  co_return co_await write_address(os, t, peer, t.args[1], t.args[2]);
}

Work sendto(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  const UserBuffers parts(1, buffer_argument(t));
  const Address destination{t.args[4], t.args[5]};
  if (!UserMemory::is_range(parts[0].address, parts[0].size)) co_return -EFAULT;
  if (!socket) co_return no_socket(os, t.args[0]);
  Attachment nothing;
  co_return co_await send(os, t, socket, parts, t.args[3], destination, nothing);
}

Work recvfrom(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  const UserBuffers parts(1, buffer_argument(t));
  const Address from{t.args[4], t.args[5]};
  bool truncated = false;
  if (!UserMemory::is_range(parts[0].address, parts[0].size)) co_return -EFAULT;
  if (!socket) co_return no_socket(os, t.args[0]);
  Stream::ReceiveResult received;
  const int64_t size = co_await receive(os, t, socket, parts, t.args[3], from, truncated, received);
  os.in_flight.drop(std::move(received.files));
  co_return size;
}

namespace {

struct ControlHeader {  // struct cmsghdr
  uint64_t size;
  uint32_t level, type;
};
constexpr std::size_t kHeader = sizeof(ControlHeader);
constexpr uint64_t aligned(uint64_t size) { return (size + 7) & ~uint64_t{7}; }  // CMSG_ALIGN

struct Credentials {  // struct ucred
  uint32_t pid, user, group;
};

// Adds the files of one control message (SCM_RIGHTS). Returns 0 or an error.
int64_t add_files(const Linux& os, std::string_view data, OpenFileRefs& files) {
  const std::size_t many = data.size() / sizeof(uint32_t);
  if (files.size() + many > FilesInFlight::kMostOfMessage) return -EINVAL;
  for (std::size_t i = 0; i < many; ++i) {
    uint32_t descriptor = 0;
    std::memcpy(&descriptor, data.data() + i * sizeof descriptor, sizeof descriptor);
    const OpenFileRef file = os.files.any_at(descriptor);
    if (!file) return -EBADF;
    files.push_back(file);
  }
  return 0;
}

// Reads what a message carries beside its bytes from its control messages (Linux's __scm_send).
// Returns 0 or an error.
int64_t parse_control(const Linux& os, std::string_view control, Attachment& attached) {
  for (std::size_t at = 0; at + kHeader <= control.size();) {
    ControlHeader header{};
    std::memcpy(&header, control.data() + at, kHeader);
    if (header.size < kHeader || header.size > control.size() - at) return -EINVAL;
    const std::string_view data = control.substr(at + kHeader, header.size - kHeader);
    at += aligned(header.size);
    if (header.level != kSocketLevel) continue;
    if (header.type == kRights) {
      if (const int64_t no = add_files(os, data, attached.files); no < 0) return no;
      continue;
    }
    Credentials own{};
    if (header.type != kSenderCredentials || data.size() != sizeof own) return -EINVAL;
    std::memcpy(&own, data.data(), sizeof own);
    if (own.pid != os.tasks.pid() || own.user != Linux::kUser || own.group != Linux::kUser)
      return -EPERM;
    attached.is_signed = true;
  }
  return 0;
}

// Reads the control messages of a message that is sent. Sockets of AF_INET ignore them.
Work read_control(Linux& os, Task& t, Socket& socket, const Message& message,
                  Attachment& attached) {
  constexpr uint64_t kMaxControlBytes = 131'072;  // net.core.optmem_max
  if (message.control_size > kMaxControlBytes) co_return -ENOBUFS;
  std::string control(message.control_size, '\0');
  const int64_t error = co_await os.memory.copy_in(
      t, message.control, {reinterpret_cast<uint8_t*>(control.data()), control.size()});
  if (error < 0) co_return error;
  if (socket.type == kSequence) {
    if (socket.has_error()) co_return socket.take_error();
    if (!socket.out) co_return -ENOTCONN;
  }
  co_return socket.is_internet() ? 0 : parse_control(os, control, attached);
}

// The program's buffer for control messages, of which `used` bytes have been written.
struct ControlBuffer {
  uint64_t at, size, used = 0;
  bool truncated = false;  // MSG_CTRUNC

  uint64_t left() const { return size - used; }
};

// Writes a control message, cut to what is left of the buffer (Linux's put_cmsg). A fault is
// ignored, as there.
Work put_control(Linux& os, Task& t, ControlBuffer& to, uint32_t type, std::string data) {
  if (!to.at || to.left() < kHeader) {
    to.truncated = true;
    co_return 0;
  }
  const uint64_t whole = kHeader + data.size(), size = std::min(whole, to.left());
  if (size < whole) to.truncated = true;
  const ControlHeader header{.size = size, .level = kSocketLevel, .type = type};
  data.insert(0, reinterpret_cast<const char*>(&header), kHeader);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(data.data());
  co_await os.memory.copy_out(t, {bytes, static_cast<std::size_t>(size)}, to.at + to.used);
  to.used += std::min(aligned(whole), to.left());
  co_return 0;
}

// Gives the files descriptors, and writes as many as fit into the buffer (scm_detach_fds).
Work put_files(Linux& os, Task& t, ControlBuffer& to, const OpenFileRefs& files, uint64_t flags) {
  const uint64_t room = to.at && to.left() > kHeader ? (to.left() - kHeader) / sizeof(int32_t) : 0;
  const uint64_t cloexec = flags & kCloseOnExec ? uint64_t{O_CLOEXEC} : 0;
  const uint64_t start = to.at + to.used;
  uint64_t many = 0;
  for (; many < std::min<uint64_t>(room, files.size()); ++many) {
    const int64_t descriptor = os.files.open(files[many], os.limits.descriptors(), cloexec);
    if (descriptor < 0) break;
    const uint64_t place = start + kHeader + many * sizeof(int32_t);
    const int64_t fault =
        co_await os.memory.put(t, place, static_cast<uint64_t>(descriptor), sizeof(int32_t));
    if (fault < 0) {
      os.files.set(static_cast<uint64_t>(descriptor), {});
      break;
    }
  }
  if (many < files.size()) to.truncated = true;
  if (many == 0) co_return 0;
  const ControlHeader header{
      .size = kHeader + many * sizeof(int32_t), .level = kSocketLevel, .type = kRights};
  co_await os.memory.write(t, header, start);
  to.used += std::min(aligned(header.size), to.left());
  co_return 0;
}

// Sends the message whose struct msghdr is at `address`.
Work send_message(Linux& os, Task& t, SocketRef socket, uint64_t address, uint64_t flags,
                  uint64_t& whole) {
  Message message{};
  UserBuffers parts;
  Attachment attached;
  int64_t error = co_await read_message(os, t, address, message, parts);
  if (error < 0) co_return error;
  error = co_await read_control(os, t, *socket, message, attached);
  if (error < 0) co_return error;
  whole = Socket::size_of(parts);
  FilesInFlight::hold(attached.files);
  const Address destination{message.name, std::min<uint64_t>(message.name_size, kLongestAddress)};
  const int64_t sent = co_await send(os, t, socket, parts, flags, destination, attached);
  os.in_flight.drop(std::move(attached.files));
  co_return sent;
}

// Returns the credentials that a call tells which received `size` bytes, or failed with that error.
// A stream tells zeros if it has ended or if there is an error, as in Linux.
std::optional<Credentials> credentials_to_tell(const Linux& os, const Socket& socket, int64_t size,
                                               const Stream::ReceiveResult& received) {
  constexpr uint32_t kNobody = 65'534;  // the overflow uid
  if (!socket.tells_credentials()) return std::nullopt;
  if (!received.is_signed) {
    const bool was_connected = size != -EINVAL && size != -EOPNOTSUPP;
    if (socket.keeps_boundaries() || !was_connected) return std::nullopt;
    return Credentials{};
  }
  if (size < 0 && socket.keeps_boundaries()) return std::nullopt;
  if (*received.is_signed) return Credentials{os.tasks.pid(), Linux::kUser, Linux::kUser};
  return Credentials{0, kNobody, kNobody};
}

// Receives a message, and writes its struct msghdr at `address`.
Work receive_message(Linux& os, Task& t, SocketRef socket, uint64_t address, uint64_t flags) {
  Message message{};
  UserBuffers parts;
  Stream::ReceiveResult received;
  bool truncated = false;
  const uint64_t name_size = address + offsetof(Message, name_size);
  int64_t error = co_await read_message(os, t, address, message, parts);
  if (error < 0) co_return error;
  const Address from{message.name, name_size};
  const int64_t size = co_await receive(os, t, socket, parts, flags, from, truncated, received);
  ControlBuffer control{.at = message.control, .size = message.control_size};
  if (const auto sender = credentials_to_tell(os, *socket, size, received))
    co_await put_control(os, t, control, kSenderCredentials,
                         std::string(reinterpret_cast<const char*>(&*sender), sizeof *sender));
  if (size >= 0 && !received.files.empty())
    co_await put_files(os, t, control, received.files, flags);
  os.in_flight.drop(std::move(received.files));
  if (size < 0) co_return size;
  error = co_await os.memory.put(t, address + offsetof(Message, control_size), control.used, 8);
  const uint64_t result_flags = (truncated ? uint64_t{kTruncated} : 0) |
                                (control.truncated ? uint64_t{kControlTruncated} : 0) |
                                (flags & kCloseOnExec);
  if (error == 0)
    error = co_await os.memory.put(t, address + offsetof(Message, flags), result_flags, 4);
  co_return error < 0 ? error : size;
}

struct MessageOfMany {  // struct mmsghdr
  Message message;
  uint32_t size, pad;
};

// Returns what is left of a time at `now`, as a timespec.
std::array<uint64_t, 2> left_until(Time end, Time now) {
  constexpr uint64_t kNsPerSecond = 1'000'000'000;
  const uint64_t ns = end > now ? (end - now) / 1000 : 0;
  return {ns / kNsPerSecond, ns % kNsPerSecond};
}

}  // namespace

Work sendmsg(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  uint64_t whole = 0;
  if (t.args[2] & kCompatible) co_return -EINVAL;
  if (!socket) co_return no_socket(os, t.args[0]);
  co_return co_await send_message(os, t, socket, t.args[1], t.args[2], whole);
}

Work recvmsg(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  if (t.args[2] & kCompatible) co_return -EINVAL;
  if (!socket) co_return no_socket(os, t.args[0]);
  co_return co_await receive_message(os, t, socket, t.args[1], t.args[2]);
}

// Sends messages until one fails or is sent in part. The error of a later one is not reported.
Work sendmmsg(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  const uint64_t many = std::min<uint64_t>(static_cast<uint32_t>(t.args[2]), kMostParts);
  if (t.args[3] & kCompatible) co_return -EINVAL;
  if (!socket) co_return no_socket(os, t.args[0]);
  int64_t done = 0;
  for (uint64_t at = t.args[1]; done < static_cast<int64_t>(many); at += sizeof(MessageOfMany)) {
    uint64_t whole = 0;
    const int64_t sent = co_await send_message(os, t, socket, at, t.args[3], whole);
    int64_t error = std::min<int64_t>(sent, 0);
    if (error == 0)
      error = co_await os.memory.put(t, at + offsetof(MessageOfMany, size),
                                     static_cast<uint64_t>(sent), sizeof(uint32_t));
    if (error < 0) co_return done ? done : error;
    ++done;
    if (static_cast<uint64_t>(sent) < whole) break;
  }
  co_return done;
}

// Receives messages until one fails or the time is over, which is looked at after each message
// only. The next call on the socket reports the error of a later one, unless there was none.
Work recvmmsg(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  const uint64_t many = static_cast<uint32_t>(t.args[2]), time = t.args[4];
  uint64_t flags = t.args[3];
  Time end = kNever;
  if (flags & kCompatible) co_return -EINVAL;
  if (time) {
    const int64_t error = co_await read_time(os, t, time, kClockMonotonic, true, end);
    if (error < 0) co_return error;
  }
  if (!socket) co_return no_socket(os, t.args[0]);
  if (socket->has_error() && !(flags & kErrorQueue)) co_return socket->take_error();
  int64_t done = 0, error = 0;
  for (uint64_t at = t.args[1]; done < static_cast<int64_t>(many); at += sizeof(MessageOfMany)) {
    const int64_t size = co_await receive_message(os, t, socket, at, flags & ~kWaitForOne);
    error = std::min<int64_t>(size, 0);
    if (error == 0)
      error = co_await os.memory.put(t, at + offsetof(MessageOfMany, size),
                                     static_cast<uint64_t>(size), sizeof(uint32_t));
    if (error < 0) break;
    ++done;
    if (flags & kWaitForOne) flags |= kDontWait;
    if (time && t.now() >= end) break;
  }
  if (done == 0) co_return error;
  if (error < 0 && error != -EAGAIN && error != -ERESTARTSYS)
    socket->fail(static_cast<int32_t>(-error));
  if (!time) co_return done;
  const std::array<uint64_t, 2> left = left_until(end, t.now());
  const int64_t fault = co_await os.memory.write(t, left, time);
  co_return fault < 0 ? fault : done;
}

Work shutdown(Linux& os, Task& t) {
  constexpr uint64_t kReading = 0, kBothDirections = 2;  // SHUT_RD, SHUT_RDWR
  const SocketRef socket = socket_at(os, t.args[0]);
  if (!socket) co_return no_socket(os, t.args[0]);
  const auto direction = static_cast<uint32_t>(t.args[1]);
  if (direction > kBothDirections) co_return -EINVAL;
  if (socket->is_datagram() && !socket->is_internet()) socket->inbox();
  const std::shared_ptr<Stream> in = socket->in, out = socket->out;
  const bool reading = direction == kReading || direction == kBothDirections;
  if (!out && socket->family == kInternet) co_return -ENOTCONN;
  if (direction != kReading) socket->is_send_shut = true;
  if (reading) socket->is_receive_shut = true;
  if (direction != kReading && out && !socket->is_datagram()) co_await out->close_writing(os, t);
  if (reading && in) co_await in->close_writing(os, t);
  co_return 0;
}

namespace {

enum : uint32_t {  // SO_
  kType = 3,
  kError = 4,
  kSendRoom = 7,
  kReceiveRoom = 8,
  kLinger = 13,
  kCredentials = 17,
  kLeastReceived = 18,
  kLeastSent = 19,
  kReceiveTime = 20,
  kSendTime = 21,
  kListens = 30,
  kProtocol = 38,
  kFamily = 39,
  kPeekOffset = 42,
};
constexpr bool is_flag(uint32_t option) {  // options whose value becomes 0 or 1
  constexpr uint32_t kFlagOptions[] = {1, 2, 5, 6, 9, 10, 15, 16, 34, 40, 41, 43, 44, 45};
  return std::ranges::find(kFlagOptions, option) != std::end(kFlagOptions);
}
constexpr std::size_t bytes_of(uint32_t option) {
  if (option == kReceiveTime || option == kSendTime) return 2 * sizeof(int64_t);
  if (option == kCredentials) return 3 * sizeof(int32_t);
  return option == kLinger ? 2 * sizeof(int32_t) : sizeof(int32_t);
}
std::string word(int64_t value) {
  const auto number = static_cast<int32_t>(value);
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// Returns the value of an option that setsockopt has not set. It is 0 for SO_ERROR; getsockopt
// itself reports ECONNRESET.
std::string first_value(const Linux& os, const Socket& socket, uint32_t option) {
  switch (option) {
    case kType:
      return word(socket.type);
    case kFamily:
      return word(socket.family);
    case kListens:
      return word(socket.listens);
    case kSendRoom:
    case kReceiveRoom:
      return word(Socket::kSocketBytes);
    case kLeastReceived:
    case kLeastSent:
      return word(1);
    case kPeekOffset:
      return word(-1);
    case kCredentials: {
      const bool known = socket.out && !socket.is_datagram();
      const std::string user = word(known ? Linux::kUser : -1);
      return word(known ? os.tasks.pid() : 0) + user + user;
    }
    default:
      return std::string(bytes_of(option), '\0');
  }
}

}  // namespace

// Sets an option. Few have an effect here (Socket::options).
Work setsockopt(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  const auto level = static_cast<uint32_t>(t.args[1]), option = static_cast<uint32_t>(t.args[2]);
  const auto size = static_cast<uint32_t>(t.args[4]);
  if (!socket) co_return no_socket(os, t.args[0]);
  if (static_cast<int32_t>(size) < 0) co_return -EINVAL;
  if (level != kSocketLevel) co_return socket->family == kUnix ? -EOPNOTSUPP : 0;
  if (size < sizeof(int32_t)) co_return -EINVAL;
  std::string value(bytes_of(option), '\0');
  if (!os.memory.peek(t.args[3], {reinterpret_cast<uint8_t*>(value.data()), sizeof(int32_t)}))
    co_return -EFAULT;
  const bool fixed = option == kType || option == kError || option == kFamily ||
                     option == kProtocol || option == kListens || option == kCredentials ||
                     option == kLeastSent;
  if (fixed || option > kLastOption || option == 0) co_return -ENOPROTOOPT;
  if (size < value.size()) co_return -EINVAL;
  if (!os.memory.peek(t.args[3], {reinterpret_cast<uint8_t*>(value.data()), value.size()}))
    co_return -EFAULT;
  int32_t number = 0;
  std::memcpy(&number, value.data(), sizeof number);
  if (is_flag(option)) value = word(number != 0);
  if (option == kLinger) value = word(number != 0) + value.substr(sizeof number);
  if (option == kLeastReceived) value = word(number < 0 ? 0x7fffffff : number ? number : 1);
  if (option == kSendRoom || option == kReceiveRoom)
    value = word(2 * std::clamp<int64_t>(number, 2304, Socket::kSocketBytes));
  socket->options[option] = value;
  co_return 0;
}

Work getsockopt(Linux& os, Task& t) {
  const SocketRef socket = socket_at(os, t.args[0]);
  const auto level = static_cast<uint32_t>(t.args[1]), option = static_cast<uint32_t>(t.args[2]);
  if (!socket) co_return no_socket(os, t.args[0]);
  if (level != kSocketLevel && socket->family == kUnix) co_return -EOPNOTSUPP;
  int32_t room = 0;
  if (!os.memory.peek(t.args[4], {reinterpret_cast<uint8_t*>(&room), sizeof room}))
    co_return -EFAULT;
  if (room < 0) co_return -EINVAL;
  if (level == kSocketLevel && (option > kLastOption || option == 0)) co_return -ENOPROTOOPT;
  std::string value(sizeof(int32_t), '\0');
  if (level == kSocketLevel) {
    const auto set = socket->options.find(option);
    value = set == socket->options.end() ? first_value(os, *socket, option) : set->second;
    if (option == kError) value = word(-socket->take_error());
  }
  const std::size_t size = std::min<std::size_t>(value.size(), static_cast<uint32_t>(room));
  const auto* const bytes = reinterpret_cast<const uint8_t*>(value.data());
  const int64_t error = co_await os.memory.copy_out(t, {bytes, size}, t.args[3]);
  if (error < 0) co_return error;
  co_return co_await os.memory.put(t, t.args[4], size, 4);
}

}  // namespace uncore::calls

// Sockets within the program: socket pairs, and connections over loopback. There are no packets:
// bytes that are sent are in the peer's stream at once.
//
// Interface: pair() connects two sockets; send() and receive() transfer bytes. The system calls are
// in socket_calls.cc. Invariant: an address belongs to one socket as long as that socket is open,
// unless all that have it share it (SO_REUSEADDR, SO_REUSEPORT).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "os/stream.hh"

namespace uncore {

class Socket;
using SocketRef = std::shared_ptr<Socket>;

// Finds sockets by their addresses. A key consists of the family, the type and the address.
class Addresses {
 public:
  // Returns the socket to which one at the port `from` connects or sends. Of sockets with
  // SO_REUSEPORT, ports have one after the other in turn; of others, the one that was bound last.
  SocketRef at(const std::string& key, uint16_t from = 0) const;
  // Gives the socket an address, or, when it begins to listen, asks for its own once more, as Linux
  // does. Returns false if another socket has it that does not share it.
  bool take(const std::string& key, const SocketRef& socket);
  uint16_t free_port(const std::string& family);
  uint16_t next_port() const { return next_port_; }

 private:
  // The sockets that have an address, in the order in which they were bound. Linux remembers of a
  // port of TCP whether all its sockets may reuse it, and whether the last had SO_REUSEPORT
  // (fastreuse and fastreuseport). A further socket that fits is not compared with the others.
  struct Takers {
    std::vector<std::weak_ptr<Socket>> sockets;
    bool all_reuse = false, last_shares = false;
  };

  std::vector<SocketRef> open_at(const std::string& key) const;
  static bool share(const Socket& socket, const std::vector<SocketRef>& open);

  // Addresses of closed sockets are forgotten whenever as many have been added as were left.
  static constexpr std::size_t kFewAddresses = 64;

  std::map<std::string, Takers> taken_;
  std::size_t max_taken_ = kFewAddresses;
  uint16_t next_port_ = 32768;  // start of Linux's default net.ipv4.ip_local_port_range
};

class Socket : public OpenFile, public std::enable_shared_from_this<Socket> {
 public:
  // Bytes: the usual net.core.wmem_default, and the part of it that no message can use
  // (unix_dgram_sendmsg).
  static constexpr std::size_t kSocketBytes = 212'992, kOverhead = 32;
  static constexpr std::size_t kMostOfInternet = 65'507;  // bytes of a datagram: IP has 16 bits

  Socket(uint16_t family, uint32_t type, uint64_t flags)
      : OpenFile(O_RDWR | flags), family(family), type(type) {}

  Work read(Linux& os, Task& t, UserBuffer to, uint64_t& offset) override;
  Work write(Linux& os, Task& t, UserBuffer from, uint64_t& offset) override;
  Work read_all(Linux& os, Task& t, UserBuffers to);
  Work write_all(Linux& os, Task& t, UserBuffers from);
  Stat stat() const override;
  uint16_t poll(const Task&) const override;
  Work hang_up(Linux& os, Task& t) override;
  int64_t readable_bytes() const override { return in ? static_cast<int64_t>(in->bytes()) : 0; }

  // Connects two sockets by a stream in each direction.
  static void pair(const SocketRef& a, const SocketRef& b);
  bool is_datagram() const { return type == 2; }    // SOCK_DGRAM
  bool is_internet() const { return family == 2; }  // AF_INET
  // Sends to the stream `to`: the peer's or, for a datagram, that of any socket.
  // It takes the files if it has sent them.
  Work send(Linux& os, Task& t, std::shared_ptr<Stream> to, UserBuffers from,
            Stream::IoOptions io_options, OpenFileRefs& files);
  Work receive(Linux& os, Task& t, UserBuffers to, Stream::IoOptions io_options,
               Stream::ReceiveResult& received);
  // Ends the connection of a datagram socket. Over AF_UNIX what it has not read is lost, and then
  // the next call on a peer that was connected to it fails with ECONNRESET, as in Linux.
  void disconnect(Linux& os);
  // Returns the peer's present address; an empty string if it has none.
  std::string peer_name() const;
  bool keeps_boundaries() const;  // true except for SOCK_STREAM: message boundaries are preserved
  // Returns the stream in which datagrams arrive; makes it if there is none yet.
  Stream& inbox();

  static uint64_t size_of(const UserBuffers& parts);
  // Returns 0 if a message can be sent, whatever its destination; else the error, which may be the
  // pending one.
  int64_t may_send(const Linux& os, const UserBuffers& parts);
  // Returns whether this socket may send datagrams to `other`. A connected datagram socket accepts
  // them from its peer only.
  bool may_send_to(const Socket& other) const;
  // The pending error, as of Stream: nobody had the address to which a datagram was sent, the peer
  // has gone without reading everything, or a later message of recvmmsg failed.
  void fail(int32_t error) { inbox().fail(error); }
  bool has_error() const { return in && in->has_error(); }
  int64_t take_error() { return in ? in->take_error() : 0; }
  // Returns whether a flag of setsockopt is set.
  bool has(uint32_t option) const;
  // Returns whether messages to this socket tell their senders' credentials (SO_PASSCRED).
  bool tells_credentials() const { return !is_internet() && has(kPassCredentials); }
  bool is_datagram_over_internet() const { return is_datagram() && is_internet(); }
  // Returns the socket that now has the address to which a datagram socket over AF_INET was
  // connected.
  SocketRef peer_now(const Linux& os) const;

  const uint16_t family;
  const uint32_t type;
  // Own and peer's address, as the program gave them; empty: none. The own one is shared with the
  // messages sent, since their receivers are told the address that the sender has then.
  const std::shared_ptr<std::string> own_name = std::make_shared<std::string>();
  std::string& name = *own_name;
  std::string peer;
  std::shared_ptr<Stream> in, out;
  // Values that setsockopt has set. Of these only the three below have an effect.
  static constexpr uint32_t kReuseAddress = 2, kReusePort = 15, kPassCredentials = 16;
  std::map<uint32_t, std::string> options;
  bool listens = false;
  bool is_made = true;                 // false: Linux would not have made it yet (socketpair)
  bool is_send_shut = false;           // shut down for writing (SHUT_WR)
  bool is_receive_shut = false;        // shut down for reading (SHUT_RD)
  std::size_t backlog = 0;             // the backlog of listen(2)
  std::deque<SocketRef> accept_queue;  // connections that accept(2) has not yet returned
  std::weak_ptr<Socket> listener;  // the listening socket whose accept_queue has this connection
  // The peer of a connection over AF_INET has refused bytes, because it has closed its socket.
  bool is_refused = false;
};

}  // namespace uncore

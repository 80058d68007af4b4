// Sockets within the program: pairs, and connections over loopback. No packet is made: what is sent
// is in the other's stream at once.
//
// Interface: pair() of two; bind_to() an address, listen(), connect(), accept(); streams for the
// calls that send and receive. Invariant: an address is one socket's, as long as that is open.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>

#include "os/stream.hh"

namespace uncore {

class Socket;
using SocketRef = std::shared_ptr<Socket>;

// Which socket has an address: by its family, its type and what it says.
class Addresses {
 public:
  SocketRef at(const std::string& key) const;
  // False: it is another's.
  bool take(const std::string& key, const SocketRef& socket);
  uint16_t free_port(const std::string& family);

 private:
  std::map<std::string, std::weak_ptr<Socket>> taken_;
  uint16_t next_port_ = 32768;  // as net.ipv4.ip_local_port_range begins
};

class Socket : public OpenFile, public std::enable_shared_from_this<Socket> {
 public:
  static constexpr std::size_t kRoom = 212'992;  // as /proc/sys/net/core/wmem_default usually is

  Socket(uint16_t family, uint32_t type, uint64_t flags)
      : OpenFile(O_RDWR | flags), family(family), type(type) {}

  Work read(Linux& os, Task& t, UserBuffer to, uint64_t& at) override;
  Work write(Linux& os, Task& t, UserBuffer from, uint64_t& at) override;
  Work read_all(Linux& os, Task& t, UserBuffers to);
  Work write_all(Linux& os, Task& t, UserBuffers from);
  Stat stat() const override;
  uint16_t poll(const Task&) const override;
  Work hang_up(Linux& os, Task& t) override;

  // Connects two sockets; each has a stream to the other.
  static void pair(const SocketRef& a, const SocketRef& b);
  bool is_datagram() const { return type == 2; }    // SOCK_DGRAM
  bool is_internet() const { return family == 2; }  // AF_INET
  // Sends to its peer, or to another's stream.
  Work send(Linux& os, Task& t, std::shared_ptr<Stream> to, UserBuffers from, Stream::How how);
  Work receive(Linux& os, Task& t, UserBuffers to, Stream::How how, Stream::Got& got);
  bool keeps_ends() const;  // of what is sent at once: all but streams
  // Makes the stream in which datagrams arrive, where there is none yet.
  Stream& inbox();

  const uint16_t family;
  const uint32_t type;
  std::string name, peer;  // addresses, as the program gave them; empty: there is none
  std::shared_ptr<Stream> in, out;
  bool listens = false;
  bool is_mute = false;          // shut down for writing
  std::size_t most = 0;          // how many may wait to be accepted
  std::deque<SocketRef> coming;  // they do
};

}  // namespace uncore

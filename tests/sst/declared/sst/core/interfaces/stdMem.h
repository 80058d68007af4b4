// Declares the interface to memory; see component.h.
#pragma once

#include <cstdint>
#include <vector>

#include "../component.h"

namespace SST::Interfaces {

class StandardMem : public SubComponent {
 public:
  using Addr = uint64_t;

  class Request {
   public:
    using id_t = uint64_t;
    virtual ~Request();
    id_t getID();
    bool getFail();
  };

  struct Read : Request {
    Read(Addr address, uint64_t size);
  };
  struct ReadResp : Request {
    std::vector<uint8_t> data;
  };
  struct Write : Request {
    Write(Addr address, uint64_t size, std::vector<uint8_t> data, bool posted = false);
  };
  struct LoadLink : Request {
    LoadLink(Addr address, uint64_t size);
  };
  struct StoreConditional : Request {
    StoreConditional(Addr address, uint64_t size, std::vector<uint8_t> data);
  };

  using HandlerBase = SSTHandlerBase<Request*>;
  template <class Owner, auto function>
  using Handler = SSTHandler<Request*, Owner, function>;

  static void eli_arguments(TimeConverter base, HandlerBase* handler);

  virtual void send(Request* request) = 0;
  virtual void sendUntimedData(Request* request) = 0;
};

}  // namespace SST::Interfaces

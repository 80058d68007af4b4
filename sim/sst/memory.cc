// The accesses of a hart, one at a time, and its stores behind them.
//
// SST's caches have no atomic operation but a pair: LoadLink takes the line exclusively and keeps
// it for a while (the L1's llsc_block_cycles), StoreConditional writes if nobody took it since. An
// AMO is a loop of both, an LR and SC are one each.
#include <algorithm>

#include "hart.hh"

namespace uncore {
namespace {

uint64_t number(const std::vector<uint8_t>& bytes) {
  uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 8; ++i)
    value |= static_cast<uint64_t>(bytes[i]) << 8 * i;
  return value;
}

std::vector<uint8_t> bytes(uint64_t value, unsigned size) {
  std::vector<uint8_t> bytes(size);
  for (unsigned i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(value >> 8 * i);
  return bytes;
}

}  // namespace

// ---- the port: what the hart wants is noted, and done when SST's time has reached the hart's

Answer SstHart::issue(const Access& access, Outcome&) {
  access_ = access;
  return Answer::later;
}

// Sixteen bytes do not fit a StandardMem access that our values travel in: no shipped guest, built
// without Zacas, has the instruction, and one that has it gets an access fault.
Answer SstHart::cas_pair(uint64_t, Pair, Pair, Pair&, unsigned) { return Answer::fault; }

Answer SstHart::fence(unsigned predecessor, unsigned successor) {
  Outcome nothing;
  const bool waits = orders_write_before_read(predecessor, successor) && !buffer_.empty();
  return waits ? issue({.kind = Access::Kind::fence}, nothing) : Answer::now;
}

// ---- performing it

// True: the access is done, and the hart can go on.
bool SstHart::perform() {
  using K = Access::Kind;
  blocked_ = access_.drains() && !buffer_.empty();
  if (blocked_) return false;
  switch (access_.kind) {
    case K::load:
      return perform_load();
    case K::store:
      return perform_store();
    case K::amo:
    case K::lr:
      memory_->send(new Memory::LoadLink(access_.address, access_.size));
      return false;
    case K::sc:
      return perform_conditional();
    case K::write:
    case K::read:
      return reach_register();
    case K::fence:
      resume(0);
      return true;
    case K::cas_pair:
    case K::none:
      break;
  }
  return false;
}

bool SstHart::perform_load() {
  uint64_t value = 0;
  switch (buffer_.search(access_.address, access_.size, value)) {
    case StoreBuffer::Match::value:
      hart_.clock = std::max(hart_.clock, now()) + cost_.forward;
      resume(value);
      return true;
    case StoreBuffer::Match::conflict:
      blocked_ = true;
      return false;
    case StoreBuffer::Match::nothing:
      break;
  }
  memory_->send(new Memory::Read(access_.address, access_.size));
  return false;
}

bool SstHart::perform_store() {
  blocked_ = buffer_.size() >= stores_;
  if (blocked_) return false;
  buffer_.push({access_.address, access_.value, access_.size});
  drain();
  resume(0);
  return true;
}

bool SstHart::perform_conditional() {
  const bool reserved = reservation_ == access_.address >> kLineShift;
  reservation_.reset();
  if (!reserved) {
    resume(1);
    return true;
  }
  memory_->send(new Memory::StoreConditional(access_.address, access_.size,
                                             bytes(access_.value, access_.size)));
  return false;
}

// A register of another hart (rules I1 and I4): to write there occupies the hart, to read it waits.
bool SstHart::reach_register() {
  const Register target = *register_of(access_.address);
  if (access_.kind == Access::Kind::read) {
    send(RegisterMessage::Kind::read, target, 0, 0);
    return false;
  }
  send(RegisterMessage::Kind::write, target, access_.value, cost_.send);
  hart_.clock = std::max(hart_.clock, now()) + cost_.send;
  resume(0);
  return true;
}

// The oldest store goes out when the one before it has arrived.
void SstHart::drain() {
  if (storing_ || buffer_.empty()) return;
  const Store& oldest = buffer_.head();
  auto* request = new Memory::Write(oldest.address, oldest.size, bytes(oldest.value, oldest.size));
  storing_ = request->getID();
  memory_->send(request);
}

void SstHart::stored() {
  storing_.reset();
  buffer_.remove(0);
  drain();
  if (!blocked_) return;
  blocked_ = false;
  if (perform()) run();
}

// ---- what memory answers

void SstHart::answered(Memory::Request* request) {
  const std::unique_ptr<Memory::Request> owned(request);
  if (storing_ == request->getID()) return stored();
  if (const auto* data = dynamic_cast<Memory::ReadResp*>(request))
    return loaded(number(data->data));
  conditional(request->getFail());
}

void SstHart::loaded(uint64_t value) {
  if (call_) return read_for_call(value);
  if (access_.kind == Access::Kind::amo) {
    read_ = value;
    const uint64_t next =
        amo_apply(access_.op, access_.size, value, access_.value, access_.expected);
    return memory_->send(
        new Memory::StoreConditional(access_.address, access_.size, bytes(next, access_.size)));
  }
  if (access_.kind == Access::Kind::lr) {
    reservation_ = access_.address >> kLineShift;
    hart_.clock = std::max(hart_.clock, now()) + cost_.lr;
  }
  resume(value);
  run();
}

void SstHart::conditional(bool failed) {
  if (access_.kind == Access::Kind::amo) {
    if (failed) {
      ++link_retries_;
      return memory_->send(new Memory::LoadLink(access_.address, access_.size));
    }
    hart_.clock = std::max(hart_.clock, now()) + cost_.amo;
    resume(read_);
  } else {
    resume(failed);
  }
  run();
}

}  // namespace uncore

#include "async/access_unit.hh"

namespace uncore {

using Done = AccessUnit::Done;

std::optional<Done> AccessUnit::perform() {
  using K = Access::Kind;
  blocked_ = access_.drains() && draining();
  if (blocked_) return std::nullopt;
  switch (access_.kind) {
    case K::load:
      return load();
    case K::store:
      return store();
    case K::amo:
    case K::lr:
      atomics_.load_link(access_);
      return std::nullopt;
    case K::sc:
      return atomics_.store_conditional(access_) ? std::nullopt : std::optional(Done{.value = 1});
    case K::write:
    case K::read:
      return far_register();
    case K::fence:
      return Done{};
    case K::cas_pair:
    case K::none:
      break;
  }
  return std::nullopt;
}

std::optional<Done> AccessUnit::load() {
  Done done{.cost = spec_.forward};
  switch (stores_.search(access_, done.value)) {
    case StoreBuffer::Match::value:
      return done;
    case StoreBuffer::Match::conflict:
      blocked_ = true;
      return std::nullopt;
    case StoreBuffer::Match::nothing:
      break;
  }
  memory_.read(access_.address, access_.size);
  return std::nullopt;
}

std::optional<Done> AccessUnit::store() {
  blocked_ = stores_.full();
  if (blocked_) return std::nullopt;
  stores_.push(access_);
  return Done{};
}

// Accesses a register of another hart by a message. A write occupies this hart for `send`; a read
// waits for the answer (rules I1 and I4).
std::optional<Done> AccessUnit::far_register() {
  using Message = HartMessage::Kind;
  const Register target = *registers_.at(access_.address);
  if (access_.kind == Access::Kind::read) {
    registers_.send(Message::read, target, 0, 0);
    return std::nullopt;
  }
  registers_.send(Message::write, target, access_.value, spec_.send);
  return Done{.cost = spec_.send};
}

std::optional<Done> AccessUnit::answered(const MemoryAnswer& answer) {
  if (stores_.answered(answer.request)) return blocked_ ? perform() : std::nullopt;
  switch (access_.kind) {
    case Access::Kind::amo:
      if (const auto read = atomics_.answered(access_, answer))
        return Done{.value = *read, .cost = spec_.amo};
      return std::nullopt;
    case Access::Kind::lr:
      atomics_.reserve(access_);
      return Done{.value = answer.value, .cost = spec_.lr};
    case Access::Kind::sc:
      return Done{.value = answer.failed};
    default:
      return Done{.value = answer.value};
  }
}

}  // namespace uncore

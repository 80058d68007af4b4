// Declares events, their handlers and their serialization; see component.h.
#pragma once

#include <cstdint>
#include <type_traits>

#define SST_SER(member) SST::Core::Serialization::sst_ser_object(ser, member)
#define ImplementSerializable(...) using serialized_as = __VA_ARGS__

namespace SST {
namespace Core::Serialization {

class serializer;

template <class T>
void sst_ser_object(serializer& ser, T& object);

}  // namespace Core::Serialization

template <class Argument>
struct SSTHandlerBase {
  virtual ~SSTHandlerBase() = default;
};

template <class Argument, class Owner, auto function>
struct SSTHandler : SSTHandlerBase<Argument> {
  static_assert(std::is_invocable_r_v<void, decltype(function), Owner*, Argument>);
  explicit SSTHandler(Owner* owner);
};

class Event {
 public:
  using HandlerBase = SSTHandlerBase<Event*>;
  template <class Owner, auto function>
  using Handler = SSTHandler<Event*, Owner, function>;

  virtual ~Event();
  virtual void serialize_order(Core::Serialization::serializer& ser);
};

}  // namespace SST

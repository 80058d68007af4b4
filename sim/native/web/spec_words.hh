// Reads a spec from 64-bit words, whose order is that of each_field, and describes this order.
//
// Interface: from_words<MachineSpec>(words) reads a spec. shape(json, MachineSpec{}) describes the
// order to the page, which writes the words. A list begins with its length, bytes are packed eight
// to a word, and an enumerator is its position.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "spec/spec.hh"
#include "web/json.hh"

namespace uncore {

class Words {
 public:
  explicit Words(const uint64_t* first) : next_(first) {}

  template <class T>
  void fill(T& value) {
    if constexpr (std::is_enum_v<T> || std::is_arithmetic_v<T>)
      value = static_cast<T>(*next_++);
    else
      each_field(value, [this](const char*, auto& member) { fill(member); });
  }
  void fill(std::vector<uint8_t>& bytes) {
    bytes.resize(static_cast<std::size_t>(*next_++));
    if (!bytes.empty()) std::memcpy(bytes.data(), next_, bytes.size());
    next_ += (bytes.size() + 7) / 8;
  }
  template <class T>
  void fill(std::vector<T>& values) {
    values.resize(static_cast<std::size_t>(*next_++));
    for (T& item : values) fill(item);
  }

 private:
  const uint64_t* next_;
};

template <class T>
T from_words(const uint64_t* first) {
  T value{};
  Words(first).fill(value);
  return value;
}

template <class T>
void shape(Json& out, const T&);

inline void shape(Json& out, const std::vector<uint8_t>&) { out.value("bytes"); }

template <class T>
void shape(Json& out, const std::vector<T>&) {
  out.text += '[';
  shape(out, T{});
  out.text += ']';
}

template <class T>
void shape(Json& out, const T&) {
  if constexpr (std::is_enum_v<T>) {
    out.object([](auto put) {
      constexpr auto all = words(T{});
      put("words", std::vector<std::string_view>(all.begin(), all.end()));
    });
  } else if constexpr (std::is_arithmetic_v<T>) {
    out.value("number");
  } else {
    T value{};
    out.object([&](auto put) {
      each_field(value,
                 [&](const char* name, auto& member) { put(name, [&] { shape(out, member); }); });
    });
  }
}

}  // namespace uncore

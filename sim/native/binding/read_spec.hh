// Converts Python's dataclasses to the structs generated from them (spec/spec.hh), field by field.
//
// Interface: from_python<MachineSpec>(handle). It throws if a number does not fit its member, or if
// a string is not the name of an enumerator.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "spec/spec.hh"

namespace uncore {

template <class T>
void fill(T& value, nanobind::handle from);

inline void fill(std::vector<uint8_t>& bytes, nanobind::handle from) {
  const auto all = nanobind::cast<nanobind::bytes>(from);
  const auto* data = static_cast<const uint8_t*>(all.data());
  bytes.assign(data, data + all.size());
}

template <class T>
void fill(std::vector<T>& values, nanobind::handle from) {
  for (nanobind::handle item : from) fill(values.emplace_back(), item);
}

template <class T>
T word(const std::string& written) {
  constexpr auto all = words(T{});
  const auto match = std::find(all.begin(), all.end(), written);
  if (match == all.end()) throw std::invalid_argument(written + ": no such word");
  return static_cast<T>(match - all.begin());
}

template <class T>
void fill(T& value, nanobind::handle from) {
  if constexpr (std::is_enum_v<T>) {
    value = word<T>(nanobind::cast<std::string>(from));
  } else if constexpr (std::is_arithmetic_v<T>) {
    value = nanobind::cast<T>(from);
  } else {
    each_field(value, [&](const char* name, auto& member) {
      fill(member, nanobind::object(from.attr(name)));
    });
  }
}

template <class T>
T from_python(nanobind::handle from) {
  T value{};
  fill(value, from);
  return value;
}

}  // namespace uncore

// Writes JSON: numbers, strings, lists and objects.
//
// Interface: Json out; out.object([&](auto put) { put("name", value); });  out.text
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "observe/columns.hh"

namespace uncore {

class Json {
 public:
  std::string text;

  template <std::integral T>
  void value(T number) {
    text += std::to_string(number);
  }
  // Writes a hexadecimal string, because a number in JavaScript is exact to 53 bits only.
  void value(Wide number) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "\"%llx\"", static_cast<unsigned long long>(number.bits));
    text += digits;
  }
  void value(std::string_view word) {
    text += '"';
    for (const char c : word) {
      if (c == '"' || c == '\\') text += '\\';
      if (static_cast<unsigned char>(c) >= 0x20) {
        text += c;
      } else {
        char code[8];
        std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
        text += code;
      }
    }
    text += '"';
  }
  void value(const char* word) { value(std::string_view(word)); }
  template <class A, class B>
  void value(const std::pair<A, B>& both) {
    list([&](auto put) { put(both.first), put(both.second); });
  }
  template <class T, std::size_t n>
  void value(const std::array<T, n>& all) {
    list([&](auto put) {
      for (const T& item : all) put(item);
    });
  }
  template <class T>
  void value(const std::vector<T>& all) {
    list([&](auto put) {
      for (const T& item : all) put(item);
    });
  }

  template <class Fill>
  void list(Fill fill) {
    within('[', ']', [&](auto next) {
      fill([&](const auto& item) {
        next();
        value(item);
      });
    });
  }
  // Calls `fill(put)`, which calls put(name, value) for each field, or put(name, f) if f writes the
  // value.
  template <class Fill>
  void object(Fill fill) {
    within('{', '}', [&](auto next) {
      fill([&](const char* name, const auto& item) {
        next();
        value(name);
        text += ':';
        if constexpr (std::is_invocable_v<decltype(item)>)
          item();
        else
          value(item);
      });
    });
  }

 private:
  template <class Inside>
  void within(char begin, char end, Inside inside) {
    text += begin;
    bool first = true;
    inside([&] {
      if (!first) text += ',';
      first = false;
    });
    text += end;
  }
};

}  // namespace uncore

// The console. Each hart's letters are collected into a line before they are added to `text`, so
// that lines of harts that write at the same time do not mix. A kernel orders its output itself, so
// its letters are added at once (letter_by_letter).
//
// Interface: say() takes letters that a hart writes; take_typed() returns the next letter typed, or
// 0; end() adds unfinished lines when the run is over; text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uncore {

class Console {
 public:
  void say(uint32_t hart, std::string_view letters) {
    if (letter_by_letter) {
      text += letters;
      return;
    }
    for (std::string& line = lines_[hart]; const char letter : letters) {
      line.push_back(letter);
      if (letter == '\n') text += std::exchange(line, {});
    }
  }
  void end() {
    for (auto& [hart, line] : lines_) text += std::exchange(line, {});
  }

  bool is_typed() const { return listens && heard_ < typed.size(); }
  uint8_t take_typed() { return is_typed() ? typed[heard_++] : 0; }

  std::string text;
  bool letter_by_letter = false;
  bool listens = true;  // false: typed letters wait until the guest enables the receive interrupt
  std::vector<uint8_t> typed;

 private:
  std::size_t heard_ = 0;
  std::map<uint32_t, std::string> lines_;  // hart -> its unfinished line
};

}  // namespace uncore

// The console. Its text gets whole lines, so that harts that write at the same time do not mix
// theirs; or single letters, if a kernel keeps lines apart itself.
//
// Interface: say() for letters that a hart writes; hear() returns the next letter typed, or 0;
// end() completes unfinished lines when the run is over; text.
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
  uint8_t hear() { return is_typed() ? typed[heard_++] : 0; }

  std::string text;
  bool letter_by_letter = false;
  bool listens = true;  // false: letters typed wait
  std::vector<uint8_t> typed;

 private:
  std::size_t heard_ = 0;
  std::map<uint32_t, std::string> lines_;  // hart -> its unfinished line
};

}  // namespace uncore

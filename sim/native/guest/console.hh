// The console: whole lines, so that harts that write at one time do not mix theirs; letter by
// letter where a kernel sees to that.
//
// Interface: say() what a hart writes; hear() what is typed, as far as there is something;
// end() what has no end of line when the run is over; text.
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
  bool listens = true;  // what is typed waits until somebody does
  std::vector<uint8_t> typed;

 private:
  std::size_t heard_ = 0;
  std::map<uint32_t, std::string> lines_;  // by hart, as far as they have come
};

}  // namespace uncore

// The console: whole lines, so that harts that write at one time do not mix theirs.
//
// Interface: say() what a hart writes; end() what has no end of line when the run is over; text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace uncore {

class Console {
 public:
  void say(uint32_t hart, std::string_view letters) {
    for (std::string& line = lines_[hart]; const char letter : letters) {
      line.push_back(letter);
      if (letter == '\n') text += std::exchange(line, {});
    }
  }
  void end() {
    for (auto& [hart, line] : lines_) text += std::exchange(line, {});
  }

  std::string text;

 private:
  std::map<uint32_t, std::string> lines_;  // by hart, as far as they have come
};

}  // namespace uncore

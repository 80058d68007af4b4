// The files that a program finds, all of them read-only and known when the run begins: a folder of
// the user's, and what tells of the machine (/proc, /sys).
//
// Interface: stat() of a path, entries() of a directory; the descriptors of the process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/spec.hh"

namespace uncore {

inline const std::string kWorkingDirectory = "/files";  // the folder that --files names

class Files {
 public:
  explicit Files(const std::vector<FileSpec>& files);

  struct Node {
    bool directory = false;
    std::string_view data;  // of a file
    uint64_t number = 0;    // of its kind, as st_ino
  };
  // A path from the root, however it is written; null: there is none.
  const Node* find(std::string_view path) const;
  // Names in a directory, in their order.
  std::vector<std::string> entries(std::string_view path) const;
  static std::string absolute(std::string_view path);

  struct Open {
    enum class Kind : uint8_t { console, file, directory } kind = Kind::console;
    std::string path;
    uint64_t offset = 0;
    unsigned output = 0;  // console: 1 or 2; 0 is the input, which is empty
  };
  Open* at(uint64_t descriptor);
  // The lowest that is free; -1: there are too many.
  int64_t open(Open what);
  bool close(uint64_t descriptor);

 private:
  std::map<std::string, Node, std::less<>> nodes_;
  std::vector<std::optional<Open>> descriptors_;
};

}  // namespace uncore

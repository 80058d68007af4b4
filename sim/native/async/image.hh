// The program that a hart runs: the loaded parts of its ELF, and its code.
//
// Interface: Image(path) reads a 64-bit little-endian RISC-V ELF; segments, entry; code() is the
// segment that holds the entry; pieces() are the segments cut at pages. Throws std::runtime_error
// with the path and what was expected.
//
// Invariant: segments lie in RAM and do not overlap; bytes that the file does not hold are zero in
// memory already, and not kept here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace uncore {

struct Segment {
  uint64_t address;
  std::vector<uint8_t> bytes;
};

inline bool holds(const Segment& segment, uint64_t at) {
  return at - segment.address < segment.bytes.size();
}

class Image {
 public:
  explicit Image(const std::string& path);
  Image(const Image&) = delete;  // code() is a part of it

  uint64_t entry = 0;
  std::vector<Segment> segments;

  const Segment& code() const { return *code_; }
  // Cuts the segments at pages, so that each piece has one home, however pages are dealt out.
  std::vector<Segment> pieces() const;

 private:
  const Segment* code_ = nullptr;
};

}  // namespace uncore

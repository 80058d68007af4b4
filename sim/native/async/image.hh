// The program that a hart runs: the loadable segments of its ELF file.
//
// Interface: Image(path) reads a 64-bit little-endian RISC-V ELF; segments, entry; code() is the
// segment that holds the entry; pieces() are the segments cut at page boundaries. The constructor
// throws std::runtime_error, whose message has the path and the reason.
//
// Invariant: segments lie in RAM and do not overlap. Bytes that the file does not contain (.bss)
// are left out, because memory is zero at first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace uncore {

struct Segment {
  uint64_t address;
  std::vector<uint8_t> bytes;
};

inline bool holds(const Segment& segment, uint64_t address) {
  return address - segment.address < segment.bytes.size();
}

class Image {
 public:
  explicit Image(const std::string& path);
  Image(const Image&) = delete;  // because code_ points into `segments`

  uint64_t entry = 0;
  std::vector<Segment> segments;

  const Segment& code() const { return *code_; }
  // Cuts the segments at page boundaries, so that each piece has one home node, however pages are
  // distributed.
  std::vector<Segment> pieces() const;

 private:
  const Segment* code_ = nullptr;
};

}  // namespace uncore

#include "async/image.hh"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace uncore {
namespace {

constexpr uint64_t kPage = 4096;

std::vector<uint8_t> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": cannot be read; it is the program to run");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns the structure at an offset of the file. Throws if it extends past the end of the file.
template <class T>
T at(const std::vector<uint8_t>& file, uint64_t offset, const std::string& path) {
  if (offset > file.size() || file.size() - offset < sizeof(T))
    throw std::runtime_error(path + ": ends within its headers; write the run folder anew");
  T value;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

}  // namespace

Image::Image(const std::string& path) {
  const std::vector<uint8_t> file = contents(path);
  const auto header = at<Elf64_Ehdr>(file, 0, path);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_RISCV)
    throw std::runtime_error(path + ": not a 64-bit RISC-V ELF");
  entry = header.e_entry;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto part = at<Elf64_Phdr>(file, header.e_phoff + i * sizeof(Elf64_Phdr), path);
    if (part.p_type != PT_LOAD || part.p_filesz == 0) continue;
    if (part.p_offset > file.size() || file.size() - part.p_offset < part.p_filesz)
      throw std::runtime_error(path + ": ends within a segment; write the run folder anew");
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(part.p_offset);
    segments.push_back({part.p_paddr, {begin, begin + static_cast<std::ptrdiff_t>(part.p_filesz)}});
  }
  for (const Segment& segment : segments)
    if (holds(segment, entry)) code_ = &segment;
  if (!code_) throw std::runtime_error(path + ": its entry lies in none of its segments");
}

std::vector<Segment> Image::pieces() const {
  std::vector<Segment> pieces;
  for (const Segment& segment : segments) {
    for (uint64_t offset = 0; offset < segment.bytes.size();) {
      const uint64_t room = kPage - (segment.address + offset) % kPage;
      const uint64_t size = std::min<uint64_t>(room, segment.bytes.size() - offset);
      const auto begin = segment.bytes.begin() + static_cast<std::ptrdiff_t>(offset);
      pieces.push_back(
          {segment.address + offset, {begin, begin + static_cast<std::ptrdiff_t>(size)}});
      offset += size;
    }
  }
  return pieces;
}

}  // namespace uncore

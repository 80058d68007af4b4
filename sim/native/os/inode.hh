// A node of the program's file system, such as a file, directory or link. Its names are entries of
// directories, not part of the node.
//
// Interface: FileData has a file's bytes: those that the user gave, and the pages written since.
// Invariant: bytes past the file's end are zero, so that a file grows by zeros; `written_bytes` is
// the number of bytes in pages that were written, over all files.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "os/address_space.hh"

namespace uncore {

class Linux;
struct Task;
struct Inode;
class FileLock;
using InodeRef = std::shared_ptr<Inode>;

class FileData {
 public:
  static constexpr uint64_t kPage = AddressSpace::kPage,
                            kMaxFileBytes = uint64_t{1} << 46;  // bytes

  // `written_bytes` is the count of bytes in written pages that all files share.
  FileData(std::string_view given, std::shared_ptr<uint64_t> written_bytes)
      : given_(given), size_(given.size()), written_bytes_(std::move(written_bytes)) {}
  ~FileData() { *written_bytes_ -= pages_.size() * kPage; }
  FileData(const FileData&) = delete;
  FileData& operator=(const FileData&) = delete;

  uint64_t size() const { return size_; }
  bool is_changed() const { return changed_; }
  // Return the first offset, from `offset` on, in a page with data (next_data) or in a page without
  // data (next_hole). If there is none, they return the file's size.
  uint64_t next_data(uint64_t offset) const;
  uint64_t next_hole(uint64_t offset) const;
  // Reads up to the end of the file or of `to`. Returns the number of bytes read.
  std::size_t read(uint64_t offset, std::span<uint8_t> to) const;
  void write(uint64_t offset, std::span<const uint8_t> from);
  void resize(uint64_t size);
  // Makes bytes zero, without a change of the size.
  void clear(uint64_t begin, uint64_t end);

 private:
  using Page = std::array<uint8_t, kPage>;

  Page& page(uint64_t number);
  bool holds(uint64_t number) const {
    return number * kPage < given_.size() || pages_.contains(number);
  }

  std::string_view given_;  // the contents that the user gave, up to the smallest size since
  uint64_t size_;
  std::map<uint64_t, Page> pages_;  // number -> page, for pages that were written
  const std::shared_ptr<uint64_t> written_bytes_;
  bool changed_ = false;
};

// What can no longer be done to a file (F_ADD_SEALS of fcntl).
enum Seal : uint32_t {
  kSealSeals = 1,
  kSealShrinking = 2,
  kSealGrowing = 4,
  kSealWriting = 8,
  kSealNewWriting = 16,  // F_SEAL_FUTURE_WRITE: mappings that are there may still be written
  kSealExecution = 32,
};

struct Inode : std::enable_shared_from_this<Inode> {
  enum class Kind : uint8_t { file, directory, link, device, generated, socket };
  using Make = std::string (*)(const Linux&, const Task&);

  Inode(Kind of, uint32_t rights, uint64_t ino, const std::shared_ptr<uint64_t>& written_bytes,
        std::string_view given = {})
      : kind(of), mode(rights), number(ino), data(given, written_bytes) {}
  ~Inode();  // iterative, because directories may nest deeply
  Inode(const Inode&) = delete;
  Inode& operator=(const Inode&) = delete;

  bool is_directory() const { return kind == Kind::directory; }
  // True if no directory entry refers to the node any more. No file can be created in such a
  // directory.
  bool is_removed() const { return links == 0; }

  const Kind kind;
  uint32_t mode;          // the lower twelve bits of st_mode
  const uint64_t number;  // st_ino
  bool sealed = false;    // read-only, because it is part of /proc or /sys
  FileData data;
  std::map<std::string, InodeRef, std::less<>> entries;  // directory: name -> node
  std::weak_ptr<Inode> parent;                           // directory: empty if it has no name
  std::string target;                                    // symbolic link: the path it names
  Make make = nullptr;                                   // generated file: makes the contents
  uint32_t device = 0;                                   // device: its minor number
  uint32_t links = 1;
  std::shared_ptr<FileLock> lock;  // null until flock is first called
  uint32_t seals = kSealSeals;     // Seal: bits
};

}  // namespace uncore

#include "os/inode.hh"

#include <algorithm>
#include <vector>

namespace uncore {

std::size_t FileData::read(uint64_t offset, std::span<uint8_t> to) const {
  if (offset >= size_) return 0;
  const std::size_t size = std::min<uint64_t>(to.size(), size_ - offset);
  for (std::size_t num_read = 0; num_read < size;) {
    const uint64_t from = offset + num_read, in_page = from % kPage;
    const std::size_t part = std::min<uint64_t>(size - num_read, kPage - in_page);
    uint8_t* const into = to.data() + num_read;
    if (const auto page = pages_.find(from / kPage); page != pages_.end()) {
      std::copy_n(page->second.begin() + static_cast<std::ptrdiff_t>(in_page), part, into);
    } else {
      const std::string_view initial = given_.substr(std::min<uint64_t>(from, given_.size()), part);
      std::fill(std::copy(initial.begin(), initial.end(), into), into + part, uint8_t{0});
    }
    num_read += part;
  }
  return size;
}

FileData::Page& FileData::page(uint64_t number) {
  const auto [at, made] = pages_.try_emplace(number);
  if (made) {
    const std::string_view initial =
        given_.substr(std::min<uint64_t>(number * kPage, given_.size()), kPage);
    std::fill(std::copy(initial.begin(), initial.end(), at->second.begin()), at->second.end(),
              uint8_t{0});
    *written_bytes_ += kPage;
  }
  return at->second;
}

void FileData::write(uint64_t offset, std::span<const uint8_t> from) {
  for (std::size_t num_written = 0; num_written < from.size();) {
    const uint64_t to = offset + num_written, in_page = to % kPage;
    const std::size_t part = std::min<uint64_t>(from.size() - num_written, kPage - in_page);
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(num_written), part,
                page(to / kPage).begin() + static_cast<std::ptrdiff_t>(in_page));
    num_written += part;
  }
  if (!from.empty()) size_ = std::max<uint64_t>(size_, offset + from.size()), changed_ = true;
}

uint64_t FileData::next_data(uint64_t offset) const {
  if (holds(offset / kPage)) return offset;
  const auto next = pages_.lower_bound(offset / kPage);
  return next == pages_.end() ? size_ : std::min(next->first * kPage, size_);
}

uint64_t FileData::next_hole(uint64_t offset) const {
  if (!holds(offset / kPage)) return offset;
  uint64_t page = std::max(offset / kPage, (given_.size() + kPage - 1) / kPage);
  for (auto next = pages_.lower_bound(page); next != pages_.end() && next->first == page; ++next)
    ++page;
  return std::min(page * kPage, size_);
}

void FileData::resize(uint64_t size) {
  if (size < size_) {
    given_ = given_.substr(0, std::min<uint64_t>(size, given_.size()));
    const auto cut = pages_.lower_bound((size + kPage - 1) / kPage);
    *written_bytes_ -= static_cast<uint64_t>(std::distance(cut, pages_.end())) * kPage;
    pages_.erase(cut, pages_.end());
    if (const auto last = pages_.find(size / kPage); last != pages_.end())
      std::fill(last->second.begin() + static_cast<std::ptrdiff_t>(size % kPage),
                last->second.end(), uint8_t{0});
  }
  changed_ |= size != size_;
  size_ = size;
}

// Pages that the user gave are written, others forgotten.
void FileData::clear(uint64_t begin, uint64_t end) {
  static constexpr Page kZeros{};
  end = std::min(end, size_);
  for (uint64_t at = begin; at < end;) {
    const uint64_t number = at / kPage, next = std::min(end, (number + 1) * kPage);
    const bool is_whole = at % kPage == 0 && (next % kPage == 0 || next == size_);
    if (is_whole && number * kPage >= given_.size()) {
      *written_bytes_ -= pages_.erase(number) * kPage;
    } else if (holds(number)) {
      write(at, {kZeros.data(), static_cast<std::size_t>(next - at)});
    }
    at = next;
    if (!holds(at / kPage)) at = std::max(at, std::min(next_data(at), end));
  }
  changed_ |= begin < end;
}

Inode::~Inode() {
  std::vector<InodeRef> unvisited;
  const auto take = [&](Inode& node) {
    for (auto& [name, inner] : node.entries) unvisited.push_back(std::move(inner));
    node.entries.clear();
  };
  for (take(*this); !unvisited.empty();) {
    const InodeRef inode = std::move(unvisited.back());
    unvisited.pop_back();
    if (inode.use_count() == 1) take(*inode);
  }
}

}  // namespace uncore

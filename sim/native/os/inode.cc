#include "os/inode.hh"

#include <algorithm>
#include <vector>

namespace uncore {

std::size_t FileData::read(uint64_t at, std::span<uint8_t> to) const {
  if (at >= size_) return 0;
  const std::size_t whole = std::min<uint64_t>(to.size(), size_ - at);
  for (std::size_t done = 0; done < whole;) {
    const uint64_t from = at + done, offset = from % kPage;
    const std::size_t part = std::min<uint64_t>(whole - done, kPage - offset);
    uint8_t* const into = to.data() + done;
    if (const auto page = pages_.find(from / kPage); page != pages_.end()) {
      std::copy_n(page->second.begin() + static_cast<std::ptrdiff_t>(offset), part, into);
    } else {
      const std::string_view given = given_.substr(std::min<uint64_t>(from, given_.size()), part);
      std::fill(std::copy(given.begin(), given.end(), into), into + part, uint8_t{0});
    }
    done += part;
  }
  return whole;
}

FileData::Page& FileData::page(uint64_t number) {
  const auto [at, made] = pages_.try_emplace(number);
  if (made) {
    const std::string_view given =
        given_.substr(std::min<uint64_t>(number * kPage, given_.size()), kPage);
    std::fill(std::copy(given.begin(), given.end(), at->second.begin()), at->second.end(),
              uint8_t{0});
    *kept_ += kPage;
  }
  return at->second;
}

void FileData::write(uint64_t at, std::span<const uint8_t> from) {
  for (std::size_t done = 0; done < from.size();) {
    const uint64_t to = at + done, offset = to % kPage;
    const std::size_t part = std::min<uint64_t>(from.size() - done, kPage - offset);
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(done), part,
                page(to / kPage).begin() + static_cast<std::ptrdiff_t>(offset));
    done += part;
  }
  if (!from.empty()) size_ = std::max<uint64_t>(size_, at + from.size()), changed_ = true;
}

uint64_t FileData::next_data(uint64_t at) const {
  if (holds(at / kPage)) return at;
  const auto next = pages_.lower_bound(at / kPage);
  return next == pages_.end() ? size_ : std::min(next->first * kPage, size_);
}

uint64_t FileData::next_hole(uint64_t at) const {
  if (!holds(at / kPage)) return at;
  uint64_t page = std::max(at / kPage, (given_.size() + kPage - 1) / kPage);
  for (auto next = pages_.lower_bound(page); next != pages_.end() && next->first == page; ++next)
    ++page;
  return std::min(page * kPage, size_);
}

void FileData::resize(uint64_t size) {
  if (size < size_) {
    given_ = given_.substr(0, std::min<uint64_t>(size, given_.size()));
    const auto cut = pages_.lower_bound((size + kPage - 1) / kPage);
    *kept_ -= static_cast<uint64_t>(std::distance(cut, pages_.end())) * kPage;
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
      *kept_ -= pages_.erase(number) * kPage;
    } else if (holds(number)) {
      write(at, {kZeros.data(), static_cast<std::size_t>(next - at)});
    }
    at = next;
    if (!holds(at / kPage)) at = std::max(at, std::min(next_data(at), end));
  }
  changed_ |= begin < end;
}

Inode::~Inode() {
  std::vector<InodeRef> left;
  const auto take = [&](Inode& node) {
    for (auto& [name, inner] : node.entries) left.push_back(std::move(inner));
    node.entries.clear();
  };
  for (take(*this); !left.empty();) {
    const InodeRef last = std::move(left.back());
    left.pop_back();
    if (last.use_count() == 1) take(*last);
  }
}

}  // namespace uncore

#include "os/address_space.hh"

#include <algorithm>
#include <vector>

namespace uncore {

std::optional<AddressSpace::Area> AddressSpace::area_at(uint64_t address) const {
  auto after = areas_.upper_bound(address);
  if (after == areas_.begin()) return std::nullopt;
  const Area& area = std::prev(after)->second;
  return address < area.end ? std::optional(area) : std::nullopt;
}

bool AddressSpace::is_free(uint64_t begin, uint64_t end) const {
  if (area_at(begin)) return false;
  const auto next = areas_.lower_bound(begin);
  return next == areas_.end() || next->first >= end;
}

uint64_t AddressSpace::mapped_until(uint64_t begin, uint64_t end) const {
  while (begin < end) {
    const auto area = area_at(begin);
    if (!area) return begin;
    begin = area->end;
  }
  return end;
}

bool AddressSpace::is_uniform(uint64_t begin, uint64_t end) const {
  const auto first = area_at(begin);
  while (first && begin < end) {
    const auto area = area_at(begin);
    if (!area || area->rights != first->rights || area->shared != first->shared) return false;
    if (area->file != first->file || area->private_file != first->private_file) return false;
    if ((area->file || area->private_file) && area->base != first->base) return false;
    begin = area->end;
  }
  return first.has_value();
}

uint64_t AddressSpace::find_room(uint64_t size) {
  for (uint64_t from : {next_, kFirst}) {
    for (uint64_t begin = from; begin + size <= kEnd;) {
      if (is_free(begin, begin + size)) {
        next_ = begin + size;
        return begin;
      }
      const auto area = area_at(begin);
      begin = area ? area->end : areas_.lower_bound(begin)->second.end;
    }
  }
  return 0;
}

// Splits the area that contains `address`, if there is one, so that an area begins at `address`.
void AddressSpace::split_at(uint64_t address) {
  auto after = areas_.upper_bound(address);
  if (after == areas_.begin()) return;
  const auto before = std::prev(after);
  if (before->first == address || before->second.end <= address) return;
  areas_[address] = before->second;
  before->second.end = address;
}

void AddressSpace::unmap(uint64_t begin, uint64_t end, bool replaced) {
  split_at(begin);
  split_at(end);
  for (auto area = areas_.lower_bound(begin); area != areas_.end() && area->first < end;) {
    if (!replaced && area->second.map_count > 1)
      --area->second.map_count, ++area;
    else
      area = areas_.erase(area);
  }
}

void AddressSpace::map(uint64_t begin, const Area& area) {
  unmap(begin, area.end, true);
  areas_[begin] = area;
}

bool AddressSpace::share(uint64_t begin, const Area& area) {
  split_at(begin);
  split_at(area.end);
  const auto within = [&](auto at) { return at != areas_.end() && at->first < area.end; };
  for (auto at = areas_.lower_bound(begin); within(at); ++at)
    if (at->second.file != area.file || at->second.base != area.base) return false;
  for (uint64_t from = begin; from < area.end;) {
    const auto next = areas_.lower_bound(from);
    if (within(next) && next->first == from) {
      ++next->second.map_count;
      next->second.rights |= area.rights;
      from = next->second.end;
    } else {
      Area part = area;
      part.end = within(next) ? next->first : area.end;
      areas_[from] = part;
      from = part.end;
    }
  }
  return true;
}

std::optional<uint64_t> AddressSpace::base_of(const std::shared_ptr<Inode>& file) const {
  const auto found =
      std::ranges::find_if(areas_, [&](const auto& area) { return area.second.file == file; });
  return found == areas_.end() ? std::nullopt : std::optional(found->second.base);
}

void AddressSpace::protect(uint64_t begin, uint64_t end, unsigned rights) {
  split_at(begin);
  split_at(end);
  for (auto area = areas_.lower_bound(begin); area != areas_.end() && area->first < end; ++area)
    area->second.rights = rights;
}

std::vector<uint64_t> AddressSpace::touched_pages(uint64_t begin, uint64_t end) const {
  std::vector<uint64_t> touched_here;
  const auto add = [&](uint64_t page) {
    if (page * kPage - begin < end - begin) touched_here.push_back(page * kPage);
  };
  if (end - begin < touched_bytes()) {
    for (uint64_t page = begin / kPage; page < end / kPage; ++page)
      if (pages_.contains(page) || hidden_.contains(page)) add(page);
  } else {
    std::ranges::for_each(pages_, add);
    std::ranges::for_each(hidden_, add);
  }
  std::ranges::sort(touched_here);
  return touched_here;
}

}  // namespace uncore

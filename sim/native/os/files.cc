#include "os/files.hh"

#include <algorithm>

namespace uncore {
namespace {

constexpr std::size_t kMostOpen = 1024;  // as RLIMIT_NOFILE says

}  // namespace

Files::Files(const std::vector<FileSpec>& files) {
  nodes_["/"].directory = true;
  for (const FileSpec& file : files) {
    const std::string path(file.path.begin(), file.path.end());
    for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
         slash = path.find('/', slash + 1))
      nodes_[path.substr(0, slash)].directory = true;
    const auto* const begin = reinterpret_cast<const char*>(file.data.data());
    nodes_[path].data = {begin, file.data.size()};
  }
  uint64_t number = 0;
  for (auto& [path, node] : nodes_) node.number = ++number;
  for (unsigned stream = 0; stream < 3; ++stream) open({Open::Kind::console, {}, 0, stream});
}

std::string Files::absolute(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!part.empty() && part != "." && part != "..") parts.push_back(part);
    at = end + 1;
  }
  std::string whole;
  for (const std::string_view part : parts) (whole += '/') += part;
  return whole.empty() ? "/" : whole;
}

const Files::Node* Files::find(std::string_view path) const {
  const auto found = nodes_.find(absolute(path));
  return found == nodes_.end() ? nullptr : &found->second;
}

std::vector<std::string> Files::entries(std::string_view path) const {
  std::string head = absolute(path);
  if (head != "/") head += '/';
  std::vector<std::string> names = {".", ".."};
  for (auto at = nodes_.upper_bound(head); at != nodes_.end() && at->first.starts_with(head); ++at)
    if (at->first.find('/', head.size()) == std::string::npos)
      names.push_back(at->first.substr(head.size()));
  return names;
}

Files::Open* Files::at(uint64_t descriptor) {
  if (descriptor >= descriptors_.size() || !descriptors_[descriptor]) return nullptr;
  return &*descriptors_[descriptor];
}

int64_t Files::open(Open what) {
  auto place = std::ranges::find_if(descriptors_, [](const auto& open) { return !open; });
  if (place == descriptors_.end()) {
    if (descriptors_.size() >= kMostOpen) return -1;
    descriptors_.emplace_back();
    place = descriptors_.end() - 1;
  }
  *place = std::move(what);
  return place - descriptors_.begin();
}

bool Files::close(uint64_t descriptor) {
  if (!at(descriptor)) return false;
  descriptors_[descriptor].reset();
  return true;
}

}  // namespace uncore

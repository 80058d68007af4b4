#include "os/file_tree.hh"

#include <algorithm>

namespace uncore {

FileTree::FileTree(const std::vector<FileSpec>& files) {
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
  for (auto& [path, node] : nodes_) node.path = path, node.number = ++number;
}

std::string FileTree::absolute(std::string_view path) {
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

const FileTree::Node* FileTree::find(std::string_view path) const {
  const auto node = nodes_.find(absolute(path));
  return node == nodes_.end() ? nullptr : &node->second;
}

std::vector<std::string> FileTree::entries(const Node& directory) const {
  std::string head(directory.path);
  if (head != "/") head += '/';
  std::vector<std::string> names = {".", ".."};
  for (auto at = nodes_.upper_bound(head); at != nodes_.end() && at->first.starts_with(head); ++at)
    if (at->first.find('/', head.size()) == std::string::npos)
      names.push_back(at->first.substr(head.size()));
  return names;
}

}  // namespace uncore

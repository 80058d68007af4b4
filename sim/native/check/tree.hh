// The machine that the checker examines: a tree of cores, joins and a root, without time or
// distance.
//
//   Tree({{2, 1}, {2}}, {join, root}, {false, true}, 2)     joins of 2 and 1 cores under a root
//
// Agents are numbered cores first, then resolvers level by level; the root is the last one.
// Invariant: the children of a resolver have consecutive numbers, in order.
#pragma once

#include <numeric>
#include <stdexcept>
#include <vector>

#include "coherence/resolver.hh"

namespace uncore::check {

struct Node {
  Policy policy;
  bool recalls =
      false;  // the node has a limited number of entries, so it may recall a line at any time
  int level = 0;
  Agent parent = kNobody;
  Agent first = 0;  // the number of its first child
  int children = 0;

  // Returns whether the node's behaviour depends on the order of its children (R11.2, R11.3).
  bool ordered() const { return policy.evicts || policy.region < children; }
};

struct Tree {
  int cores = 0;
  std::vector<Node> nodes;
  std::vector<Agent> parents;  // the parent of every agent
  // An agent with this many Unblocks under way begins no new transaction. The limit keeps the
  // number of states finite: messages may be delayed for ever, so without it an agent could read,
  // drop its copy silently and read again without end.
  int max_unblocks;
  bool has_far_atomics;  // cores may send far atomics
  bool far_owned;        // cores send them even for a line that they hold exclusively (C8.9)

  // `levels` has for each level, from the cores up, the number of children of each resolver.
  // `policies` and `recalls` have for each level the policy of its resolvers, and whether they may
  // recall lines.
  Tree(const std::vector<std::vector<int>>& levels, const std::vector<Policy>& policies,
       const std::vector<bool>& recalls, int max_unblocks, bool far_atomics, bool far_owned)
      : max_unblocks(max_unblocks), has_far_atomics(far_atomics), far_owned(far_owned) {
    if (levels.empty() || levels.size() != policies.size() || levels.size() != recalls.size() ||
        levels.back().size() != 1)
      throw std::invalid_argument("tree: one policy a level, and one resolver at the last");
    cores = std::accumulate(levels[0].begin(), levels[0].end(), 0);
    parents.resize(static_cast<std::size_t>(cores), kNobody);
    Agent first = 0;
    for (std::size_t level = 0; level < levels.size(); ++level) {
      for (const int children : levels[level]) {
        Node node{policies[level], recalls[level], static_cast<int>(level),
                  kNobody,         first,          children};
        node.policy.root = level + 1 == levels.size();
        for (int c = 0; c < children; ++c) adopt(first++);
        nodes.push_back(node);
        parents.push_back(kNobody);
      }
    }
    if (first + 1 != agents()) throw std::invalid_argument("tree: a level counts other children");
    for (std::size_t a = static_cast<std::size_t>(cores); a < parents.size(); ++a)
      nodes[a - static_cast<std::size_t>(cores)].parent = parents[a];
  }

  int agents() const { return cores + static_cast<int>(nodes.size()); }
  bool is_core(Agent a) const { return a < cores; }
  const Node& node(Agent a) const { return nodes[static_cast<std::size_t>(a - cores)]; }
  Agent parent(Agent a) const { return parents[static_cast<std::size_t>(a)]; }
  int ordinal(Agent a) const { return a - node(parent(a)).first; }

 private:
  void adopt(Agent child) {
    if (child >= static_cast<Agent>(parents.size()))
      throw std::invalid_argument("tree: a level counts other children");
    parents[static_cast<std::size_t>(child)] = cores + static_cast<Agent>(nodes.size());
  }
};

}  // namespace uncore::check

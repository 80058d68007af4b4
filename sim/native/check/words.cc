// Finds the automorphisms of a tree.
#include "check/words.hh"

namespace uncore::check {

// Tries every permutation of the cores. A permutation is an automorphism if the children of one
// resolver remain children of one resolver, and keep their order if that resolver's behaviour
// depends on it (R11.2, R11.3). It then determines the renaming of the resolvers, too.
std::vector<Renaming> renamings(const Tree& tree) {
  std::vector<Agent> order(static_cast<std::size_t>(tree.cores));
  std::iota(order.begin(), order.end(), 0);
  std::vector<Renaming> all;
  do {
    std::vector<Agent> to(static_cast<std::size_t>(tree.agents()), kNobody);
    std::copy(order.begin(), order.end(), to.begin());
    bool fits = true;
    for (Agent a = 0; a + 1 < tree.agents(); ++a) {
      Agent& parent = to[static_cast<std::size_t>(tree.parent(a))];
      const Agent image = tree.parent(to[static_cast<std::size_t>(a)]);
      fits = fits && (parent == kNobody || parent == image) &&
             tree.node(tree.parent(a)).children == tree.node(image).children &&
             (!tree.node(image).ordered() ||
              tree.ordinal(a) == tree.ordinal(to[static_cast<std::size_t>(a)]));
      parent = image;
    }
    if (fits) all.emplace_back(tree, to);
  } while (std::next_permutation(order.begin(), order.end()));
  return all;
}

}  // namespace uncore::check

// The items in one set of a cache, with LRU replacement.
//
// Each item knows the time of its last use, and the set has a copy of that time, which is too early
// once the item has been used again. To find the oldest item, the set repeatedly reads the real
// time of the item with the earliest copied time. So it reads one or two items instead of all; each
// read may be a cache miss of the host.
//
// Interface: add, remove, size, oldest, any; `Item::last_use()` is comparable. Invariant: a copied
// time is never later than the item's real one.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

namespace uncore {

template <class Item>
class Ways {
 public:
  std::size_t size() const { return ways_.size(); }
  void add(Item& item) { ways_.push_back({&item, item.last_use()}); }
  void remove(const Item& item) {
    *find(item) = ways_.back();
    ways_.pop_back();
  }
  // Returns the least recently used item for which `may_go` is true, or null.
  template <class MayGo>
  Item* oldest(MayGo may_go) {
    for (const Way* stays = nullptr;;) {
      Way* least = nullptr;
      for (Way& way : ways_)
        if ((!stays || stays->before(way)) && (!least || way.before(*least))) least = &way;
      if (!least) return nullptr;
      const auto used = least->item->last_use();
      assert(!(used < least->used));
      if (least->used < used)
        least->used = used;
      else if (may_go(*least->item))
        return least->item;
      else
        stays = least;
    }
  }
  template <class F>
  bool any(F f) const {
    return std::ranges::any_of(ways_, [&](const Way& way) { return f(*way.item); });
  }

 private:
  struct Way {
    Item* item;
    decltype(item->last_use()) used;
    // Orders ways by last use, and ways used at the same time by their position in the set.
    bool before(const Way& o) const { return used == o.used ? this < &o : used < o.used; }
  };
  auto find(const Item& item) { return std::ranges::find(ways_, &item, &Way::item); }

  std::vector<Way> ways_;
};

}  // namespace uncore

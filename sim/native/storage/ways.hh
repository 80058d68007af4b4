// The items in one set of a cache, with LRU replacement.
//
// Each item says when it was used last, and the set remembers beside it what it said some time ago.
// Uses only become later, so a remembered time is at most too early. So the oldest item is found by
// asking, repeatedly, the one that seems the oldest: one or two items instead of all. Each item is
// in memory of its own, which the host may have to fetch.
//
// Interface: add, remove, size, oldest, any; `Item::last_use()` is comparable. Invariant: when the
// oldest is asked for, no remembered time is later than what its item says.
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
  // Returns the least recently used item that `may_go`, or null.
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
    // Orders by last use; items that were used at the same time, by their place in the set.
    bool before(const Way& o) const { return used == o.used ? this < &o : used < o.used; }
  };
  auto find(const Item& item) { return std::ranges::find(ways_, &item, &Way::item); }

  std::vector<Way> ways_;
};

}  // namespace uncore

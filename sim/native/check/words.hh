// Packs fields into 64-bit words, with agents renamed, and unpacks them. pack.hh uses it to pack a
// whole system.
//
//   Writer out(words, renaming);  out.bits(value, width); out.agent(a); ...  out.flush();
//   Reader in(words.data());      in.bits(value, width);  in.agent(a); ...
//
// A Reader must read the fields in the order in which a Writer has written them.
#pragma once

#include <algorithm>
#include <vector>

#include "check/inline.hh"
#include "check/system.hh"
#include "check/tree.hh"

namespace uncore::check {

using Words = std::vector<uint64_t>;

// A renaming of agents that maps the tree onto itself (an automorphism).
class Renaming {
 public:
  Renaming(const Tree& tree, std::vector<Agent> to) : tree_(tree), to_(std::move(to)) {}
  Agent agent(Agent a) const { return a == kNobody ? kNobody : to_[static_cast<std::size_t>(a)]; }
  int ordinal(Agent resolver, int child) const {
    if (child == kNobody) return kNobody;
    return tree_.ordinal(agent(tree_.node(resolver).first + child));
  }
  Agent origin(Agent a) const {
    return static_cast<Agent>(std::find(to_.begin(), to_.end(), a) - to_.begin());
  }

 private:
  const Tree& tree_;
  std::vector<Agent> to_;
};

// Returns all renamings of a tree; the first is the identity.
std::vector<Renaming> renamings(const Tree& tree);

// Packs fields into words, with agents renamed.
class Writer {
 public:
  Writer(Words& out, const Renaming& r) : out_(out), renaming_(r) {}
  void bits(const auto& value, unsigned width) {
    const auto v = static_cast<uint64_t>(value);
    if (v >> width != 0) throw Violation{"a count is out of range"};
    if (used_ + width > 64) flush();
    word_ |= v << used_;
    used_ += width;
  }
  void agent(Agent a) { bits(renaming_.agent(a) + 1, 4); }
  void child(Agent resolver, int ordinal) { bits(renaming_.ordinal(resolver, ordinal) + 1, 3); }
  void set(Agent resolver, const SmallSet& set) {
    uint64_t renamed = 0;
    set.each([&](int c) { renamed |= 1u << renaming_.ordinal(resolver, c); });
    bits(renamed, 4);
  }
  void flush() {
    if (used_ > 0) out_.push_back(word_);
    word_ = used_ = 0;
  }

 private:
  Words& out_;
  const Renaming& renaming_;
  uint64_t word_ = 0, used_ = 0;
};

// Unpacks fields from words.
class Reader {
 public:
  explicit Reader(const uint64_t* from) : next_(from) {}
  template <class T>
  void bits(T& value, unsigned width) {
    if (free_bits_ < width) {
      word_ = *next_++;
      free_bits_ = 64;
    }
    value = static_cast<T>(word_ & ((uint64_t{1} << width) - 1));
    word_ >>= width;
    free_bits_ -= width;
  }
  void agent(Agent& a) { bits(a, 4), --a; }
  void child(Agent, int& ordinal) { bits(ordinal, 3), --ordinal; }
  void set(Agent, SmallSet& set) {
    uint32_t in = 0;
    bits(in, 4);
    set.clear();
    for (int c = 0; c < 4; ++c)
      if (in >> c & 1) set.add(c);
  }
  void flush() { free_bits_ = 0; }

 private:
  const uint64_t* next_;
  uint64_t word_ = 0;
  unsigned free_bits_ = 0;
};

}  // namespace uncore::check

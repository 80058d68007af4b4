// Two lines in one machine whose cores have room for one line only, so that a miss must wait until
// the other line has been evicted.
//
//   TwoLines machine(tree, protocol);    steps, take and quiet are like those of System
//   TwoLinesPacker                       like Packer; exchanging the two lines gives equal words
//
// Resolvers handle each line independently; lines interact only at a core. A core has one access at
// a time. Before it requests a line it evicts the other one, whose writeback may still be under way
// when the request is sent. So evictions of one line overlap with probes and grants of the other
// line in every order.
#pragma once

#include <array>

#include "check/pack.hh"

namespace uncore::check {

template <class System>
class TwoLines {
 public:
  TwoLines(const Tree& tree, const RecordingProtocol& protocol)
      : lines{System(tree, protocol), System(tree, protocol)} {}

  std::array<System, 2> lines;

  bool quiet() const { return lines[0].quiet() && lines[1].quiet(); }

  void steps(std::vector<Step>& out) const {
    out.clear();
    for (int line = 0; line < 2; ++line) {
      lines[line].steps(of_line_);
      for (Step s : of_line_) {
        if (!has_room(line, s)) continue;
        s.line = line;
        out.push_back(s);
      }
    }
  }

  void take(const Step& s) { lines[s.line].take(s); }

  std::string describe(const Step& s) const {
    return std::string(s.line ? "B: " : "A: ") + lines[s.line].describe(s);
  }

 private:
  // Returns whether the core has room for the line of this step. An access that misses needs the
  // core's only way.
  bool has_room(int line, const Step& s) const {
    if (s.what != Step::What::load && s.what != Step::What::store) return true;
    const StateProperties& states = *lines[line].protocol;
    const State other = lines[1 - line].core(s.index).copy.state;
    if (states.waits_for_grant(other)) return false;
    const bool misses = lines[line].core(s.index).copy.state == State::I;
    return !misses || !states.may_evict(other);
  }

  mutable std::vector<Step> of_line_;
};

template <class System>
std::string rights(const TwoLines<System>& machine) {
  return "A: " + rights(machine.lines[0]) + "  B: " + rights(machine.lines[1]);
}

template <class System>
std::vector<std::string> under_way(const TwoLines<System>& machine) {
  std::vector<std::string> out;
  for (int line = 0; line < 2; ++line)
    for (const std::string& text : under_way(machine.lines[line]))
      out.push_back((line ? "B: " : "A: ") + text);
  return out;
}

// Packs a state as the number of words of the first line, followed by the words of both lines.
template <class System>
class TwoLinesPacker {
 public:
  using Machine = TwoLines<System>;

  TwoLinesPacker(const Tree& t, const RecordingProtocol& p) : packer_(t, p) {}

  void pack(Machine& normal, Words& out) {
    for (System& line : normal.lines) packer_.normalise(line);
    out.clear();
    for (const Renaming& r : packer_.renamings()) {
      for (std::size_t line = 0; line < 2; ++line)
        packer_.write(normal.lines[line], r, parts_[line]);
      if (parts_[1] < parts_[0]) parts_[0].swap(parts_[1]);
      both_lines_.assign(1, parts_[0].size());
      for (const Words& part : parts_)
        both_lines_.insert(both_lines_.end(), part.begin(), part.end());
      if (out.empty() || both_lines_ < out) out.swap(both_lines_);
    }
  }

  void unpack(const uint64_t* words, Machine& machine) {
    packer_.unpack(words + 1, machine.lines[0]);
    packer_.unpack(words + 1 + words[0], machine.lines[1]);
  }

 private:
  Packer<System> packer_;
  std::array<Words, 2> parts_;
  Words both_lines_;
};

}  // namespace uncore::check

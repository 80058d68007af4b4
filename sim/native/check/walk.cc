// A breadth-first search, so that a counterexample is as short as possible.
#include "check/walk.hh"

#include <algorithm>

#include "check/pack.hh"
#include "check/two_lines.hh"
#include "check/visited.hh"

namespace uncore::check {
namespace {

struct SmallSize {
  static constexpr int cores = 4, nodes = 4, messages = 24, words = 1;
};
using Small = System<SmallSize>;
using Number = VisitedStates::Number;

// Walks the states of a `Machine` (a System or TwoLines); `Pack` converts it to words and back.
template <class Machine, class Pack>
class Walker {
 public:
  Walker(const Protocol& p, const Tree& t, const Limits& l)
      : protocol_(p), tree_(t), limits_(l), packer_(t, protocol_), system_(t, protocol_) {}

  Walk run(const std::function<bool(uint64_t)>& tick) {
    Machine start(tree_, protocol_);
    packer_.pack(start, words_);
    states_.insert(words_);
    parents_.push_back(0);
    std::size_t level_end = 1;
    for (Number n = 0; n < states_.size() && result_.violation.empty(); ++n) {
      if (n == level_end) {
        ++result_.depth;
        level_end = states_.size();
      }
      const bool enough = states_.size() > limits_.states || result_.depth >= limits_.depth;
      if (enough || ((n & 0xfff) == 0 && !tick(states_.size()))) {
        result_.complete = false;
        break;
      }
      expand(n);
    }
    result_.states = states_.size();
    if (result_.violation.empty()) find_stuck();
    result_.reached = protocol_.cells();
    return std::move(result_);
  }

 private:
  void expand(Number n) {
    packer_.unpack(states_.words(n), system_);
    quiet_.push_back(system_.quiet());
    system_.steps(steps_);
    for (const Step& s : steps_) {
      Machine next = system_;
      std::string error = attempt(next, s);
      if (!error.empty()) return violated(n, std::move(error));
      ++result_.transitions;
      const auto [to, is_new] = states_.insert(words_);
      if (is_new) parents_.push_back(n);
      if (s.progress()) edges_.emplace_back(to, n);
    }
  }

  // Takes a step and packs the resulting state. Returns what is wrong, or an empty string.
  std::string attempt(Machine& system, const Step& s) {
    try {
      system.take(s);
      packer_.pack(system, words_);
      return {};
    } catch (const Violation& v) {
      return v.what;
    } catch (const ProtocolError& e) {
      return e.what;
    } catch (const std::length_error& e) {
      return e.what();
    }
  }

  // Reports a state from which the transactions under way cannot complete without new accesses. It
  // searches backwards from the quiet states: a state from which one of them can be reached is
  // good. States that were not expanded, because a limit was reached, count as good.
  void find_stuck() {
    std::vector<bool> can_complete(states_.size(), false);
    std::vector<Number> queue;
    for (Number n = 0; n < states_.size(); ++n) {
      can_complete[n] = n >= quiet_.size() || quiet_[n];
      if (can_complete[n]) queue.push_back(n);
    }
    std::sort(edges_.begin(), edges_.end());
    while (!queue.empty()) {
      const Number to = queue.back();
      queue.pop_back();
      auto edge = std::lower_bound(edges_.begin(), edges_.end(), std::pair(to, Number{0}));
      for (; edge != edges_.end() && edge->first == to; ++edge) {
        if (can_complete[edge->second]) continue;
        can_complete[edge->second] = true;
        queue.push_back(edge->second);
      }
    }
    const auto stuck =
        std::find(can_complete.begin(), can_complete.end(), false) - can_complete.begin();
    if (static_cast<std::size_t>(stuck) < can_complete.size())
      violated(static_cast<Number>(stuck), "the work under way can never come to rest");
  }

  // Reports the steps that lead to state n, and the step that fails there.
  void violated(Number n, std::string what) {
    result_.violation = std::move(what);
    std::vector<Number> path;
    for (Number state = n; state != 0; state = parents_[state]) path.push_back(state);
    Machine system(tree_, protocol_);
    for (auto to = path.rbegin(); to != path.rend(); ++to) follow(system, *to);
    system.steps(steps_);
    for (const Step& s : steps_) {
      Machine next = system;
      std::string error = attempt(next, s);
      if (error.empty()) continue;
      result_.violation = std::move(error);  // has the core numbers of the counterexample's steps
      return record_step(system, s, next);
    }
    for (const std::string& text : under_way(system)) result_.trace.push_back("under way: " + text);
  }

  // Takes the step that leads to state `to`, up to a renaming of cores.
  void follow(Machine& system, Number to) {
    system.steps(steps_);
    for (const Step& s : steps_) {
      Machine next = system;
      attempt(next, s);
      if (!std::equal(words_.begin(), words_.end(), states_.words(to))) continue;
      record_step(system, s, next);
      system = next;
      return;
    }
  }

  void record_step(const Machine& before, const Step& s, const Machine& after) {
    std::string text = before.describe(s);
    text.resize(std::max<std::size_t>(text.size() + 2, 44), ' ');
    result_.trace.push_back(text + rights(after));
  }

  RecordingProtocol protocol_;
  const Tree& tree_;
  Limits limits_;
  Pack packer_;
  Machine system_;
  VisitedStates states_;
  std::vector<Number> parents_;
  std::vector<bool> quiet_;  // index: state
  std::vector<std::pair<Number, Number>>
      edges_;  // pairs (to, from) of states, for steps that make progress
  std::vector<Step> steps_;
  Words words_;
  Walk result_;
};

}  // namespace

Walk walk(const Protocol& protocol, const Tree& tree, const Limits& limits,
          const std::function<bool(uint64_t)>& tick) {
  if (limits.lines == 1) return Walker<Small, Packer<Small>>(protocol, tree, limits).run(tick);
  return Walker<TwoLines<Small>, TwoLinesPacker<Small>>(protocol, tree, limits).run(tick);
}

}  // namespace uncore::check

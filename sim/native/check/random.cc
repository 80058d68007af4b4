// Draws steps at random. It does not list all possible steps first, because a machine of 16 cores
// has many.
#include "check/random.hh"

#include <random>

#include "check/system.hh"

namespace uncore::check {
namespace {

struct LargeSize {
  static constexpr int cores = 16, nodes = 21, messages = 400, words = 4;
};
using Large = System<LargeSize>;

class Tester {
 public:
  Tester(const Protocol& p, const Tree& tree, int lines, uint64_t seed)
      : protocol_(p),
        tree_(tree),
        lines_(static_cast<std::size_t>(lines), Large(tree, protocol_)),
        draw_(seed) {}

  // Logs the steps on one line, from the step with number `from` on.
  void log_from(std::size_t line, uint64_t from) {
    logged_ = line;
    log_from_ = from;
  }

  Trial run(uint64_t operations, const std::function<bool(uint64_t)>& tick) {
    try {
      while (trial_.operations < operations && tick(trial_.operations)) {
        for (int i = 0; i < kStepsBetweenDrains; ++i) step();
        drain();
        const uint64_t operations_before = trial_.operations;
        count();
        if (trial_.operations == operations_before)
          throw Violation{"no access is performed any more"};
      }
    } catch (const Violation& v) {
      trial_.violation = v.what;
    } catch (const ProtocolError& e) {
      trial_.violation = e.what;
    }
    trial_.reached = protocol_.cells();
    return trial_;
  }

  std::size_t last_line() const { return last_line_; }  // the line of the last step

 private:
  static constexpr int kStepsBetweenDrains = 20'000;  // steps between two calls of drain()
  static constexpr int kMaxDrainSteps = 100'000;      // a line whose drain takes more is livelocked

  // The order in which messages are delivered; it changes at random. starve: one agent gets no
  // messages.
  enum class Order { any, newest, oldest, starve };

  uint64_t below(uint64_t limit) { return draw_() % limit; }

  void step() {
    if (below(64) == 0) {
      order_ = static_cast<Order>(below(4));
      starved_ = static_cast<Agent>(below(static_cast<uint64_t>(tree_.agents())));
      busy_ = 1 + below(7);
    }
    last_line_ = below(lines_.size());
    Large& line = lines_[last_line_];
    if (below(8) >= busy_ || !advance_transactions(line)) begin(line);
  }

  void take(Large& line, const Step& s) {
    ++trial_.steps;
    if (last_line_ == logged_ && trial_.steps >= log_from_) {
      std::string text = line.describe(s);
      text.resize(std::max<std::size_t>(text.size() + 2, 44), ' ');
      trial_.trace.push_back(text + rights(line));
    }
    line.take(s);
  }

  // Takes one step that advances the transactions of the line. Returns false if no such step is
  // possible.
  bool advance_transactions(Large& line) {
    const int messages = line.messages.size();
    if (line.reading && below(static_cast<uint64_t>(messages) + 1) == 0)
      return take(line, {Step::What::memory}), true;
    if (messages == 0) return false;
    const auto first = static_cast<int>(below(static_cast<uint64_t>(messages)));
    for (int i = 0; i < messages; ++i) {
      const int index = order_ == Order::newest   ? messages - 1 - i
                        : order_ == Order::oldest ? i
                                                  : (first + i) % messages;
      const auto& message = line.messages[index];
      const bool starved = order_ == Order::starve && message.to == starved_;
      if (starved || !line.may_arrive(message)) continue;
      return take(line, {Step::What::deliver, index}), true;
    }
    return false;
  }

  // Begins an access by a random core, or, less often, an eviction by a resolver.
  void begin(Large& line) {
    if (below(16) == 0) return evict(line);
    const auto c = static_cast<Agent>(below(static_cast<uint64_t>(tree_.cores)));
    constexpr std::array weighted_choices = {
        Step::What::load,  Step::What::load,  Step::What::load, Step::What::store,
        Step::What::store, Step::What::evict, Step::What::amo,  Step::What::amo};
    const Step s{weighted_choices[below(weighted_choices.size() - (tree_.has_far_atomics ? 0 : 2))],
                 c, static_cast<int>(below(LargeSize::words))};
    if (line.may_begin(s)) take(line, s);
  }

  void evict(Large& line) {
    const auto nodes = static_cast<uint64_t>(tree_.agents() - tree_.cores);
    const Step s{below(2) == 0 ? Step::What::recall : Step::What::evict_data,
                 tree_.cores + static_cast<Agent>(below(nodes))};
    if (line.may_begin(s)) take(line, s);
  }

  // Lets all transactions complete without new accesses. Throws if they do not complete.
  void drain() {
    order_ = Order::any;
    for (last_line_ = 0; last_line_ < lines_.size(); ++last_line_) {
      Large& line = lines_[last_line_];
      for (int i = 0; !line.quiet(); ++i)
        if (i == kMaxDrainSteps || (!advance_transactions(line) && !line.reading))
          throw Violation{"the work under way never comes to rest"};
    }
  }

  void count() {
    trial_.operations = 0;
    for (const Large& line : lines_) trial_.operations += line.performed;
  }

  RecordingProtocol protocol_;
  const Tree& tree_;
  std::vector<Large> lines_;
  std::mt19937_64 draw_;
  Trial trial_;
  Order order_ = Order::any;
  Agent starved_ = 0;
  uint64_t busy_ = 4;  // share of steps, in eighths, that advance transactions
  std::size_t last_line_ = 0;
  std::size_t logged_ = ~std::size_t{0};
  uint64_t log_from_ = 0;
};

}  // namespace

Trial trial(const Protocol& protocol, const Tree& tree, int lines, uint64_t operations,
            uint64_t seed, const std::function<bool(uint64_t)>& tick) {
  // Only so many of the last steps are logged, on all lines.
  constexpr uint64_t kLoggedSteps = 2'000;
  Tester tester(protocol, tree, lines, seed);
  Trial result = tester.run(operations, tick);
  if (result.violation.empty()) return result;
  Tester repeated(protocol, tree, lines, seed);
  repeated.log_from(tester.last_line(),
                    result.steps > kLoggedSteps ? result.steps - kLoggedSteps : 0);
  return repeated.run(operations, [](uint64_t) { return true; });
}

}  // namespace uncore::check

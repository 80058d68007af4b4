// The engine for a web page: functions that the page calls, for one run at a time (docs/design.md,
// In the browser). The page passes specs as words in linear memory (web/spec_words.hh) and gets
// replies as JSON.
//
// Interface, in the order of its use: uncore_shapes; uncore_room, uncore_start; uncore_step until
// it returns 0; uncore_outcome, uncore_memory, uncore_trace, uncore_stop, uncore_link. A string
// that is returned ends with a NUL. An exception of the engine ends the module (web/ending.cc).
#include <optional>
#include <type_traits>
#include <vector>

#include "engine/counted.hh"
#include "engine/engine.hh"
#include "observe/columns.hh"
#include "web/json.hh"
#include "web/spec_words.hh"

#define FOR_PAGE(name) extern "C" __attribute__((export_name(#name)))

namespace uncore {
namespace {

std::optional<Engine> run;
std::vector<uint64_t> spec_words[2];  // the words of the machine spec, and of the job spec
Json reply;
std::vector<uint8_t> bytes;

template <class Row>
void write_columns(const std::vector<Row>& rows) {
  reply.object([&](auto put) {
    each_column(rows, [&](const char* name, auto field) {
      put(name, [&] {
        reply.list([&](auto column) {
          for (const Row& row : rows) {
            const auto value = field(row);
            if constexpr (std::is_same_v<std::remove_cv_t<decltype(value)>, Wide>)
              column(value);
            else
              column(static_cast<int64_t>(value));  // kNever is -1
          }
        });
      });
    });
  });
}

uint64_t instructions() {
  uint64_t sum = 0;
  for (const Thread* thread : run->threads) sum += thread->hart.instructions;
  return sum;
}

const char* reply_text() { return reply.text.c_str(); }

}  // namespace

// Returns {"machine": shape, "job": shape}, which describe the order of each spec's words.
FOR_PAGE(uncore_shapes) const char* uncore_shapes() {
  reply = {};
  reply.object([](auto put) {
    put("machine", [] { shape(reply, MachineSpec{}); });
    put("job", [] { shape(reply, JobSpec{}); });
  });
  return reply_text();
}

// Allocates `words` words for the spec of the machine (`which` = 0) or of the job (1), and returns
// their address.
FOR_PAGE(uncore_room) uint64_t* uncore_room(uint32_t which, uint32_t words) {
  spec_words[which].assign(words, 0);
  return spec_words[which].data();
}

FOR_PAGE(uncore_start) void uncore_start() {
  run.reset();
  run.emplace(from_words<MachineSpec>(spec_words[0].data()),
              from_words<JobSpec>(spec_words[1].data()));
}

// Runs at most `events` events, and about `span` ps of simulated time. Returns 0 when the run has
// ended.
FOR_PAGE(uncore_step) int uncore_step(uint32_t events, double span) {
  return run->step(events, static_cast<Time>(span));
}

FOR_PAGE(uncore_operations) double uncore_operations() {
  return static_cast<double>(run->services.operations());
}

FOR_PAGE(uncore_outcome) const char* uncore_outcome() {
  reply = {};
  reply.object([](auto put) {
    put("end", run->end.name());
    put("exit_code", run->end.code());
    put("reason", run->end.reason());
    put("console", run->services.console.text);
    put("now", run->queue.now());
    put("instructions", instructions());
    each_count(*run, kAllLines, put);
  });
  return reply_text();
}

// Returns `size` bytes at an address as a program would see them, even if a cache holds them dirty.
FOR_PAGE(uncore_memory) const uint8_t* uncore_memory(double address, uint32_t size) {
  bytes.assign(size, 0);
  run->functional.read(static_cast<uint64_t>(address), size, bytes.data());
  return bytes.data();
}

// Returns the tables of the trace and the transaction log.
FOR_PAGE(uncore_trace) const char* uncore_trace() {
  reply = {};
  reply.object([](auto put) {
    each_table(*run->trace, [&](const char* name, const auto& rows) {
      put(name, [&] { write_columns(rows); });
    });
    put("transactions", [] { write_columns(run->log->records()); });
  });
  return reply_text();
}

// Returns the stop at which an agent handles a line.
FOR_PAGE(uncore_stop) int32_t uncore_stop(uint32_t agent, double line) {
  return run->map.stop(agent, static_cast<uint64_t>(line));
}

// Returns the n-th link of the route of a message about a line.
FOR_PAGE(uncore_link) int32_t uncore_link(int32_t source, int32_t target, double line, uint32_t n) {
  const uint64_t ordinal = run->map.ordinal(static_cast<uint64_t>(line));
  return run->fabric.path(source, target, ordinal)[n];
}

}  // namespace uncore

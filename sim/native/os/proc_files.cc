#include "os/proc_files.hh"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "os/linux.hh"

namespace uncore::proc {
namespace {

constexpr uint64_t kUserTick = 10'000'000'000;  // ps; USER_HZ is 100
constexpr std::size_t kLongestComm = 15;        // TASK_COMM_LEN, without its zero
constexpr unsigned kStatFields = 52;

template <class... Values>
std::string text(const char* format, Values... values) {
  char line[512];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

std::string words(const Linux& os) {
  const std::vector<uint8_t>& all = os.context.process().words;
  return {all.begin(), all.end()};
}

std::string name(const Linux& os) {
  const std::string path = words(os).c_str();  // the first word
  return path.substr(path.rfind('/') + 1, kLongestComm);
}

uint64_t mapped_bytes(const Linux& os) {
  uint64_t size = 0;
  for (const auto& [begin, area] : os.memory.space.areas()) size += area.end - begin;
  return size;
}

// Returns the lines Cpus_allowed, a mask with the lowest harts last, and Cpus_allowed_list of
// /proc/self/status.
std::string cpus(const Task& t) {
  std::string mask;
  for (std::size_t word = (t.allowed.size() + 31) / 32; word-- > 0;) {
    uint32_t bits = 0;
    for (std::size_t hart = 32 * word; hart < std::min(t.allowed.size(), 32 * word + 32); ++hart)
      bits |= uint32_t{t.allowed[hart]} << hart % 32;
    mask += text(mask.empty() ? "%08x" : ",%08x", bits);
  }
  std::string list;
  for (std::size_t first = 0, end; first < t.allowed.size(); first = end + 1) {
    for (end = first; end < t.allowed.size() && t.allowed[end];) ++end;
    if (end > first) list += text(list.empty() ? "%zu" : ",%zu", first);
    if (end > first + 1) list += text("-%zu", end - 1);
  }
  std::string lines = "Cpus_allowed:\t";
  lines.append(mask).append("\nCpus_allowed_list:\t").append(list).append("\n");
  return lines;
}

}  // namespace

std::string status(const Linux& os, const Task& t) {
  const uint64_t size = mapped_bytes(os) >> 10, touched = os.memory.space.touched_bytes() >> 10;
  const auto id = os.tasks.pid();
  constexpr uint32_t u = Linux::kUser;
  std::string all =
      text("Name:\t%s\nUmask:\t%04o\nState:\tR (running)\n", name(os).c_str(), os.files.mask);
  all += text("Tgid:\t%u\nNgid:\t0\nPid:\t%u\nPPid:\t1\nTracerPid:\t0\n", id, id);
  all += text("Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n", u, u, u, u, u, u, u, u);
  all += text("FDSize:\t64\nGroups:\t\nVmPeak:\t%8" PRIu64 " kB\nVmSize:\t%8" PRIu64 " kB\n", size,
              size);
  all += text("VmLck:\t       0 kB\nVmHWM:\t%8" PRIu64 " kB\nVmRSS:\t%8" PRIu64 " kB\n", touched,
              touched);
  all += text("Threads:\t%zu\nSigPnd:\t%016" PRIx64 "\nSigBlk:\t%016" PRIx64 "\n", os.tasks.alive(),
              t.pending.set(), t.blocked);
  return all + cpus(t);
}

std::string stat(const Linux& os, const Task& t) {
  const uint64_t passed = t.now() / kUserTick;
  std::string line =
      text("%u (%s) R 1 %u %u", os.tasks.pid(), name(os).c_str(), os.tasks.pid(), os.tasks.pid());
  for (unsigned field = 7; field <= kStatFields; ++field) {
    uint64_t value = 0;
    if (field == 14) value = passed;                                                 // utime
    if (field == 18) value = 20;                                                     // priority
    if (field == 20) value = os.tasks.alive();                                       // num_threads
    if (field == 22) value = kUptime * 1'000'000'000'000 / kUserTick;                // starttime
    if (field == 23) value = mapped_bytes(os);                                       // vsize
    if (field == 24) value = os.memory.space.touched_bytes() / AddressSpace::kPage;  // rss
    if (field == 28) value = os.context.process().stack;                             // startstack
    if (field == 39) value = t.hart;                                                 // processor
    line += ' ' + std::to_string(value);
  }
  return line + '\n';
}

std::string statm(const Linux& os, const Task&) {
  const uint64_t size = mapped_bytes(os) / AddressSpace::kPage;
  const uint64_t touched = os.memory.space.touched_bytes() / AddressSpace::kPage;
  return text("%" PRIu64 " %" PRIu64 " 0 0 0 %" PRIu64 " 0\n", size, touched, touched);
}

std::string cmdline(const Linux& os, const Task&) { return words(os); }

std::string comm(const Linux& os, const Task&) { return name(os) + '\n'; }

std::string maps(const Linux& os, const Task&) {
  std::string all;
  for (const auto& [begin, area] : os.memory.space.areas()) {
    const bool stack = begin <= os.context.process().stack && os.context.process().stack < area.end;
    all += text("%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64 " 00:00 %" PRIu64, begin,
                area.end, area.rights & AddressSpace::read ? 'r' : '-',
                area.rights & AddressSpace::write ? 'w' : '-',
                area.rights & AddressSpace::execute ? 'x' : '-', area.file ? 's' : 'p',
                area.file ? begin - area.base : 0, area.file ? area.file->number : 0);
    all += stack ? "                          [stack]\n" : "\n";
  }
  return all;
}

// Generates /proc/stat. It reports that every hart has been busy all the time.
std::string processors(const Linux& os, const Task& t) {
  const uint64_t passed = t.now() / kUserTick;
  const std::size_t harts = os.context.harts.size();
  std::string all = text("cpu  %" PRIu64 " 0 0 0 0 0 0 0 0 0\n", passed * harts);
  for (std::size_t hart = 0; hart < harts; ++hart)
    all += text("cpu%zu %" PRIu64 " 0 0 0 0 0 0 0 0 0\n", hart, passed);
  return all + text("intr 0\nctxt 0\nbtime %" PRIu64
                    "\nprocesses 1\nprocs_running 1\n"
                    "procs_blocked 0\n",
                    kYear2026 - kUptime);
}

std::string uptime(const Linux&, const Task& t) {
  const uint64_t hundredths = t.now() / kUserTick;
  return text("%" PRIu64 ".%02" PRIu64 " 0.00\n", kUptime + hundredths / 100, hundredths % 100);
}

}  // namespace uncore::proc

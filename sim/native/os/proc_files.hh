// The files of /proc about the process and the harts. They are generated when they are opened.
#pragma once

#include <array>
#include <utility>

#include "os/inode.hh"

namespace uncore {

inline constexpr uint32_t kOwnProcess = 1000;  // the process's id

namespace proc {
std::string status(const Linux& os, const Task& t);
std::string stat(const Linux& os, const Task& t);
std::string statm(const Linux& os, const Task& t);
std::string cmdline(const Linux& os, const Task& t);
std::string comm(const Linux& os, const Task& t);
std::string maps(const Linux& os, const Task& t);
std::string processors(const Linux& os, const Task& t);
std::string uptime(const Linux& os, const Task& t);
}  // namespace proc

// The paths of these files below /proc, and the functions that generate them.
inline constexpr std::array<std::pair<const char*, Inode::Make>, 8> kProcFiles = {
    {{"self/status", proc::status},
     {"self/stat", proc::stat},
     {"self/statm", proc::statm},
     {"self/cmdline", proc::cmdline},
     {"self/comm", proc::comm},
     {"self/maps", proc::maps},
     {"stat", proc::processors},
     {"uptime", proc::uptime}}};

}  // namespace uncore

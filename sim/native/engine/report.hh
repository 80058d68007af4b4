// What a run that goes nowhere waits for, in words.
#pragma once

#include <string>

#include "engine/newest_bytes.hh"

namespace uncore {

std::string stuck_report(const std::vector<Thread*>& threads,
                         const std::vector<std::unique_ptr<ResolverAgent>>& resolvers);

}  // namespace uncore

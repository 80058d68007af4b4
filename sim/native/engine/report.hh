// The report on a run that makes no progress: it tells the user what each hart and each line waits
// for.
#pragma once

#include <string>

#include "engine/newest_bytes.hh"

namespace uncore {

std::string stuck_report(const std::vector<Thread*>& threads,
                         const std::vector<std::unique_ptr<ResolverAgent>>& resolvers);

}  // namespace uncore

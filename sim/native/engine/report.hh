// Says, as text for the user, what each hart and each line of a run that makes no progress waits
// for.
#pragma once

#include <string>

#include "engine/newest_bytes.hh"

namespace uncore {

std::string stuck_report(const std::vector<Thread*>& threads,
                         const std::vector<std::unique_ptr<ResolverAgent>>& resolvers);

}  // namespace uncore

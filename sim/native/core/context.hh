// The context of a core: the parts of the engine that it uses, all of them shared by all cores.
#pragma once

#include "core/supervisor.hh"
#include "core/unwinding.hh"
#include "core/watches.hh"
#include "fabric/network.hh"
#include "interrupts/interrupts.hh"
#include "memory/functional.hh"
#include "memory/versions.hh"
#include "observe/accesses.hh"
#include "observe/attribution.hh"
#include "observe/counters.hh"
#include "observe/trace.hh"
#include "services/services.hh"
#include "time/end.hh"

namespace uncore {

struct CoreContext {
  const MachineSpec& machine;
  const JobSpec& job;
  const Protocol& protocol;
  AddressMap& map;
  Network& network;
  EventQueue& queue;
  Interrupts& interrupts;
  FunctionalMemory& memory;
  Services& services;
  End& end;
  Counters& counters;
  Attribution* attribution;  // null unless the job asks for it
  Unwinding* unwinding;      // null unless accesses are attributed to chains of callers
  Watches* watches;          // null if no function is watched
  Trace* trace;  // null unless the job asks for it; if not null, attribution is not null either
  Versions* versions;      // null unless a core is weakly ordered
  Supervisor* supervisor;  // null if the program runs on bare metal
  Accesses* accesses;      // null unless the job asks for them
};

}  // namespace uncore

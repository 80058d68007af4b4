// The line of the machine, for workloads that pad by themselves: `line_bytes`, which a run sets to
// the machine's unless the user has set it. uc_alloc() pads to UC_BLOCK, which is not enough where
// lines have 256 bytes.
#ifndef UNCORE_LINE_H_
#define UNCORE_LINE_H_

#include "uncore.h"

UC_PARAM(u64, line_bytes, 64, "bytes", "of a line; the machine's where nothing else is said");

#endif

// The machine's line size, for workloads that pad by themselves: a run sets `line_bytes` to it
// unless the user has set that. uc_alloc() pads to UC_BLOCK, which is not enough for lines of 256
// bytes.
#ifndef UNCORE_LINE_H_
#define UNCORE_LINE_H_

#include "uncore.h"

UC_PARAM(u64, line_bytes, 64, "bytes", "of a line; the machine's where nothing else is said");

#endif

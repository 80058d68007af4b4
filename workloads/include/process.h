// The tasks are n processes, or the n threads of one process, which then share its address space,
// descriptor table and credential. will-it-scale has the same two modes.
//
//     struct process* process = &processes[process_of(id)];
//
// A path that uses threads by default defines TASKS as THREADS before it includes this header.
#ifndef UNCORE_PROCESS_H_
#define UNCORE_PROCESS_H_

#include "uncore.h"

enum tasks { PROCESSES, THREADS };
#ifndef TASKS
#define TASKS PROCESSES
#endif
UC_PARAM(choice, tasks, TASKS, "processes|threads", "n processes, or one process of n threads");

static inline unsigned process_of(unsigned id) { return tasks == THREADS ? 0 : id; }

#endif  // UNCORE_PROCESS_H_

// Tasks are processes, or the threads of one process: which of them share what belongs to a process
// (address space, descriptor table, credential), as will-it-scale's two modes do.
//
//     struct process* process = &processes[process_of(id)];
//
// A path that is about threads says `#define TASKS THREADS` before it includes this header.
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

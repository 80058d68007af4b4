// A RISC-V hart: RV64GC, Zba, Zbb, Zbs, Zicntr, Zihintpause, Zawrs, Zacas, Zabha; machine and user
// mode, and supervisor mode if the environment enables it (supervise()).
//
// A hart is a library of its own, without an event queue or a cache. It decodes, executes and
// counts instructions; its port (port.hh) orders and performs memory accesses. An environment
// drives it:
//
//     Code code(text_base, text_size);           // decoded text, shared by all harts of a machine
//     Hart<MyPort> hart(port, code, hart_id);    // pc, cost, horizon are plain fields: set them
//     switch (hart.run()) { ... }                // runs until a Stop, see state.hh
//
// Files. isa/ has a line for each instruction and CSR; interpreter.hh has the loop. An instruction
// that does more than compute a value is a function of loads_stores.hh, atomics.hh,
// control_flow.hh, system_instructions.hh or float_instructions.hh. traps.hh enters traps,
// privilege.hh has the rules and CSRs of traps; translation.hh translates addresses. These
// functions use the data members of Hart, which are public for them; an environment uses only its
// state (state.hh) and its methods.
//
// Time. An instruction starts at `clock`, and its port access happens at that time. When it
// retires, the clock advances by cost.instruction (a pause: by cost.pause instead), plus
// cost.mispredict for a conditional branch that was predicted wrongly, plus whatever the port
// added. An instruction that raises an exception costs cost.instruction and does not count. An
// interrupt is taken at the next instruction boundary and costs nothing here: the port's trapped()
// charges its time.
//
// Misaligned loads and stores of memory are performed; an access that crosses a boundary of
// `unsplit_bytes` bytes is split into two, between which no interrupt is taken. Misaligned atomics
// and accesses to devices trap (cause 4 or 6).
//
// An environment that simulates the kernel of a program in user mode (set_mode()) leaves mtvec at
// 0. Then every trap ends run() with Stop::fatal, and pc is at the trapping instruction.
//
// Spin loops. run() returns Stop::spin when the guest repeats a loop iteration exactly: it returned
// to an instruction with registers and branch predictor unchanged, without any effect in between
// (see spin.hh), twice in a row at equal cost. While the memory that the loop reads does not
// change, skip(n) has exactly the effect of executing n more iterations. Between two runs memory
// may change unnoticed, so a loop iteration counts only if it is within one run, unless the
// environment sets `undisturbed`.
//
// Invariant: between calls of run() the hart is at an instruction boundary, or suspended on the
// access that was answered `later`.
#pragma once

#include "hart/hart_class.hh"   // IWYU pragma: export
#include "hart/interpreter.hh"  // IWYU pragma: export

// A RISC-V hart: RV64GC, Zba, Zbb, Zbs, Zicntr, Zihintpause, Zawrs, Zacas, Zabha; machine and user
// mode, and supervisor mode where the environment asks for it (supervise()).
//
// A library of its own: no event queue, no cache. It decodes, executes and counts; whatever orders
// memory is its port (port.hh). An environment drives it:
//
//     Code code(text_base, text_size);           // decoded text, shared by all harts of a machine
//     Hart<MyPort> hart(port, code, hart_id);    // pc, cost, horizon are plain fields: set them
//     switch (hart.run()) { ... }                // runs until a Stop, see state.hh
//
// Files. isa/ has a line for each instruction and CSR; interpreter.hh is the loop. An instruction
// that does more than compute a value is a function of loads_stores.hh, atomics.hh,
// control_flow.hh, system_instructions.hh or float_instructions.hh. traps.hh enters traps,
// privilege.hh has the rules and CSRs of traps; translation.hh translates addresses. These
// functions use the parts of a Hart, which are public for them; an environment uses its state
// (state.hh) and its methods.
//
// Time. An instruction starts at `clock`; its port access happens then; when it retires the clock
// advances by cost.instruction (a pause: by cost.pause instead), plus cost.mispredict for a
// conditional branch that was predicted wrongly, plus whatever the port added. An instruction that
// raises an exception costs cost.instruction and does not count. An interrupt is taken at the first
// boundary and costs nothing here: the port hears trapped() and charges it.
//
// Misaligned loads and stores of memory are performed; an access that crosses a boundary of `whole`
// bytes is two, between which no interrupt is taken. Misaligned atomics and accesses to devices
// trap (cause 4 or 6).
//
// An environment that is itself the kernel of a program in user mode (set_mode()) leaves mtvec at
// 0: every trap then ends run() as Stop::fatal, with the hart at its instruction.
//
// Spin loops. run() returns Stop::spin when the guest repeats itself: it came back to an
// instruction with registers and branch predictor unchanged, without any effect in between (see
// spin.hh), twice in a row at equal cost. While the memory that the loop reads does not change,
// skip(n) does exactly what executing n more periods would do. Between two runs memory may change
// unseen, so an iteration of the loop counts only if it lies within a run, unless the environment
// says otherwise (`undisturbed`).
//
// Invariant: between calls of run() the hart is at an instruction boundary, or suspended on the
// access that was answered `later`.
#pragma once

#include "hart/hart_class.hh"   // IWYU pragma: export
#include "hart/interpreter.hh"  // IWYU pragma: export

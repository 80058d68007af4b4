// The C++ runtime's functions for exceptions, which the toolchain for WebAssembly lacks.
//
// No shipped machine, protocol or program makes the engine throw, because each is checked before it
// is shipped. If the engine throws all the same, the module ends here, and the page says that the
// engine has stopped.
#include <cstddef>

extern "C" {
void* __cxa_allocate_exception(std::size_t) { __builtin_trap(); }
void __cxa_throw(void*, void*, void (*)(void*)) { __builtin_trap(); }
void* __cxa_begin_catch(void*) { __builtin_trap(); }
void __cxa_end_catch() { __builtin_trap(); }
void __cxa_rethrow() { __builtin_trap(); }
}

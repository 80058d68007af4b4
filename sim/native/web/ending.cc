// What a throw comes to where C++ has no exceptions: the toolchain's library for WebAssembly has
// none.
//
// The engine throws only what no shipped machine, protocol or program brings about (each is checked
// before), so a throw ends the module here, and the page says that the engine has stopped.
#include <cstddef>

extern "C" {
void* __cxa_allocate_exception(std::size_t) { __builtin_trap(); }
void __cxa_throw(void*, void*, void (*)(void*)) { __builtin_trap(); }
void* __cxa_begin_catch(void*) { __builtin_trap(); }
void __cxa_end_catch() { __builtin_trap(); }
void __cxa_rethrow() { __builtin_trap(); }
}

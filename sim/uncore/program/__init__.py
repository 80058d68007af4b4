"""Guest programs: builds them, finds them, reads them, prepares their memory, and reads their
results.

    find(name), load(path), compile(path), shipped()   -> Program            locate.py
    source_of(program)                                 its C file            locate.py
    compile_for_linux(path, sources, flags)            a program with main() locate.py
    read_folder(path), read_input(path)                its input files       folder.py
    Program                                            a guest program       program.py
    Parameter                                          its parameters        parameter.py
    readback                                           records and tables    readback.py
    build                                              the compile command   build.py
    Names                                              names of addresses    names.py
    abi                                                uncore_abi.h          abi.py
"""

from uncore.program import abi, build, readback
from uncore.program.folder import read_folder, read_input
from uncore.program.locate import (
    LINUX_SUFFIXES,
    catalogue,
    compile,
    compile_for_linux,
    elf_of,
    find,
    is_for_linux,
    load,
    shipped,
    source_of,
)
from uncore.program.names import Names
from uncore.program.parameter import Parameter
from uncore.program.program import Program, ProgramTable
from uncore.program.readback import HartRecord

__all__ = [
    "LINUX_SUFFIXES",
    "HartRecord",
    "Names",
    "Parameter",
    "Program",
    "ProgramTable",
    "abi",
    "build",
    "catalogue",
    "compile",
    "compile_for_linux",
    "elf_of",
    "find",
    "is_for_linux",
    "load",
    "read_folder",
    "read_input",
    "readback",
    "shipped",
    "source_of",
]

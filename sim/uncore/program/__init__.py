"""Guest programs: build them, find them, read them, prepare their memory, read what they leave.

find(name)   load(path)   compile(path)   shipped()     -> Program            shelf.py
source_of(program)                              its C file                shelf.py
Program                                                 the value             program.py
Parameter                                               its settings          parameter.py
readback                                                records and tables    readback.py
build                                                   the compile command   build.py
Names                                                   what is where         names.py
abi                                                     uncore_abi.h          abi.py
"""

from uncore.program import abi, build, readback
from uncore.program.names import Names
from uncore.program.parameter import Parameter
from uncore.program.program import Program, Table
from uncore.program.readback import Record
from uncore.program.shelf import catalogue, compile, find, load, shipped, source_of

__all__ = [
    "Names",
    "Parameter",
    "Program",
    "Record",
    "Table",
    "abi",
    "build",
    "catalogue",
    "compile",
    "find",
    "load",
    "readback",
    "shipped",
    "source_of",
]

"""Studies: questions that take many runs.

matrix.py    latency of a line or an interrupt between any two harts
whatif.py    gains of changes of the program or the machine
explore/     the best of many machines
compare/     two results, two engines, several simulators
fences/      the memory orders that a program needs
litmus/      outcomes against the memory model
lessons/     lessons with exercises that are checked
"""

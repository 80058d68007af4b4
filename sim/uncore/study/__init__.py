"""Studies: questions that take many runs.

matrix.py    what a line or an interrupt costs between any two harts
whatif.py    what a change of the program or the machine would be worth
explore/     the best of many machines
compare/     two results, two engines, several simulators
fences/      the memory orders that a program needs
litmus/      outcomes against the memory model
lessons/     lessons with exercises that are checked
"""

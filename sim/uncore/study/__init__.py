"""Studies: commands that need many runs, with their tables and pictures.

matrix.py    latency of a line or an interrupt between any two harts
whatif.py    effects of single changes of the program or the machine
explore/     searches many machines for the best
compare/     compares two results, two engines, or several simulators
fences/      finds the memory orders that a program needs
litmus/      compares outcomes of litmus tests with the memory model
lessons/     lessons with exercises that are checked

The tables and pictures of a study are in its module report.py, or in the module with the same name
and the ending `_report`; answer_pages.py writes results of studies as web pages.
"""

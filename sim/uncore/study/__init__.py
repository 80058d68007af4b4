"""Studies: commands that need many runs, with their tables and pictures.

matrix.py    latency of a line or an interrupt between any two harts
whatif.py    gains of changes of the program or the machine
explore/     searches many machines for the best
compare/     compares two results, two engines, or several simulators
fences/      finds the memory orders that a program needs
litmus/      compares outcomes of litmus tests with the memory model
lessons/     lessons with exercises that are checked

Tables and pictures of an answer are in report.py beside it, or in a module whose name ends in
`_report`; answer_pages.py writes answers as web pages.
"""

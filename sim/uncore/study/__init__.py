"""Studies: questions that take many runs, and what commands print and draw of the answers.

matrix.py    latency of a line or an interrupt between any two harts
whatif.py    gains of changes of the program or the machine
explore/     the best of many machines
compare/     two results, two engines, several simulators
fences/      the memory orders that a program needs
litmus/      outcomes against the memory model
lessons/     lessons with exercises that are checked

What is shown of an answer stands beside it, in report.py or a module that ends in `_report`;
answer_pages.py makes pages of answers.
"""

"""Finds the memory orders that a program needs: weakens each order and runs the program on machines
with a weak memory model.

orders         finds the memory orders in a C text, and weakens some of them
instructions   does the same with the instructions of a compiled program
variants       compiles a C program with weakened orders
trials         runs a program over seeds, machines and thread counts, until a run fails
questions      tests every order of a program; yields answers when they are found
history        remembers the programs that were tested, and suggests testing others
report         prints the answers
"""

"""Finds the memory orders that a program needs: weakens each alone and runs it on a weak machine.

orders         the orders that a C text states, and the text with some of them weakened
instructions   the same of a compiled program's instructions
variants       a C program compiled with weakened orders
trials         runs over seeds, machines and numbers of harts, until one fails
questions      asks about every order of a program; yields answers as they come
history        remembers the programs that were asked about; hints at others
report         prints the answers
"""

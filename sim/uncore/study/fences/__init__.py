"""Finds the memory orders that a program needs: weakens each alone and runs it on a weak machine.

orders    what a C text states, and the text with some of it weakened
variants  a program compiled with weakened orders
trials    runs over seeds, machines and numbers of harts, until one fails
asked     about which programs it was asked; a hint to ask
asking    every order of a program: the questions, and the answers as they come
report    what is printed of the answers
"""

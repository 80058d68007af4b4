"""Litmus tests: check that no run shows a value that the memory model forbids.

events.py    data types: a test is threads of loads and stores, with fences or dependencies
classics.py  the classical tests (MP, SB, ... IRIW) in all variants
axioms.py    computes the outcomes that RVWMO and Ztso allow
guest.py     writes all tests as one C program
run.py       runs the program on many machines and compares the outcomes with the allowed ones

Interface: `uncore litmus`, or `run.main`.
"""

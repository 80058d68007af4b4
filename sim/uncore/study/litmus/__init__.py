"""Litmus tests: check that no run shows a value that the memory model forbids.

events.py    a test: threads of loads and stores, and the fences or dependencies between them
classics.py  the classical tests (MP, SB, ... IRIW) in all variants
axioms.py    computes the outcomes that RVWMO and Ztso allow
guest.py     writes all tests as one C program
run.py       runs it on many machines and compares outcomes with the allowed ones

Interface: `uncore litmus`, or `run.main`.
"""

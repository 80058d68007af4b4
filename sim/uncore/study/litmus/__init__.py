"""Litmus tests: may a run ever show a value that the memory model forbids?

    events.py   what a test is: threads of loads and stores with what orders them
    classics.py  the classical tests (MP, SB, ... IRIW) in every way of writing them down
    axioms.py   the outcomes that RVWMO and its total-store-order variant allow: computed, not typed
    guest.py    all tests as one C program for an engine
    run.py      runs it on many machines, and compares what was seen with what is allowed

Interface: `uncore litmus`, or `run.main`.
"""

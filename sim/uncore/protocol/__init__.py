"""The coherence protocol: its tables, their renderings, and the proofs on them.

tables.load(name)   client, resolver, grant, join and transaction table of one protocol
tables.pack(t)      the same as the native engine's cells
states              properties of each state of the client, derived from its row
render              the tables for people: text, Markdown, HTML
check               exhaustive walks and random tests of the code that executes the tables
"""

"""The coherence protocol: its tables, their renderings, and their proofs.

tables.load(name)   client, resolver, grant, join and transaction table of one protocol
tables.pack(t)      these tables as cells of the native engine
states              properties of each state of the client, derived from its row
render              the tables as Markdown and HTML, for readers
check               exhaustive walks and random tests of the code that executes the tables
"""

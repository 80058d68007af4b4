"""The coherence protocol: its tables, their renderings, and the proofs on them.

tables.load(name)   client, resolver, grant, join and transaction as one protocol reads them
tables.pack(t)      the same as the native engine's cells
states              what each state of the client is, from its row
render              the same for people: text, Markdown, HTML
check               exhaustive walks and random tests of the logic that executes the tables
"""

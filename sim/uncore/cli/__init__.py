"""The command line: app.py dispatches, commands/ has a module a command, options/ what they have in
common.
"""

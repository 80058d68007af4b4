"""The command line: app.py dispatches, commands/ holds the commands, options/ the options that
they share.
"""

"""The command line: app.py dispatches, commands/ has the commands, options/ the options that they
share.
"""

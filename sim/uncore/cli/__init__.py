"""The command line. app.py calls the commands, which are in commands/; options/ has the options
that they share.
"""

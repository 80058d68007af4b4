"""Tables, pictures and pages: how any report is laid out, printed and drawn."""

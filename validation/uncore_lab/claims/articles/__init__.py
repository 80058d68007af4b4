"""The claims, a module an article (or a part of one); README.md says how one is written."""

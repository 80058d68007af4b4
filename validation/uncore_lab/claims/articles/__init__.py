"""The claims, with one module for each article or part of an article.

README.md explains how to write a claim."""

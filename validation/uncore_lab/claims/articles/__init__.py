"""The claims, one module for each article or part of one; README.md explains how to write one."""

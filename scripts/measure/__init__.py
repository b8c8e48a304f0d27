"""What the scripts that measure share: timing, the machine, programs, inputs, tables and plots.

scripts/compare, scripts/bench and scripts/dev/tables.py import it; the standard library is enough.
"""

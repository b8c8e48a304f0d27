"""Runs one command and writes its figures: called by measure.timing in a process of its own.

usage: python3 -S -E run_one.py FIGURES COMMAND...

The kernel counts what a process held before it became another program as that program's memory, so the one that
starts a measured command has to be small.
"""

import os
import sys
import time

figures, command = sys.argv[1], sys.argv[2:]
begin = time.perf_counter()
child = os.posix_spawnp(command[0], command, os.environ)
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - begin
cpu = usage.ru_utime + usage.ru_stime
with open(figures, "w", encoding="ascii") as out:
    out.write(f"{os.waitstatus_to_exitcode(status)} {wall} {cpu} {usage.ru_maxrss * 1024}\n")

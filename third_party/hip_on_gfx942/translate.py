#!/usr/bin/env python3
"""Translates instructions of gfx942 into code of this machine, for the runtime in this folder.

Reads lines of 20 bytes in hexadecimal, an instruction and what follows it; answers each with one line:

  ok SIZE BARRIER ARGUMENTS CODE NAME
        the instruction of SIZE bytes is done by CODE, which takes the arrays that ARGUMENTS names by number;
        BARRIER is 1 for one that waits for the other waves
  failed TEXT

What an instruction does is taken from tinygrad's emulator (test/mockgpu/amd in its repository, whose folder
TINYGRAD names), which has it from AMD's manuals. Translations are kept in the folder that
BIOGPU_GFX942_CACHE names, default ~/.cache/biogpu/gfx942: instructions that differ in their registers
and constants alone share one.
"""
import hashlib
import os
import sys
from pathlib import Path

TINYGRAD = Path(os.environ["TINYGRAD"])
sys.path.insert(0, str(TINYGRAD))
os.environ["DEV"] = "CPU"
from test.mockgpu.amd import emu  # noqa: E402
from tinygrad.runtime.support.elf import jit_loader  # noqa: E402

ARCHITECTURE = "cdna"


def cache_file():
    version = hashlib.sha256()
    for name in ("emu.py", "pcode.py"):
        version.update((TINYGRAD / "test/mockgpu/amd" / name).read_bytes())
    folder = Path(os.environ.get("BIOGPU_GFX942_CACHE", Path.home() / ".cache/biogpu/gfx942"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{version.hexdigest()[:16]}.txt"


class Translations:
    """Patterns: the kind of an instruction and its bits but those that the code reads itself."""

    def __init__(self):
        self.path = cache_file()
        self.patterns = {}  # (kind, size) -> [(base, mask, answer)]
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                kind, size, base, mask, answer = line.split(" ", 4)
                self.patterns.setdefault((kind, int(size)), []).append((int(base, 16), int(mask, 16), answer))

    def find(self, text):
        instruction = emu.decode_inst(text, ARCHITECTURE)
        key = type(instruction).__name__, instruction.size()
        value = int.from_bytes(text[:key[1]], "little")
        for base, mask, answer in self.patterns.get(key, []):
            if value & mask == base:
                return answer
        base, mask, answer = self.translate(text, instruction)
        self.patterns.setdefault(key, []).append((base, mask, answer))
        with self.path.open("a") as file:  # one write a line: several programs may add at a time
            file.write(f"{key[0]} {key[1]} {base:x} {mask:x} {answer}\n")
        return answer

    @staticmethod
    def translate(text, instruction):
        size = instruction.size()
        program, _ = emu._get_runner(text[:size + 4], ARCHITECTURE)
        value = int.from_bytes(text[:size], "little")
        base, mask = next(
            (base, mask) for kind, base, mask, n, _ in emu._canonical_runner_cache
            if kind is type(instruction) and n == size and value & mask == base)
        barrier = isinstance(instruction, emu.irc.SOPP) and instruction.op in emu._BARRIER_OPS
        arguments = ",".join(str(number) for number in program.arg.globals)
        return base, mask, f"{size} {int(barrier)} {arguments or '-'} {flat_code(program)} {emu._op_name(instruction)}"


def flat_code(program):
    """The code, in hexadecimal, with nothing outside it: it may lie anywhere."""
    library = next(part.arg for part in program.src if isinstance(getattr(part, "arg", None), bytes))
    near, far = (jit_loader(library, base=base) for base in (0, 1 << 20))
    if near != far:
        raise RuntimeError("its code calls a function of the C library")
    return near.hex()


def main():
    translations = Translations()
    for line in sys.stdin:
        try:
            answer = "ok " + translations.find(bytes.fromhex(line.strip()))
        except Exception as error:  # an instruction that the emulator does not know: told, not fatal
            answer = f"failed {type(error).__name__}: {error}".replace("\n", " ")
        print(answer, flush=True)


main()

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
import functools
import hashlib
import inspect
import os
import sys
from pathlib import Path

TINYGRAD = Path(os.environ["TINYGRAD"])
ARCHITECTURE = "cdna"
LONGEST = 20  # bytes of an instruction


@functools.cache
def emulator():
    """tinygrad's emulator, which takes long to load: only for what is not kept."""
    sys.path.insert(0, str(TINYGRAD))
    os.environ["DEV"] = "CPU"
    from test.mockgpu.amd import emu
    correct(emu)
    return emu


CORRECTIONS = "8"  # of correct(): what was translated with others is not used


def correct(emu):
    """What the emulator has otherwise than gfx942.

    An atomic returns the old value where sc0 is set, which other cards call glc. Row broadcasts give the last lane
    of each row to the next row, or lane 31 to the upper half. Flat addresses have no base in scalar registers.
    The bases of shared and private memory are 64 bits; the compiler takes them by s_mov_b64. The matrix cores take
    subnormal numbers of fp16 as they are; those of gfx90a take zero for them. Values of 16 and 64 bits may be read from
    any byte of memory. Registers from 128 on are registers in instructions of 16 bits, too; on other cards they name the
    upper halves of the first 128 there. What is written to shared memory may be of the accumulators, AGPRs.
    """
    attribute, control, field = emu._iattr, emu._dpp16_ctrl, emu._Ctx.optional_field
    source, move = emu._Ctx.rsrc_dyn, []

    def attribute_of(instruction, name, default=0):
        return attribute(instruction, "sc0" if name == "glc" and hasattr(type(instruction), "sc0") else name, default)

    def control_of(lane, dpp, row_mask, bank_mask, wave_size):
        source, enabled, valid = control(lane, dpp, row_mask, bank_mask, wave_size)
        number, lane = emu.dtypes.int, lane.cast(emu.dtypes.int)
        if dpp == 0x142:
            source, valid = (lane & emu._c(~15, number)) - emu._c(1, number), lane >= emu._c(16, number)
        elif dpp == 0x143:
            source, valid = emu._c(31, number), lane >= emu._c(32, number)
        return source, enabled, valid

    def field_of(context, instruction, name):
        is_flat = isinstance(instruction, emu.irc.FLAT)
        return None if is_flat and name == "saddr" else field(context, instruction, name)

    def source_of(context, offset, lane, *others, **options):
        value = source(context, offset, lane, *others, **options)
        if not move:
            return value
        is_base = offset.eq(emu._c(235)) | offset.eq(emu._c(237))
        low, high = (context.rsgpr_dyn(offset + emu._c(i), is_base) for i in (0, 1))
        return is_base.where(emu._u64(low, high), value)

    def compile_scalar(instruction, context):
        move[:] = [True] * (emu._op_name(instruction) == "S_MOV_B64")
        try:
            return emu._compile_sop(instruction, context)
        finally:
            move.clear()

    parser, types = sys.modules[emu.parse_pcode.__module__].Parser, emu.dtypes
    load = parser._handle_mem_load

    def load_of(self, address, kind):
        memory = self.vars["_vmem"] if "_vmem" in self.vars else self.vars.get("_lds")
        if memory.dtype == types.uint8 or kind.itemsize not in (2, 8):
            return load(self, address, kind)
        low = load(self, address, types.uint32)  # it takes two words where the address asks for it
        if kind.itemsize == 2:
            value = (low & emu._c(0xffff)).cast(types.uint16)
        else:
            value = emu._u64(low, load(self, address + emu._c(4, address.dtype), types.uint32))
        return value if value.dtype == kind else value.bitcast(kind)

    emu._iattr, emu._dpp16_ctrl, emu._Ctx.optional_field = attribute_of, control_of, field_of
    emu._Ctx.rsrc_dyn, emu._INST_HANDLERS[emu.irc.SOP1] = source_of, compile_scalar
    parser._handle_mem_load = load_of

    def rewrite(name, *changes):
        """Makes a function of the emulator again, with texts of its source replaced: (old, new, how often)."""
        function = getattr(emu, name)
        text = inspect.getsource(function)
        for old, new, count in changes:
            if text.count(old) != count:
                raise RuntimeError(f"tinygrad's {name} is another than the one that is corrected here")
            text = text.replace(old, new)
        exec(text, emu.__dict__)
        for kind, handler in emu._INST_HANDLERS.items():
            if handler is function:
                emu._INST_HANDLERS[kind] = getattr(emu, name)

    small = "((mant.cast(dtypes.float32) * UOp.const(2.0 ** -24, dtypes.float32)).bitcast(dtypes.uint32) | (sign << _c(31)))"
    rewrite("_compile_mfma", ("return exp.eq(_c(0)).where(_c(0), f32_bits)", f"return exp.eq(_c(0)).where({small}, f32_bits)", 1))
    rewrite("_compile_mem_op", *((f"ctx.rvgpr_dyn({name}", f"(ctx.raccvgpr_dyn if use_acc else ctx.rvgpr_dyn)({name}", count)
                                 for name, count in (("vdata_reg", 8), ("data1_reg", 3))))
    # No register has so high a number: none is the upper half of another.
    rewrite("_load_vsrc0", ("src0_off >= _c(384)", "src0_off >= _c(1024)", 1))
    rewrite("_compile_vop12", ("_reg >= _c(128)", "_reg >= _c(1024)", 2))
    rewrite("_compile_vopc", ("src0_off >= _c(384)", "src0_off >= _c(1024)", 1), ("vsrc1_off >= _c(128)", "vsrc1_off >= _c(1024)", 1))


def cache_file():
    version = hashlib.sha256(CORRECTIONS.encode())
    for name in ("emu.py", "pcode.py"):
        version.update((TINYGRAD / "test/mockgpu/amd" / name).read_bytes())
    folder = Path(os.environ.get("BIOGPU_GFX942_CACHE", Path.home() / ".cache/biogpu/gfx942"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{version.hexdigest()[:16]}.txt"


class Translations:
    """Patterns: the kind of an instruction and its bits but those that the code reads itself; and the
    instructions met, by their bytes, each with the pattern that it matches."""

    def __init__(self):
        self.path = cache_file()
        self.met_path = self.path.with_suffix(".met")
        self.patterns = {}  # (kind, size) -> [(base, mask, answer)]
        self.answers = {}  # base and mask -> answer
        for line in self.read(self.path):
            kind, size, base, mask, answer = line.split(" ", 4)
            self.keep(kind, int(size), int(base, 16), int(mask, 16), answer)
        self.met = {}  # bytes -> kind, size, base, mask
        for line in self.read(self.met_path):
            instruction, *pattern = line.split(" ")
            if len(pattern) == 4:
                self.met[bytes.fromhex(instruction)] = tuple(pattern)

    @staticmethod
    def read(path):
        return path.read_text().splitlines() if path.exists() else []

    def keep(self, kind, size, base, mask, answer):
        self.patterns.setdefault((kind, size), []).append((base, mask, answer))
        self.answers[kind, f"{size}", f"{base:x}", f"{mask:x}"] = answer

    def find(self, text):
        for size in range(4, LONGEST + 1, 4):  # how long an instruction is stands in its first word
            answer = self.answers.get(self.met.get(text[:size]))
            if answer is not None:
                return answer
        instruction = emulator().decode_inst(text, ARCHITECTURE)
        kind, size = type(instruction).__name__, instruction.size()
        value = int.from_bytes(text[:size], "little")
        if "DPP" in kind and value >> 17 & 0xff == value >> 32 & 0xff:
            raise NotImplementedError("an instruction that takes other lanes' values from the register it writes")
        known = self.patterns.get((kind, size), [])
        base, mask, answer = next(((base, mask, answer) for base, mask, answer in known if value & mask == base),
                                  (None, None, None))
        if answer is None:
            base, mask, answer = self.translate(text, instruction)
            self.keep(kind, size, base, mask, answer)
            self.add(self.path, f"{kind} {size} {base:x} {mask:x} {answer}")
        self.add(self.met_path, f"{text[:size].hex()} {kind} {size} {base:x} {mask:x}")
        return answer

    @staticmethod
    def add(path, line):
        with path.open("a") as file:  # one write a line: several programs may add at a time
            file.write(line + "\n")

    @staticmethod
    def translate(text, instruction):
        emu = emulator()
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
    from tinygrad.runtime.support.elf import jit_loader
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

"""One random run and what became of it; the documented differences as data."""

import dataclasses
import os
import pathlib
import re
import resource
import shlex
import subprocess
import typing

ROOT = pathlib.Path(__file__).resolve().parents[3]
TIME_LIMIT_S = 60
# No run here writes files of this size: a program that does not stop is stopped before the disk is full.
MAX_FILE_BYTES = 1 << 30


@dataclasses.dataclass(frozen=True)
class Known:
    """A difference that a page documents: it explains a run where all its marks hold and the text matches.

    That one side failed is explained only by an expression that names the status.
    """

    name: str
    page: str
    phrase: str  # of that page, so that one cannot change without the other
    marks: tuple = ()
    difference: str = ""  # regular expression of what the comparison said
    canonical: typing.Optional[typing.Callable] = None  # bytes -> bytes, equal on both sides where only this differs

    def explains(self, marks, difference):
        if self.canonical is not None or not set(self.marks) <= marks:
            return False
        if difference.startswith("biogpu crashed"):
            return False
        if difference.startswith("status") and "status" not in self.difference:
            return False
        return re.search(self.difference, difference) is not None


@dataclasses.dataclass
class Done:
    """A finished program."""

    status: int
    out: bytes
    err: bytes

    def last_error(self):
        lines = self.err.decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else ""

    def crashed(self):
        return self.status < 0 or self.status in (124, 134, 139)


def _limits():
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def call(words, folder, stdin=None, idle_stdin=False):
    """Runs a program in folder. stdin: bytes; idle_stdin: an open pipe that never holds anything."""
    words = [str(word) for word in words]
    pipe = os.pipe() if idle_stdin else None
    feed = {"input": stdin} if stdin is not None else {"stdin": pipe[0] if pipe else subprocess.DEVNULL}
    try:
        done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=TIME_LIMIT_S, preexec_fn=_limits, **feed)
        return Done(done.returncode, done.stdout, done.stderr)
    except subprocess.TimeoutExpired as error:
        return Done(124, error.stdout or b"", (error.stderr or b"") + f"\nran longer than {TIME_LIMIT_S} s".encode())
    finally:
        for descriptor in pipe or ():
            os.close(descriptor)


class Run:
    """What one run drew and found: commands for people, marks for Known, differences."""

    def __init__(self, target, seed, number, folder):
        self.target, self.seed, self.number, self.folder = target, seed, number, folder
        self.commands = []
        self.marks = set()
        self.differences = []
        self.explained = []
        self.n_compared = 0

    def pair(self, theirs, ours, **options):
        """Runs the peer and biogpu; options as of call()."""
        suffix = ""
        if options.get("stdin") is not None:  # on disk for people alone
            name = f"stdin{len(self.commands)}"
            (pathlib.Path(self.folder) / name).write_bytes(options["stdin"])
            suffix = f" <{name}"
        self.commands.append(tuple(shlex.join(map(str, words)) + suffix for words in (theirs, ours)))
        return call(theirs, self.folder, **options), call(ours, self.folder, **options)

    def compare(self, what, theirs, ours, known=()):
        """Compares bytes; tries the canonical forms of known where they differ."""
        self.n_compared += 1
        if theirs == ours:
            return
        for one in known:
            if one.canonical is not None and set(one.marks) <= self.marks \
                    and one.canonical(theirs) == one.canonical(ours):
                self.explained.append(one.name)
                return
        self.differences.append(f"{what}: {first_difference(theirs, ours)}")

    def compare_files(self, theirs, ours, known=()):
        def read(name):
            path = pathlib.Path(self.folder) / name
            return path.read_bytes() if path.is_file() else b"(no such file)"
        self.compare(str(ours), read(theirs), read(ours), known)

    def compare_status(self, theirs, ours):
        """Both worked, or both refused. True where both worked."""
        self.n_compared += 1
        if ours.crashed():
            self.differences.append(f"biogpu crashed with status {ours.status}: {ours.last_error()}")
        elif (theirs.status == 0) != (ours.status == 0):
            self.differences.append(f"status: peer {theirs.status} ({theirs.last_error()}), biogpu {ours.status} "
                                    f"({ours.last_error()})")
        elif ours.status != 0:
            self.marks.add("refused")
        return theirs.status == 0 and ours.status == 0

    def settle(self, known):
        """Moves the differences that known explains to explained."""
        left = []
        for text in self.differences:
            match = next((one for one in known if one.explains(self.marks, text)), None)
            if match:
                self.explained.append(match.name)
            else:
                left.append(text)
        self.differences = left

    def status(self):
        if self.differences:
            return "different"
        if self.explained:
            return "documented"
        return "both refused" if "refused" in self.marks else "equal"


def first_difference(theirs, ours):
    """The first line that differs, for people."""
    theirs_lines, ours_lines = theirs.split(b"\n"), ours.split(b"\n")
    for n, (a, b) in enumerate(zip(theirs_lines, ours_lines), 1):
        if a != b:
            return f"line {n}: peer {a[:100]!r}, biogpu {b[:100]!r}"
    return f"peer {len(theirs_lines) - 1} lines, biogpu {len(ours_lines) - 1}"


def check_pages(known):
    """The phrases that are on their pages no more: documentation and list have parted."""
    missing = []
    for one in known:
        text = " ".join((ROOT / one.page).read_text(encoding="utf-8").split())
        if one.phrase not in text:
            missing.append(f"{one.page} does not say '{one.phrase}' ({one.name})")
    return missing

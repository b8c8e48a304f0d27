"""Where the CPU time of a run of `biogpu qc` goes, from `perf record`: for qc.py --perf."""

import collections
import os
import re
import subprocess

# What a sample counts as: the first entry that fits one of its functions, from the kernel's side of the call
# outwards, or its library. Programs are built with their symbols; the kernel's must be readable.
KERNEL = (
    ("write", r"^(ksys_write|vfs_write|ksys_pwrite64)$"),
    ("read", r"^(ksys_read|vfs_read|ksys_pread64)$"),
    ("memory", r"page_fault$|^do_user_addr_fault$|munmap|madvise|mremap|mprotect|_brk$|mmap"),
    ("old files freed", r"rename|unlink|evict|^task_work_run$"),
    ("waits, wakes", r"futex|^schedule|clone"),
)
LIBRARIES = (("compress", r"libdeflate"), ("decompress", r"libisal|libz\b"))
FUNCTIONS = (
    ("decompress", r"io::input::|inflate|decode"),
    ("parse", r"FastqFile|find_line_ends|::scan$|Prefetcher"),
    ("statistics", r"StatsAdder|add_kmers|::(add|carry|count)$|ReadStats"),
    ("duplicates", r"Duplicate|KeySet|::sum$"),
    ("adapters' table", r"TextCounts|Hash_bytes"),
    ("steps, text", r"biogpu::|memmove|memcpy|memcmp"),
)
CLASSES = ("read", "decompress", "parse", "steps, text", "statistics", "duplicates", "adapters' table", "compress",
           "write", "memory", "old files freed", "waits, wakes", "other")
FREQUENCY = 2000


def class_of(frames):
    """Of a sample: its (function, library) pairs, innermost first."""
    kernel = [function for function, library in frames if "kernel" in library]
    if kernel:
        for name, pattern in KERNEL:
            if any(re.search(pattern, function) for function in kernel):
                return name
        return "other"
    function, library = frames[0]
    for name, pattern in LIBRARIES:
        if re.search(pattern, library):
            return name
    for name, pattern in FUNCTIONS:
        if re.search(pattern, function):
            return name
    return "other"


def samples(text):
    """(thread, seconds, frames) of each sample in what `perf script` writes: a head line, frames, an empty line."""
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        if len(lines) < 2:
            continue
        frames = []
        for line in lines[1:]:
            match = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line)
            if match:
                frames.append((match[1], match[2]))
        if frames:
            thread, seconds = lines[0].split()[:2]
            yield thread, float(seconds.rstrip(":")), frames


def profile(perf, line, folder):
    """Runs the program once under perf. Shares of CPU seconds by class, cores busy, the busiest thread's
    share of the wall time and what it does most."""
    data = folder / "perf.data"
    subprocess.run([perf, "record", "-q", "-g", "-F", str(FREQUENCY), "-e", "cpu-clock", "-o", str(data), *line],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    text = subprocess.run([perf, "script", "-i", str(data), "-F", "tid,time,ip,sym,dso"], capture_output=True,
                          check=True).stdout.decode(errors="replace")
    os.unlink(data)
    by_class, by_thread = collections.Counter(), collections.defaultdict(collections.Counter)
    times = []
    for thread, seconds, frames in samples(text):
        name = class_of(frames)
        by_class[name] += 1
        by_thread[thread][name] += 1
        times.append(seconds)
    wall = max(times) - min(times)
    n = sum(by_class.values())
    busiest = max(by_thread.values(), key=lambda counts: counts.total())
    return {"shares": {name: by_class[name] / n for name in CLASSES}, "cores_busy": n / FREQUENCY / wall,
            "busiest_thread": busiest.total() / FREQUENCY / wall,
            "busiest_thread_does": busiest.most_common(1)[0][0]}

"""What a result says about the machine that it was taken on."""

import os
import pathlib
import platform


def processor():
    """The processor's name as the kernel gives it."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def simd():
    """The widest vector instructions that the processor offers."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "unknown"
    flags = set(next((line for line in text.splitlines() if line.startswith("flags")), "").split())
    for flag, name in (("avx512_vbmi", "AVX-512 VBMI"), ("avx512bw", "AVX-512"), ("avx2", "AVX2"),
                       ("sse4_2", "SSE4.2")):
        if flag in flags:
            return name
    return "unknown"


def memory_gib():
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)


def system():
    try:
        text = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return platform.system()
    names = [line for line in text.splitlines() if line.startswith("PRETTY_NAME=")]
    return names[0].split("=", 1)[1].strip('"') if names else platform.system()


def describe():
    """As it is kept in a result: no host name, no paths."""
    return {"processor": processor(), "threads": len(os.sched_getaffinity(0)), "simd": simd(),
            "memory_gib": memory_gib(), "system": system(), "kernel": platform.release().split("-")[0],
            "load": round(os.getloadavg()[0], 2)}


def sentence(machine):
    """One line for the caption of a table."""
    return (f"{machine['processor']}, {machine['threads']} threads, {machine['simd']}, "
            f"{machine['memory_gib']} GiB, {machine['system']}")

"""Finds the programs that are measured, and installs the peers' packages where they are missing."""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Missing(RuntimeError):
    """A peer's program or package is not there and could not, or must not, be installed: nothing to compare with."""


class Broken(RuntimeError):
    """What is there does not work, or the program to measure is not there: a failure, never skipped."""


def apt_install(packages):
    """Installs packages of the distribution, with sudo where the user is not root."""
    if not shutil.which("apt-get"):
        raise Missing(f"no apt-get here; install these by their names on this system: {' '.join(packages)}")
    prefix = [] if os.geteuid() == 0 else ["sudo"]
    if prefix and not shutil.which("sudo"):
        raise Missing(f"as root, install: {' '.join(packages)}")
    print(f"installing {' '.join(packages)}", file=sys.stderr)
    for line in (["apt-get", "update"],
                 ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends",
                  *packages]):
        done = subprocess.run(prefix + line, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Missing(f"{' '.join(line)} failed: {done.stderr.strip()[-400:]}")


def has_package(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True,
                          check=False) if shutil.which("dpkg-query") else None
    return done is not None and done.stdout.endswith("ok installed")


def need(programs, may_install):
    """programs maps a program's name, or for a library its package's, to the package.

    Installs what is missing or raises Missing.
    """
    def missing():
        return {package for name, package in programs.items()
                if not (shutil.which(name) or (name == package and has_package(package)))}

    packages = sorted(missing())
    if packages and not may_install:
        raise Missing(f"not installed: {' '.join(packages)} (leave out --no-install, or use the system's packager)")
    if packages:
        apt_install(packages)
        if missing():
            raise Missing(f"still not there after installing: {' '.join(sorted(missing()))}")


def first_line(command):
    """The first line that a command writes, as programs name their version; None where there is no such program."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
    except OSError:
        return None
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[0].strip() if lines else ""


def package_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True,
                          check=False) if shutil.which("dpkg-query") else None
    return done.stdout if done is not None and done.returncode == 0 else None


def find_biogpu(named=None):
    """The program to measure: the one named, else the newest of the build and install folders, else that on PATH."""
    if named:
        path = pathlib.Path(shutil.which(named) or named)
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise Broken(f"{named}: no such program")
        return path.resolve()
    found = [ROOT / "build" / preset / "apps/biogpu/biogpu" for preset in ("cpu", "cuda", "rocm")]
    found += sorted((ROOT / "install").glob("*/bin/biogpu"))
    found = [path for path in found if path.is_file()]
    if found:
        return max(found, key=lambda path: path.stat().st_mtime)
    if shutil.which("biogpu"):
        return pathlib.Path(shutil.which("biogpu")).resolve()
    raise Broken("no biogpu: run scripts/quickstart.sh, or name one with --biogpu")


def build_driver(source, libraries, may_install, packages):
    """Compiles one of the C++ drivers of scripts/compare into build/compare; returns its path."""
    program = ROOT / "build" / "compare" / "drivers" / source.stem
    need({package: package for package in packages}, may_install)
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    print(f"building {source.name}", file=sys.stderr)
    line = [os.environ.get("CXX", "c++"), "-std=c++17", "-O3", "-DNDEBUG", "-march=native", "-w", str(source), "-o",
            f"{program}.new", *(f"-l{library}" for library in libraries), "-pthread"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Broken(f"cannot build {source.name}: {done.stderr.strip()[-600:]}")
    pathlib.Path(f"{program}.new").replace(program)
    return program


def torch_python(venv, may_install):
    """The Python of a virtual environment with scripts/reference/requirements.txt in it, made where missing."""
    python = venv / "bin" / "python"
    # Looked for, not imported: importing PyTorch takes seconds.
    probe = [str(python), "-c", "import sys; from importlib.util import find_spec; "
             "[find_spec(name).origin for name in sys.argv[1:]]", "numpy", "safetensors", "torch", "transformers"]
    if python.exists() and subprocess.run(probe, capture_output=True, check=False).returncode == 0:
        return python
    if not may_install:
        raise Missing(f"no PyTorch in {venv} (leave out --no-install, or name a folder with --venv)")
    print(f"making {venv} with PyTorch: several gigabytes", file=sys.stderr)
    requirements = ROOT / "scripts" / "reference" / "requirements.txt"
    for line in ([sys.executable, "-m", "venv", str(venv)],
                 [str(python), "-m", "pip", "install", "-q", "-r", str(requirements)]):
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Missing(f"{' '.join(line)} failed: {done.stderr.strip()[-400:]}")
    return python

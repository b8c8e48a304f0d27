#!/usr/bin/env python3
"""Packs an installed folder and the Python packages as a wheel.

usage: make_wheel.py PREFIX VERSION TAG FOLDER [HOME]      TAG: as linux_x86_64

PREFIX is what `cmake --install` made. The wheel has it as biogpu/installed: the program, its libraries under the one name
that the loader asks for, as a wheel holds no links, the converters of weights and the notices. The packages in PREFIX/share/biogpu/python
come beside it. They are the same for every Python: tag py3-none. Prints the wheel's path.
"""
import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import time
import zipfile

METADATA = """\
Metadata-Version: 2.1
Name: biogpu
Version: {version}
Summary: Sequence analysis, and models of proteins, DNA and molecules, from file to file and from numpy
License: MIT
{home}Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: Intended Audience :: Science/Research
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Bio-Informatics
Requires-Python: >=3.9
Requires-Dist: numpy>=1.22
Provides-Extra: ase
Requires-Dist: ase; extra == "ase"
Description-Content-Type: text/markdown

biogpu trims reads, counts k-mers, indexes genomes, aligns sequences, and runs models of proteins, DNA and molecules. This
wheel has the program for the CPU, as the command `biogpu`, and the packages `biogpu` and `biogpu_blocks`:

```python
import biogpu
vectors = biogpu.embed(["MKTAYIAKQR", "MLLAVLYCL"], model="esm2_t6_8M_UR50D")
kmers, counts = biogpu.count_kmers("reads.fq.gz", 21, canonical=True)
```

The licence of biogpu is MIT. The folder biogpu/installed/share/doc/biogpu/licences has the terms of the libraries that
the wheel carries.
"""

# What of an installed folder is of use in a wheel. Pages, pipelines and manual pages are in the archive.
PARTS = ("bin/biogpu", "lib/*.so.?", "lib/biogpu/*", "share/biogpu/convert/*", "share/doc/biogpu/LICENSE",
         "share/doc/biogpu/licences/**/*", "share/doc/biogpu/CITATION.cff")


class Wheel:
    """A zip with the list of its files that pip checks. The same content gives the same bytes."""

    def __init__(self, path, info):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.info = info
        self.time = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
        self.record = []

    def put(self, name, content, executable=False):
        entry = zipfile.ZipInfo(name, self.time)
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}\n")

    def close(self):
        name = f"{self.info}/RECORD"
        self.zip.writestr(zipfile.ZipInfo(name, self.time), "".join(self.record) + f"{name},,\n")
        self.zip.close()


def files_of(prefix):
    """{path in the folder: file}. Of the names of one library, which may be links, those that are asked for."""
    found = {}
    for part in PARTS:
        for path in sorted(prefix.glob(part)):
            if path.is_file():
                found[path.relative_to(prefix)] = path.resolve()
    loaded = {name for path in set(found.values()) for name in loaded_names(path)}
    return {name: path for name, path in found.items()
            if ".so" not in name.name or name.name in loaded or is_module(name.name)}


def is_module(name):
    """Modules of the program and the library of potentials, which are opened by their names."""
    return name.startswith("libbiogpu_")


def loaded_names(path):
    """The names of libraries that a file of machine code asks for."""
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return set()
    listed = subprocess.run(["objdump", "-p", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[1] for line in listed.splitlines() if line.strip().startswith("NEEDED")}


def main():
    prefix, version, tag, folder = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
    home = sys.argv[5] if len(sys.argv) > 5 else ""
    path = folder / f"biogpu-{version}-py3-none-{tag}.whl"
    wheel = Wheel(path, f"biogpu-{version}.dist-info")
    python = prefix / "share/biogpu/python"
    for source in sorted(python.rglob("*.py")):
        wheel.put(source.relative_to(python).as_posix(), source.read_bytes())
    for name, source in files_of(prefix).items():
        wheel.put(f"biogpu/installed/{name.as_posix()}", source.read_bytes(), os.access(source, os.X_OK))
    wheel.put(f"{wheel.info}/METADATA", METADATA.format(version=version, home=f"Home-page: {home}\n" if home else "").encode())
    wheel.put(f"{wheel.info}/WHEEL",
              f"Wheel-Version: 1.0\nGenerator: make_wheel.py\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode())
    wheel.put(f"{wheel.info}/entry_points.txt", b"[console_scripts]\nbiogpu = biogpu.program:main\n")
    wheel.put(f"{wheel.info}/LICENSE", (prefix / "share/doc/biogpu/LICENSE").read_bytes())
    wheel.close()
    print(path)


if __name__ == "__main__":
    main()

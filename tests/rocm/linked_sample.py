"""Opens the library of scripts/dev/rocm_build.sh --check as the program opens its module, and asks it for devices.

usage: python3 tests/rocm/linked_sample.py LIBRARY

Opening it registers the kernels of all its files with AMD's runtime. Exit status: 0 when each of its calls says why
there is no device, 1 when one does not, 77 where a card may be.
"""

import ctypes
import os
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    if os.path.exists("/dev/kfd"):
        print("a card may be here: nothing to test")
        return 77
    library = ctypes.CDLL(os.path.abspath(sys.argv[1]), mode=os.RTLD_NOW | os.RTLD_LOCAL)
    ask = library.biogpu_linked_sample
    ask.restype = ctypes.c_char_p
    lines = ask().decode().splitlines()
    print("\n".join(lines))
    failed = [line for line in lines if not line.startswith("ok ")]
    if failed or not lines:
        return 1
    print(f"{len(lines)} calls say that there is no device: {lines[0].split(': ', 1)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Imported by every converter before the packages that it needs: ends the program in one line where one is missing."""

import pathlib
import sys

try:
    import numpy  # noqa: F401
    import safetensors  # noqa: F401
    import torch  # noqa: F401
except ImportError as error:
    program = pathlib.Path(sys.argv[0]).name
    missing = error.name.split(".")[0] if error.name else str(error)
    requirements = pathlib.Path(__file__).with_name("requirements.txt")
    sys.exit(f"{program}: the Python package {missing} cannot be imported; python3 -m pip install -r {requirements}")

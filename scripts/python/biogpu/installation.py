"""Where the program and its library are: those of a wheel, of an installed folder, or of the system."""
import os
import pathlib
import shutil

LIBRARY = "libbiogpu_potential.so.1"

_PACKAGE = pathlib.Path(__file__).resolve().parent
# A wheel has an installed folder in the package; an installed folder has the package in share/biogpu/python.
_FOLDERS = [_PACKAGE / "installed", *list(_PACKAGE.parents)[3:4]]


def program():
    """The path of the program; BIOGPU names another one."""
    named = os.environ.get("BIOGPU")
    if named:
        return named
    own = [str(folder / "bin" / "biogpu") for folder in _FOLDERS]
    found = next((path for path in own if os.access(path, os.X_OK)), None) or shutil.which("biogpu")
    if found is None:
        raise FileNotFoundError("the program biogpu is not on PATH; BIOGPU can name it")
    return found


def library_name(variable):
    """The library of potentials and blocks as the loader takes it; an environment variable names another one."""
    names = [os.environ.get(variable, ""), *(str(folder / "lib" / LIBRARY) for folder in _FOLDERS)]
    return next((name for name in names if name and os.path.exists(name)), LIBRARY)

"""Whether two shell commands write the same bytes."""

import pathlib
import subprocess
import tempfile

from measure.timing import Failed


def difference(first, second, folder):
    """What cmp says of the two outputs, None where they are the same.

    Raises Failed where a command fails or writes nothing: two that fail alike would compare equal.
    """
    with tempfile.TemporaryDirectory(dir=folder) as name:
        paths = [pathlib.Path(name) / "first", pathlib.Path(name) / "second"]
        for command, path in zip((first, second), paths):
            with open(path, "wb") as out:
                done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, stdout=out,
                                      stderr=subprocess.PIPE, check=False)
            if done.returncode != 0:
                message = done.stderr.decode(errors="replace").strip()[-300:]
                raise Failed(f"{command}: status {done.returncode}: {message}")
            if path.stat().st_size == 0:
                raise Failed(f"{command}: wrote nothing")
        done = subprocess.run(["cmp", "first", "second"], cwd=name, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return None
        return (done.stdout + done.stderr).strip()[-300:]

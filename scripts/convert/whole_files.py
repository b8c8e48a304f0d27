"""Files of a folder that get their names together, when all are written. Needs the standard library alone."""

import contextlib


def write(folder, files, fail, stale=()):
    """files: by name, a text or a function that writes to a path. config.json is replaced last, and is away while the others
    are replaced: a folder that is cut short has no model. stale: patterns of names that biogpu reads as parts of the model;
    such files of an earlier model are removed. fail(path, what) ends the program."""
    partial = {name: folder / f"{name}.partial" for name in files}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            for name, content in files.items():
                if callable(content):
                    content(partial[name])
                    partial[name].chmod(0o644)
                else:
                    partial[name].write_text(content, encoding="utf-8")
            if "config.json" in files:
                (folder / "config.json").unlink(missing_ok=True)
            for path in [path for pattern in stale for path in folder.glob(pattern) if path.name not in files]:
                path.unlink(missing_ok=True)
            for name in sorted(files, key="config.json".__eq__):
                partial[name].replace(folder / name)
        finally:
            for path in partial.values():
                with contextlib.suppress(OSError):
                    path.unlink()
    except OSError as error:
        fail(folder, error.strerror or str(error))

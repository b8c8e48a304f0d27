"""What each kernel takes of AMD's cards: the compiler's remarks as a result, and its tables.

usage: python3 scripts/measure/kernel_resources.py TARGET=LOG ...
  TARGET  gfx90a or gfx942
  LOG     messages of clang with -Rpass-analysis=kernel-resource-usage, those of each file behind a line that ends
          in its name: of scripts/dev/compile_check.sh (BIOGPU_RESOURCES) or of ninja

Writes scripts/bench/results/gfx942/kernel_resources.jsonl, one kernel and target a line; what it holds of
other targets stays, and of kernel files that the logs do not name but that are still there.
"""

import pathlib
import re
import subprocess
import sys

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import result_files
from measure.text import table

NAME = "gfx942/kernel_resources.jsonl"
KEYS = {"SGPRs": "sgprs", "TotalSGPRs": "sgprs", "VGPRs": "vgprs", "AGPRs": "agprs", "ScratchSize": "scratch_bytes",
        "Occupancy": "waves", "VGPRs Spill": "vgprs_spilled", "LDS Size": "shared_bytes"}
REMARK = re.compile(r"remark: +([A-Za-z ]+?)(?: \[[^]]*\])?: ([^ ]+) \[-Rpass-analysis=kernel-resource-usage\]")
FILE = re.compile(r"(?:^|[ /])gpu/(?:CMakeFiles/biogpu_gpu\.dir/)?(\S+\.hip)(?:\.o)?$")


def read_log(target, text):
    """A row a kernel, and the files; kernels of libraries that several files hold are told once."""
    rows, files, file = {}, set(), ""
    row = {}
    for line in text.splitlines():
        found = REMARK.search(line)
        if found is None:
            name = FILE.search(line)
            file = name[1] if name else file
            files.add(file)
        elif found[1] == "Function Name":
            row = rows.setdefault(found[2], {"target": target, "file": file, "name": found[2]})
        elif found[1] in KEYS:
            row[KEYS[found[1]]] = int(found[2])
    return list(rows.values()), files


def short_names(symbols):
    """Names without what all share, nor parameters."""
    text = subprocess.run(["c++filt", "-p"], input="\n".join(symbols), check=True, text=True, capture_output=True)
    return {symbol: re.sub(r"\(anonymous namespace\)::|biogpu::gpu::|^void ", "", name)
            for symbol, name in zip(symbols, text.stdout.splitlines())}


def limit_of(row):
    """What keeps more waves from a SIMD: 512 registers a lane, or 64 KB of shared memory a block's compute unit."""
    registers = (row["vgprs"] + 3) // 4 * 4 + row["agprs"] if row["agprs"] else row["vgprs"]
    by_registers = min(8, 512 // max(8, (registers + 7) // 8 * 8))
    return "registers" if row["waves"] >= by_registers else "shared memory"


def kernel_resources(rows):
    """Of each file the most that one of its kernels takes, on both targets."""
    targets = sorted({row["target"] for row in rows})
    lines = []
    for file in sorted({row["file"] for row in rows}):
        of_file = [row for row in rows if row["file"] == file]
        by_target = [[row for row in of_file if row["target"] == target] for target in targets]

        def of_each(choose, key, by_target=by_target):
            return " / ".join(f"{choose(row[key] for row in some):,}" if some else "-" for some in by_target)

        lines.append([f"`{file}`", str(len({row["name"] for row in of_file})), of_each(max, "vgprs"), of_each(max, "agprs"),
                      of_each(max, "shared_bytes"), of_each(min, "waves")])
    heading = " / ".join(targets)
    return table(["file", "kernels", f"most VGPRs: {heading}", "most AGPRs", "most shared bytes", "fewest waves"], lines, "lrrrrr")


def tight_kernels(rows):
    """Each kernel that spills vector registers, or of which fewer than two waves fit on a SIMD."""
    some = [row for row in rows if row["vgprs_spilled"] > 0 or row["waves"] < 2]
    lines = [[f"`{row['name']}`", f"`{row['file']}`", row["target"], str(row["vgprs"]), str(row["agprs"]),
              f"{row['shared_bytes']:,}", str(row["waves"]), str(row["vgprs_spilled"]), limit_of(row)] for row in some]
    return table(["kernel", "file", "target", "VGPRs", "AGPRs", "shared bytes", "waves", "spilled", "limited by"], lines,
                 "lllrrrrrl")


def main():
    if len(sys.argv) < 2 or not all("=" in word for word in sys.argv[1:]):
        sys.exit(__doc__.split("\n\n")[1])
    rows, compiled = [], set()
    for word in sys.argv[1:]:
        target, path = word.split("=", 1)
        found, files = read_log(target, pathlib.Path(path).read_text(encoding="utf-8", errors="replace"))
        rows += found
        compiled |= {(target, file) for file in files}
    names = short_names(sorted({row["name"] for row in rows}))
    for row in rows:
        row["name"] = names[row["name"]]
    path = result_files.FOLDER / NAME
    new = {(row["target"], row["name"]) for row in rows}
    if path.exists():
        rows += [row for row in result_files.load(NAME)
                 if (row["target"], row["file"]) not in compiled and (row["target"], row["name"]) not in new
                 and (result_files.ROOT / "gpu" / row["file"]).exists()]
    rows.sort(key=lambda row: (row["file"], row["name"], row["target"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(result_files.text_of(path.name, rows), encoding="utf-8")
    print(f"{len(rows)} kernels in {path.relative_to(result_files.ROOT)}")


if __name__ == "__main__":
    main()

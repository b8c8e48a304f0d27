"""Tables of what scripts/bench/infer_tracks.py, infer_potential.py and roofline.py write."""

from measure.text import table, times


def tracks_fidelity(*results):
    """The worst difference of all tracks from the peer in double precision: of two windows, but of one for the peer in tf32 and bf16."""
    rows = []
    for result in results:
        peer, modes = tracks_peer(result)
        both = result["equal"]
        less = {f"{peer} {mode}": row for mode, row in modes.items() if mode != "fp32" and "least_cosine" in row}
        ours = {f"biogpu {mode}": row for mode, row in both.items() if "pytorch" not in mode}
        rows += [[result["model"].capitalize(), name, f"{row['worst_of_range']:.1e}", f"{row['least_cosine']:.8f}"]
                 for name, row in {f"{peer} fp32": both[f"{peer} fp32"], **less, **ours}.items()]
    return table(["model", "computed by", "largest difference, of the track's range", "least cosine about the mean"], rows, "llrr")


def tracks_peer(result):
    name, = (key for key in result if key.endswith("_pytorch"))
    return name.replace("_", "-"), result[name]


def tracks_times(*results):
    """A window, and a substitution with reuse, by device time; memory is the largest use of the device."""
    rows = []
    for result in results:
        model = result["model"].capitalize()
        peer, peer_rows = tracks_peer(result)
        rows += [[model, f"{peer} {mode}", f"{row['ms']:.1f}", "", "", "", f"{row['peak_bytes'] / 1e9:.2f}"]
                 for mode, row in peer_rows.items() if "ms" in row]
        for mode, row in result["biogpu"].items():
            variant = row["reuse_device_ms_a_variant"]
            rows.append([model, f"biogpu {mode}", f"{row['device_ms_a_window']:.1f}", f"{variant:.1f}",
                         times(row["two_windows_over_a_variant"]), times(2 * peer_rows["fp32"]["ms"] / variant),
                         f"{row['peak_bytes'] / 1e9:.2f}"])
    return table(["model", "computed by", "a window, ms", "a substitution, ms", "speedup over two windows",
                  "over two of the peer in fp32", "memory, GB"], rows, "llrrrrr")


def track_road(result, before):
    """Of scripts/bench/track_road.py: a window from file to file, and what it was before a change."""
    def row(case, earlier):
        return [case["format"], f"{case['bytes'] / 1e6:.1f}", f"{1e3 * case['gpu_s']:.1f}", f"{1e3 * case['wall_s']:.1f}",
                f"{case['ratio']:.2f}", f"{1e3 * earlier['wall_s']:.1f}"]

    return table(["format", "MB a window", "device, ms", "in all, ms", "in all / device", "in all before, ms"],
                 [row(*cases) for cases in zip(result["cases"], before["cases"])], "lrrrrr")


def alphagenome_times(result):
    """Of scripts/compare/alphagenome.py: a window of all heads by the port's passes and on the device, and from file to file."""
    rows = [[f"alphagenome-pytorch {mode}", f"{1e3 * row['s']:.0f}", "", f"{row['peak_bytes'] / 1e9:.1f}", ""]
            for mode, row in result["times"]["port"].items() if "s" in row]
    for precision, row in result["times"]["biogpu"].items():
        heads = result["precisions"][precision].values()
        rows.append([f"biogpu {precision}", f"{1e3 * row['window_gpu_s']:.0f}", f"{row['window_wall_s']:.2f}",
                     f"{row['memory']['peak_device_bytes'] / 1e9:.1f}", f"{min(head['cosine'] for head in heads):.7f}"])
    return table(["computed by", "a window on the device, ms", "from file to file, s", "device memory, GB",
                  "least cosine of a head with the port in fp32"], rows, "lrrrr")


def variant_windows(*results):
    """Of scripts/bench/variant_windows.py: what a window's first and each further substitution takes."""
    return table(["bases of the window", "scorers", "start to first result, s", "first variant, s", "further variant, ms",
                  "of it on the device, ms", "without reuse, ms"],
                 [[f"{result['window']:,}", result["scorers"].replace(",", ", "), f"{result['first_result_s']:.1f}",
                   f"{result['first_variant_s']:.2f}", f"{1e3 * result['further_variant_s']:.0f}",
                   f"{1e3 * result['further_variant_gpu_s']:.0f}",
                   f"{1e3 * result['further_variant_without_reuse_s']:.0f}"] for result in results], "llrrrrr")


def variant_rate(result):
    """Of scripts/bench/variant_rate.py: a VCF of clustered variants on one device and on several."""
    return table(["devices", "in all, s", "of it passes, s", "variants an hour, in all", "times the first"],
                 [[device, f"{run['wall_s']:.1f}", f"{run['compute_s']:.1f}", f"{run['variants_per_hour']:,.0f}",
                   f"{run['times_the_first']:.2f}"] for device, run in result["runs"].items()], "lrrrr")


def potential_times(result):
    """Energies and forces in fp32; torchmd-net runs plain PyTorch on edges that cost it nothing."""
    rows = []
    measured = [*result["ladder"], *([result["batch"]] if "batch" in result else [])]
    on_gpu = any("biogpu_device_s" in row for row in measured)
    for row in measured:
        theirs = row["torchmdnet_s"]
        known = isinstance(theirs, float)
        rows.append([row["case"].replace(".pdb.gz", ""), f"{row['forces_difference']:.0e}" if known else "",
                     f"{1e3 * row['biogpu_s']:.2f}", *([f"{1e3 * row['biogpu_device_s']:.2f}"] if on_gpu else []),
                     f"{1e3 * theirs:.1f}" if known else theirs,
                     times(theirs / row["biogpu_s"]) if known else ""])
    heads = ["atoms", "difference of forces, of the largest", "biogpu, ms", *(["on the GPU, ms"] if on_gpu else []), "torchmd-net, ms",
             "speedup"]
    return table(heads, rows, "l" + "r" * (len(heads) - 1))


def potential_exact(result):
    """Forces and energies against torchmd-net in double precision."""
    rows = []
    for row in [*result["ladder"], *([result["batch"]] if "batch" in result else [])]:
        if "exact" in row:
            ours, theirs = row["exact"]["fp32"], row["exact"]["torchmdnet_fp32"]
            rows.append([row["case"].replace(".pdb.gz", ""),
                         f"{row['exact']['fp64']['forces']:.0e}" if "fp64" in row["exact"] else "",
                         *(f"{one['forces']:.0e}" for one in (ours, theirs)),
                         *(f"{one['energy']:.0e}" for one in (ours, theirs)), f"{ours['energy_kcal_mol']:.0e}"])
    return table(["atoms", "forces: biogpu fp64", "biogpu fp32", "torchmd-net fp32", "energy: biogpu fp32", "torchmd-net fp32",
                  "biogpu fp32, kcal/mol"], rows, "lrrrrrr")


def potential_published(result):
    """A published model against its original in double precision; differences of forces are of the largest one."""
    heads = {"energy": "energy, eV an atom", "forces": "forces", "stress": "stress, GPa"}
    columns = [(mode, what) for mode in ("fp64", "fp32") for what in heads if any(what in row[mode] for row in result["systems"])]
    rows = [[row["system"], f"{row['atoms']:,}", f"{row['largest_force_eV_by_A']:.2f}",
             *(f"{row[mode][what]:.0e}" if what in row[mode] else "" for mode, what in columns)] for row in result["systems"]]
    return table(["system", "atoms", "largest force, eV/A", *(f"{mode}: {heads[what]}" for mode, what in columns)],
                 rows, "lrr" + "r" * len(columns))


def potential_operations(*results):
    """Operations against torchmd-net's expressions in eager PyTorch, by the time of an edge or an atom."""
    rows = [row for result in results for row in result["operations"]]
    sizes = sorted({row["atoms"] for row in rows})
    names = list(dict.fromkeys(row["operation"] for row in rows))
    return table(["operation", *(f"{n:,} atoms" for n in sizes)],
                 [[name, *(times(next(row for row in rows if (row["operation"], row["atoms"]) == (name, n))["eager_by_biogpu"])
                           for n in sizes)] for name in names], "l" + "r" * len(sizes))


def crystal_lattices(result):
    """Lattice constants in Angstrom where the stress is 0."""
    return table(["crystal", "matgl 2.0.4, double precision", f"biogpu, {result['precision']}", "experiment"],
                 [[name, f"{row['matgl_A']:.7f}", f"{row['lattice_constant_A']:.7f}", f"{row['experiment_A']:.3f}"]
                  for name, row in result["lattice"]["crystals"].items()], "lrrr")


def energy_drift(result):
    """The total energy of dynamics at constant energy: its slope by time and its standard deviation."""
    drift = result["drift"]
    return table(["atoms of Si", "steps", "step, fs", "mean temperature, K", "slope, eV per atom and ps", "standard deviation, eV per atom"],
                 [[drift["atoms"], f"{drift['steps']:,}", f"{drift['timestep_fs']:.0f}", f"{drift['temperature_K']:.0f}",
                   f"{drift['slope_eV_per_atom_and_ps']:.0e}", f"{drift['deviation_eV_per_atom']:.0e}"]], "rrrrrr")


def kernel_shares(result):
    """The kernels of a pass that take most of its time, by Nsight Compute."""
    return table(["kernel", "us", "launches", "of the time", "matrix cores", "memory", "roofline"],
                 [[f"`{row['kernel']}`", f"{row['us']:.0f}", row["launches"], f"{100 * row['share']:.1f} %",
                   *(f"{100 * row[key]:.0f} %" for key in ("tensor", "memory", "roofline"))] for row in result["kernels"]],
                 "lrrrrrr")

#!/usr/bin/env python3
"""Writes the Nextflow modules of modules.toml in nf-core's form: main.nf, meta.yml, environment.yml and tests of each.

usage: make_modules.py BIOGPU FOLDER      writes FOLDER/align, FOLDER/bwtindex, ...

The version, the description of a command and whether it takes --threads, --device and --shard come from BIOGPU. The
snapshots of stubs are what the stubs make when they are run here; those of nf-test have the same content.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from hashlib import md5
from pathlib import Path
from zlib import MAX_WBITS, decompress

sys.dont_write_bytecode = True
from process import Process  # noqa: E402

SAMPLE = "id:'test'"
META = f"Groovy map with what is known of a sample, e.g. [ {SAMPLE} ]"
VERSION = "biogpu --version | sed '1!d;s/biogpu //'"
SCHEMAS = "https://raw.githubusercontent.com/nf-core/modules/master/modules"
DATA = "params.modules_testdata_base_path"


def indented(lines, indent):
    return "".join(f"{' ' * indent}{line}".rstrip() + "\n" for line in lines)


def quoted(text):
    return f'"{text}"'


def manual(biogpu, command):
    """Version, description and long options of a command, from its manual page."""
    page = subprocess.run([biogpu, "man", *command.split()], capture_output=True, text=True, check=True).stdout
    page = page.replace("\\-", "-")
    version = re.search(r'"biogpu ([^"]+)"', page)[1]
    description = re.search(r'^\.SH NAME\n\S+ - (.+)$', page, re.M)[1]
    return version, description[0].upper() + description[1:], set(re.findall(r"\\fB(--[a-z][\w-]*)\\fR", page))


def home_page():
    """The project's page, from the one place that has it; empty where there is none yet."""
    place = Path(__file__).resolve().parents[2] / "packaging" / "project.sh"
    if "BIOGPU_HOME" in os.environ or not place.exists():
        return os.environ.get("BIOGPU_HOME", "")
    return re.search(r"^BIOGPU_HOME=\$\{BIOGPU_HOME:-(.*)\}$", place.read_text(encoding="utf-8"), re.M)[1]


class Module:
    def __init__(self, biogpu, name, definition, kinds):
        self.name, self.of, self.command = name, definition, definition["command"]
        self.kinds = {**kinds, "values": {**kinds["values"], **definition.get("values", {})}}
        self.version, description, options = manual(biogpu, self.command)
        self.description = definition.get("text", description)
        self.process = f"BIOGPU_{name.upper()}"
        self.inputs = [*definition["inputs"], *(["shard"] if "--shard" in options else [])]
        # qc has fastp's name for its threads.
        threads = "--threads" if "--threads" in options else "--thread"
        has_resources = definition.get("label", "single") != "single" and definition.get("threads", True)
        self.options = list(definition.get("options", []))
        if has_resources and threads in options:
            self.options.append(f"{threads} ${{task.cpus}}")
        self.on_device = has_resources and "--device" in options
        if self.on_device:
            self.options.append("--device ${device}")
        if "shard" in self.inputs:
            self.options.append("${shard_option}")

    def groups(self):
        """(name of the sample's map or None, names of files or of one value) of each input."""
        n_samples = 0
        for names in self.inputs:
            if names.startswith("!"):
                yield None, [names[1:]]
            elif names in self.kinds["values"]:
                yield None, [names]
            else:
                n_samples += 1
                yield "meta" if n_samples == 1 else f"meta{n_samples}", names.split()

    def files(self):
        return [name for _, names in self.groups() for name in names if name in self.kinds["files"]]

    def outputs(self):
        """(name, pattern, whether it may be absent, description) of each."""
        for name, (pattern, *text) in self.of["outputs"].items():
            yield name, pattern.removeprefix("?"), pattern.startswith("?"), text[0] if text else self.description

    def script(self, stub):
        """The Groovy and shell text of script: or stub:."""
        # An output that is named by prefix needs it outside of the script.
        scope = "" if any("${prefix}" in pattern for _, pattern, *_ in self.outputs()) else "def "
        lines = [] if stub else ["def args = task.ext.args ?: ''"]
        lines.append(scope + 'prefix = task.ext.prefix ?: "${meta.id}"')
        if not stub and self.on_device:
            lines.append("def device = task.accelerator ? 'gpu' : 'cpu'")
        if not stub and "shard" in self.inputs:
            lines.append("def shard_option = shard ? \"--shard ${shard}\" : ''")
        lines += self.of.get("define_stub" if stub else "define", "").strip().splitlines()
        return indented(lines, 4) + indented(['"""', *(self.stub_lines() if stub else self.shell_lines()), '"""'], 4)

    def shell_lines(self):
        lines = list(self.of.get("before", []))
        if "index" in self.of:
            lines += [f'INDEX=`find -L ./ -name "*.{self.of["index"]}" | sed \'s/\\\\.{self.of["index"]}\\$//\'`', ""]
        words = [f"    {word}" for word in (*self.options, "${args}", *self.of["arguments"])]
        return [*lines, f"biogpu {self.command} \\\\", *(f"{word} \\\\" for word in words[:-1]), words[-1],
                *self.of.get("then", [])]

    def stub_lines(self):
        made = [word for argument in self.of["arguments"] for word in argument.split() if word.startswith("${prefix}")]
        return self.of.get("stub", [f"touch {' '.join(made)}"])

    def image(self, kind):
        registry = os.environ.get("BIOGPU_REGISTRY", self.kinds["container"]["registry"])
        return f"{registry}/biogpu:{self.version}-{kind}"

    def container(self):
        """Singularity takes an image of the own machine from Docker's daemon."""
        def choice(before):
            one = [f"'{before}{self.image(kind)}'" for kind in ("cuda", "cpu")]
            return f"(task.accelerator ? {one[0]} : {one[1]})" if self.on_device else one[1]

        is_local = self.image("cpu").startswith("localhost/")
        return ("\"${ workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container ?\n"
                f"        {choice('docker-daemon://' if is_local else 'docker://')} :\n        {choice('')} }}\"")

    def main_nf(self):
        inputs = []
        for sample, names in self.groups():
            kind = "val" if names[0] in self.kinds["values"] else "path"
            inputs.append(f"tuple val({sample}), {', '.join(f'path({name})' for name in names)}" if sample
                          else f"{kind} {names[0]}")
        outputs = []
        for name, pattern, is_optional, _ in self.outputs():
            quote = '"' if "$" in pattern else "'"
            outputs.append(f"tuple val(meta), path({quote}{pattern}{quote}){', optional: true' if is_optional else ''}, emit: {name}")
        return (f"process {self.process} {{\n    tag \"$meta.id\"\n    label 'process_{self.of.get('label', 'single')}'\n\n"
                f"    conda \"${{moduleDir}}/environment.yml\"\n    container {self.container()}\n\n"
                f"    input:\n{indented(inputs, 4)}\n    output:\n{indented(outputs, 4)}"
                "    tuple val(\"${task.process}\"), val('biogpu'), "
                f"eval(\"{VERSION}\"), topic: versions, emit: versions_biogpu\n\n"
                "    when:\n    task.ext.when == null || task.ext.when\n\n"
                f"    script:\n{self.script(stub=False)}\n    stub:\n{self.script(stub=True)}}}\n")

    def meta_yml(self):
        def file(indent, name, text, pattern, edam):
            terms = [f'  - edam: "http://edamontology.org/{term}"' for term in edam]
            return indented([f"{name}:"], indent) + indented(
                ["type: file", f'description: "{text}"', f'pattern: "{pattern}"', *(["ontologies:", *terms] if terms else ["ontologies: []"])],
                indent + 4)

        def listed(text, indent):
            """The first line of an entry becomes an item of a list."""
            return f"{' ' * indent}- {text.lstrip()}"

        inputs = ""
        for meta, names in self.groups():
            if names[0] in self.kinds["values"]:
                kind, text, _ = self.kinds["values"][names[0]]
                inputs += f"  - {names[0]}:\n" + indented([f"type: {kind}", f'description: "{text}"'], 6)
                continue
            if meta:
                inputs += f"  - - {meta}:\n" + indented(["type: map", f'description: "{META}"'], 8)
            for name in names:
                of = self.kinds["files"][name]
                entry = file(4 if meta else 2, name, of["text"], of["pattern"], of["edam"])
                inputs += listed(entry, 4 if meta else 2)
        outputs = ""
        for name, pattern, _, text in self.outputs():
            outputs += f"  {name}:\n    - - meta:\n" + indented(["type: map", f'description: "{META}"'], 10)
            key = pattern if re.fullmatch(r"\w+", pattern) else quoted(pattern)
            outputs += listed(file(6, key, text, pattern, []), 6)
        versions = ""
        for i, (name, kind, text) in enumerate((("${task.process}", "string", "The process"), ("biogpu", "string", "The tool"),
                                                (quoted(VERSION), "eval", "The command that prints its version"))):
            versions += f"    {'- -' if i == 0 else '  -'} {name}:\n" + indented([f"type: {kind}", f'description: "{text}"'], 10)
        page = home_page()
        address = [f'homepage: "{page}"', f'documentation: "{page}"', f'tool_dev_url: "{page}"'] if page else []
        tool = indented(['description: "Sequence analysis on CPUs and GPUs"', 'args_id: "$args"', *address,
                         'doi: "no DOI available"', 'licence: ["MIT"]', 'identifier: ""'], 6)
        return (f"# yaml-language-server: $schema={SCHEMAS}/meta-schema.json\n"
                f'name: "{self.process.lower()}"\ndescription: "{self.description}"\nkeywords:\n'
                f"{indented((f'- {word}' for word in self.of['keywords']), 2)}"
                f"tools:\n  - biogpu:\n{tool}input:\n{inputs}output:\n{outputs}"
                f"  versions_biogpu:\n{versions}topics:\n  versions:\n{versions}"
                'authors:\n  - "The biogpu authors"\nmaintainers:\n  - "The biogpu authors"\n')

    def environment_yml(self):
        return (f"---\n# yaml-language-server: $schema={SCHEMAS}/environment-schema.json\n"
                f"channels:\n  - conda-forge\n  - bioconda\ndependencies:\n  - bioconda::biogpu={self.version}\n")

    def makers(self):
        """The modules whose outputs the tests take as inputs."""
        return sorted({self.kinds["files"][name]["from"] for name in self.files() if "from" in self.kinds["files"][name]})

    def input_lines(self, of_test=True):
        """The lines that set input[0], input[1], ... of a test."""
        lines = []
        for i, (sample, names) in enumerate(self.groups()):
            if names[0] in self.kinds["values"]:
                lines.append(f"input[{i}] = {self.kinds['values'][names[0]][2]}")
                continue
            paths = []
            for name in names:
                of = self.kinds["files"][name]
                if "from" in of and of_test:
                    maker = self.kinds["made"][of["from"]]
                    output = next(iter(maker.of["outputs"])) if of["from"] != "qc" else "part"
                    paths.append(f"{maker.process}.out.{output}")
                else:
                    paths.append(f"file({DATA} + '{of['data']}', checkIfExists: true)" if "data" in of else "[]")
            if sample and len(names) == 1 and ".out." in paths[0]:
                lines.append(f"input[{i}] = {paths[0]}")
            elif sample and any(".out." in path for path in paths):
                joined = ", ".join(path for path in paths if ".out." not in path)
                made = next(path for path in paths if ".out." in path)
                lines.append(f"input[{i}] = {made}.map {{ meta, made -> [ meta, made, {joined} ] }}")
            else:
                lines.append(f"input[{i}] = [ [ {self.of.get('meta', SAMPLE)} ], {', '.join(paths)} ]" if sample else f"input[{i}] = {paths[0]}")
        return lines

    def setup(self):
        text = ""
        for name in self.makers():
            maker = self.kinds["made"][name]
            text += (f'            run("{maker.process}") {{\n                script "../../{name}/main.nf"\n                process {{\n'
                     f'                    """\n{indented(maker.input_lines(False), 20)}                    """\n                }}\n            }}\n')
        return f"        setup {{\n{text}        }}\n\n" if text else ""

    def test(self, name):
        is_stub = name.endswith("- stub")
        if is_stub:
            checks = ["process.success", "snapshot(sanitizeOutput(process.out)).match()"]
        else:
            checks = ["process.success", *(f"process.out.{output}.size() == 1" for output, _, is_optional, _ in self.outputs() if not is_optional),
                      "snapshot(process.out.findAll { key, val -> key.startsWith('versions') }).match()"]
        asserted = ",\n".join(f"                {{ assert {check} }}" for check in checks)
        options = '        options "-stub"\n\n' if is_stub else ""
        return (f'    test("{name}") {{\n\n{options}{self.setup()}        when {{\n            process {{\n                """\n'
                f'{indented(self.input_lines(), 16)}                """\n            }}\n        }}\n\n        then {{\n'
                f"            assertAll(\n{asserted}\n            )\n        }}\n    }}\n")

    def test_names(self):
        data = self.of.get("data")
        return [data, f"{data} - stub"] if data else ["no data - stub"]

    def main_nf_test(self):
        tests = "\n".join(self.test(name) for name in self.test_names())
        tags = ["modules", "modules_nfcore", "biogpu", f"biogpu/{self.name}", *(f"biogpu/{name}" for name in self.makers())]
        config = '    config "./nextflow.config"\n' if self.of.get("from_args") else ""
        return (f'nextflow_process {{\n\n    name "Test Process {self.process}"\n    script "../main.nf"\n'
                f'    process "{self.process}"\n{config}\n{indented((f"tag {quoted(tag)}" for tag in tags), 4)}\n{tests}}}\n')

    def config(self):
        """The options of a maker for the tests of this module; empty where none are needed."""
        if not self.of.get("from_args"):
            return ""
        return indented([f"process {{ withName: '{self.kinds['made'][maker].process}' {{ ext.args = '{self.of['from_args']}' }} }}"
                         for maker in self.makers()], 0)

    def snapshot(self):
        """What the tests find: files of the stub, and the version."""
        versions = {"versions_biogpu": [[self.process, "biogpu", self.version]]}
        snapshots = {}
        for name in self.test_names():
            is_stub = name.endswith("- stub")
            snapshots[name] = {"content": [{**self.stub_files(), **versions} if is_stub else versions]}
        return json.dumps(snapshots, indent=4) + "\n"

    def stub_files(self):
        values = {name: value[2].strip("'") for name, value in self.kinds["values"].items()}
        values |= {"discard_trimmed_pass": False, "save_trimmed_fail": True, "save_merged": False}
        sample = {"id": "test"} | ({"single_end": True} if "single_end" in self.of.get("meta", "") else {})
        task = {"ext": {}, "cpus": 1, "accelerator": None, "memory": None}
        files = {name: "input" for name in self.files()}
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            shell, patterns = Process(self.main_nf()).evaluate("stub", {"meta": sample, "task": task, **values, **files})
            subprocess.run(["bash", "-euc", shell], cwd=folder, check=True)
            for name, pattern in sorted(patterns.items()):
                paths = matching(Path(folder), pattern)
                texts = [[digest(path) for path in sorted(one.iterdir())] if one.is_dir() else digest(one) for one in paths]
                found[name] = [[sample, texts[0] if len(texts) == 1 else texts]] if texts else []
        return found


def matching(folder, pattern):
    """The files of a pattern of Nextflow: braces hold choices."""
    choice = re.search(r"\{([^}]*)\}", pattern)
    patterns = [pattern.replace(choice[0], one) for one in choice[1].split(",")] if choice else [pattern]
    return sorted({path for one in patterns for path in folder.glob(one)})


def digest(path):
    """A file in a snapshot of nf-test: its name and the sum of its text."""
    data = path.read_bytes()
    return f"{path.name}:md5,{md5(decompress(data, MAX_WBITS | 16) if path.suffix == '.gz' else data).hexdigest()}"


def main():
    biogpu, folder = sys.argv[1:]
    kinds = tomllib.loads(Path(__file__).with_name("modules.toml").read_text(encoding="utf-8"))
    kinds["made"] = {}
    for name, definition in kinds["modules"].items():
        kinds["made"][name] = Module(biogpu, name, definition, kinds)
    for name, module in kinds["made"].items():
        for file, text in (("main.nf", module.main_nf()), ("meta.yml", module.meta_yml()), ("environment.yml", module.environment_yml()),
                           ("tests/main.nf.test", module.main_nf_test()), ("tests/main.nf.test.snap", module.snapshot()),
                           ("tests/nextflow.config", module.config())):
            if text:
                path = Path(folder) / name / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

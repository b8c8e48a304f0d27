#!/usr/bin/env python3
"""Writes the Nextflow modules of modules.toml in nf-core's form: main.nf, meta.yml, environment.yml and a test of each.

usage: make_modules.py BIOGPU FOLDER      writes FOLDER/align, FOLDER/bwt/count, ...

The version, the description of a command and whether it takes --threads, --device and --shard come from BIOGPU.
"""
import re
import subprocess
import sys
import tomllib
from pathlib import Path

SAMPLE = "id:'test'"
META = f"Groovy map with what is known of a sample, as [ {SAMPLE} ]"
VERSION = "biogpu --version | sed -n '1s/biogpu //p'"


def indented(lines, indent):
    return "".join(f"{' ' * indent}{line}".rstrip() + "\n" for line in lines)


def manual(biogpu, command):
    """Version, description and long options of a command, from its manual page."""
    page = subprocess.run([biogpu, "man", *command.split()], capture_output=True, text=True, check=True).stdout
    page = page.replace("\\-", "-")
    version = re.search(r'"biogpu ([^"]+)"', page)[1]
    description = re.search(r'^\.SH "NAME"\n\S+ - (.+)$', page, re.M)[1]
    return version, description[0].upper() + description[1:], set(re.findall(r"\\fB(--[a-z][\w-]*)\\fR", page))


class Module:
    def __init__(self, biogpu, command, definition, kinds):
        self.command, self.of = command, definition
        self.kinds = {**kinds, "values": {**kinds["values"], **definition.get("values", {})}}
        self.version, self.description, options = manual(biogpu, command)
        self.path = command.replace("-", "").replace(" ", "/")
        self.process = "BIOGPU_" + self.path.replace("/", "_").upper()
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

    def script(self, stub):
        """The Groovy and shell text of script: or stub:."""
        # An output that is named by prefix needs it outside of the script.
        scope = "" if any("${prefix}" in pattern for pattern, *_ in self.of["outputs"].values()) else "def "
        lines = [] if stub else ["def args = task.ext.args ?: ''"]
        lines.append(scope + 'prefix = task.ext.prefix ?: "${meta.id}"')
        if "suffix" in self.of:
            lines.append(f"def suffix = task.ext.suffix ?: '{self.of['suffix']}'")
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
        return [*lines, f"biogpu {self.command} \\\\", *(f"{word} \\\\" for word in words[:-1]), words[-1]]

    def stub_lines(self):
        made = [word for argument in self.of["arguments"] for word in argument.split() if word.startswith("${prefix}")]
        return self.of.get("stub", [f"touch {' '.join(made)}"])

    def main_nf(self):
        cuda = f"\"${{task.accelerator ? 'biogpu:{self.version}-cuda' : 'biogpu:{self.version}-cpu'}}\""
        inputs = []
        for sample, names in self.groups():
            kind = "val" if names[0] in self.kinds["values"] else "path"
            inputs.append(f"tuple val({sample}), {', '.join(f'path({name})' for name in names)}" if sample
                          else f"{kind} {names[0]}")
        outputs = []
        for name, (pattern, *_) in self.of["outputs"].items():
            quote = '"' if "$" in pattern else "'"
            outputs.append(f"tuple val(meta), path({quote}{pattern}{quote}), emit: {name}")
        return (f"process {self.process} {{\n    tag \"$meta.id\"\n    label 'process_{self.of.get('label', 'single')}'\n\n"
                "    conda \"${moduleDir}/environment.yml\"\n"
                f"    container {cuda if self.on_device else repr(f'biogpu:{self.version}-cpu')}\n\n"
                f"    input:\n{indented(inputs, 4)}\n    output:\n{indented(outputs, 4)}"
                "    tuple val(\"${task.process}\"), val('biogpu'), "
                f"eval(\"{VERSION}\"), topic: versions, emit: versions_biogpu\n\n"
                "    when:\n    task.ext.when == null || task.ext.when\n\n"
                f"    script:\n{self.script(stub=False)}\n    stub:\n{self.script(stub=True)}}}\n")

    def meta_yml(self):
        def file(indent, name, text, pattern, edam=""):
            ontologies = ["ontologies:", f'  - edam: "http://edamontology.org/{edam}"'] if edam else ["ontologies: []"]
            return indented([f"{name}:"], indent) + indented(
                ["type: file", f'description: "{text}"', f'pattern: "{pattern}"', *ontologies], indent + 4)

        def listed(text, indent):
            """The first line of an entry becomes an item of a list."""
            return f"{' ' * indent}- {text.lstrip()}"

        sample = indented(["type: map", f'description: "{META}"'], 8)
        inputs = ""
        for meta, names in self.groups():
            if meta:
                inputs += f"  - - {meta}:\n{sample}"
                for name in names:
                    text, pattern, edam, _ = self.kinds["files"][name]
                    inputs += listed(file(4, name, text, pattern, edam), 4)
            elif names[0] in self.kinds["values"]:
                inputs += f"  - {names[0]}:\n" + indented(
                    ["type: string", f'description: "{self.kinds["values"][names[0]][0]}"'], 6)
            else:
                text, pattern, edam, _ = self.kinds["files"][names[0]]
                inputs += listed(file(2, names[0], text, pattern, edam), 2)
        outputs = ""
        for name, (pattern, *text) in self.of["outputs"].items():
            outputs += f"  {name}:\n    - - meta:\n" + indented(["type: map", f'description: "{META}"'], 10)
            outputs += listed(file(6, f'"{pattern}"', text[0] if text else self.description, pattern), 6)
        versions = ""
        for i, (name, kind, text) in enumerate((('"${task.process}"', "string", "The process"),
                                                ("biogpu", "string", "The tool"),
                                                (f'"{VERSION}"', "eval", "The command that tells its version"))):
            versions += f"    {'- -' if i == 0 else '  -'} {name}:\n" + indented(
                [f"type: {kind}", f'description: "{text}"'], 10)
        return (f'name: "{self.process.lower()}"\ndescription: "{self.description}"\nkeywords:\n'
                f"{indented((f'- {word}' for word in self.of['keywords']), 2)}"
                'tools:\n  - biogpu:\n      description: "Sequence analysis on CPUs and GPUs"\n      args_id: "$args"\n'
                f'      doi: "no DOI available"\n      licence: ["MIT"]\n      identifier: ""\ninput:\n{inputs}output:\n{outputs}'
                f"  versions_biogpu:\n{versions}topics:\n  versions:\n{versions}"
                'authors:\n  - "The biogpu authors"\nmaintainers:\n  - "The biogpu authors"\n')

    def environment_yml(self):
        return f"channels:\n  - conda-forge\n  - bioconda\ndependencies:\n  - bioconda::biogpu={self.version}\n"

    def test(self, name):
        def path(file):
            folder = "biogpu_data" if "." in file else "biogpu_test_data"
            return f'file("${{params.{folder}}}/{file}", checkIfExists: true)'

        inputs = []
        for i, (sample, names) in enumerate(self.groups()):
            values = [self.kinds["values"][name][1] if name in self.kinds["values"] else path(self.kinds["files"][name][3])
                      for name in names]
            inputs.append(f"input[{i}] = " + (f"[ [ {self.of.get('meta', SAMPLE)} ], {', '.join(values)} ]"
                                              if sample else values[0]))
        checks = ["process.success", *(f"process.out.{output}.size() == 1" for output in (*self.of["outputs"],
                                                                                          "versions_biogpu"))]
        asserted = ",\n".join(f"                {{ assert {check} }}" for check in checks)
        options = '        options "-stub"\n' if name == "stub" else ""
        return (f'    test("{name}") {{\n{options}\n        when {{\n            process {{\n                """\n'
                f'{indented(inputs, 16)}                """\n            }}\n        }}\n\n        then {{\n'
                f"            assertAll(\n{asserted}\n            )\n        }}\n    }}\n")

    def main_nf_test(self):
        names = ["bundled data", "stub"] if self.of.get("tested") else ["stub"]
        tests = "\n".join(self.test(name) for name in names)
        return (f'nextflow_process {{\n\n    name "Test Process {self.process}"\n    script "../main.nf"\n'
                f'    process "{self.process}"\n\n    tag "modules"\n    tag "biogpu"\n    tag "biogpu/{self.path}"\n\n'
                f"{tests}}}\n")


def main():
    biogpu, folder = sys.argv[1:]
    kinds = tomllib.loads(Path(__file__).with_name("modules.toml").read_text(encoding="utf-8"))
    for command, definition in kinds["modules"].items():
        module = Module(biogpu, command, definition, kinds)
        for name, text in (("main.nf", module.main_nf()), ("meta.yml", module.meta_yml()),
                           ("environment.yml", module.environment_yml()), ("tests/main.nf.test", module.main_nf_test())):
            path = Path(folder) / module.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

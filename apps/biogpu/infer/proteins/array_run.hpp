#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/biogpu/command_line/command.hpp"
#include "apps/biogpu/infer/run/infer_flags.hpp"
#include "lib/tasks/embed.hpp"

namespace biogpu::app {

// Help on the output of commands that write files of arrays.
inline constexpr char kArrayFormats[] =
    "Output by suffix: .npy (rows one after the other, OUTPUT.index.tsv tells whose), .npz,\n"
    ".safetensors, .h5, .tsv. Keys are the records' names; with several arrays a record they are\n"
    "name/kind/layer. A name that comes again gets #2.\n\n";

// Options of embed, logits and contacts.
struct ArrayFlags {
  InferFlags infer;
  tasks::ArrayOptions arrays;
};

void add_array_output(CLI::App& command, InferFlags& flags);

// From sequences through a language model to the arrays that flags.arrays asks for.
void run_arrays(const ArrayFlags& flags, const char* name, const std::string& command_line);

// What runs a command that gives one kind of array.
Run run_one_kind(const std::shared_ptr<ArrayFlags>& flags, bool tasks::ArrayOptions::*kind,
                 const char* name);

}  // namespace biogpu::app

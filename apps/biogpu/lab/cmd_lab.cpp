// `biogpu lab`: blocks of structure models, measured and compared with double precision.
#include "apps/biogpu/infer/commands.hpp"
#include "apps/biogpu/lab/commands.hpp"

namespace biogpu::app {
namespace {

constexpr Subcommand kLabSubcommands[] = {
    {"list", "list the blocks and their sizes", add_lab_list},
    {"run", "measure error, time and rate of blocks", add_lab_run},
    {"bench", "measure time, rate and error of operations and whole passes", add_infer_bench},
};

constexpr char kLabFooter[] =
    "Examples:\n"
    "  biogpu lab list\n"
    "  biogpu lab run triangle-product-out --shapes 128x128,256x128\n"
    "  biogpu lab run --json before.json --plot roofline.svg\n\n";

}  // namespace

Run add_lab(CLI::App& command) { return add_subcommands(command, kLabSubcommands, kLabFooter); }

}  // namespace biogpu::app

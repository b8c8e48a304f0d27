set(sources
    design/design.cpp
    design/score_job.cpp
    design/structure_task.cpp
    inputs/complex.cpp
    inputs/design_inputs.cpp
    inputs/design_json.cpp
    inputs/fixed_positions.cpp
    inputs/tied_positions.cpp
    network/batch.cpp
    network/forward.cpp
    network/geometry.cpp
    network/rule_table.cpp
    network/weights.cpp
    network/work.cpp
    ops/block_linear.cpp
    ops/checks.cpp
    ops/decode_units.cpp
    ops/draw_letter.cpp
    ops/edge_block.cpp
    ops/edge_geometry.cpp
    proteinmpnn.cpp)
# The rows nearest to another and the directions of edges are those that a GPU finds.
set(unfused_sources ops/edge_geometry.cpp ops/nearest_rows_cpu.cpp ops/nearest_rows_ref.cpp)
set(bench_sources bench.cpp ops_bench.cpp)

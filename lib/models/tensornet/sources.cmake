set(sources
    device_edges.cpp
    graph.cpp
    list_plan.cpp
    network.cpp
    network_charges.cpp
    network_grad.cpp
    order/atom_order.cpp
    order/curve.cpp
    pair_terms/coulomb.cpp
    pair_terms/dispersion.cpp
    pair_terms/pair_term.cpp
    pair_terms/pair_terms.cpp
    pair_terms/zbl.cpp
    system_rules.cpp
    tensornet.cpp
    weights/config.cpp
    weights/host_weights.cpp
    weights/priors.cpp
    weights/radial_fit.cpp
    weights/radial_functions.cpp
    weights/weights.cpp)
# The same edges as on a GPU, and one order of atoms on all processors.
set(unfused_sources graph.cpp order/curve.cpp)
set(bench_sources bench.cpp)

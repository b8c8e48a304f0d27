set(sources
    borzoi.cpp
    config.cpp
    positions.cpp
    weights.cpp)

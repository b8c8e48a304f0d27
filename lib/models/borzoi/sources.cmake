set(sources
    borzoi.cpp
    changed_windows.cpp
    config.cpp
    positions.cpp
    weights.cpp)

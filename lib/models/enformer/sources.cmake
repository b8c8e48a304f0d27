set(sources
    changed_windows.cpp
    config.cpp
    enformer.cpp
    positional_features.cpp
    weights.cpp)

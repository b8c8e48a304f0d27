set(sources
    config.cpp
    enformer.cpp
    positional_features.cpp
    weights.cpp)

# Toolchain: the newest Clang that is installed. Distributions name it by version, and a preset can
# only name one.
find_program(SLUICE_CLANG REQUIRED NAMES
    clang++-22 clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++)
mark_as_advanced(SLUICE_CLANG)
set(CMAKE_CXX_COMPILER "${SLUICE_CLANG}")

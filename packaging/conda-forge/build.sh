#!/usr/bin/env bash
# libcsv into the program, the rest from the packages of recipe.yaml.
set -euo pipefail
csv=$SRC_DIR/libcsv-installed
(cd libcsv && ./configure --prefix="$csv" --disable-shared && make -j "$CPU_COUNT" && make install)
export CFLAGS="${CFLAGS:-} -I$csv/include"
cmake ${CMAKE_ARGS:-} -G Ninja -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" -DBUILD_TESTING=OFF -DNAI_HARDEN=ON \
  -DCSV_LIBRARY="$csv/lib/libcsv.a"
cmake --build build -j "$CPU_COUNT"
cmake --install build

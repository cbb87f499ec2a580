#!/bin/bash
# Installed into an empty prefix, the library serves a C and a C++ program through pkg-config and
# through find_package, shared and static; from the build folder, through build/assay.pc, also without
# installing.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$ASSAY_SOURCE/tests/package
prefix=$work/prefix

cmake --install "$ASSAY_BUILD" --prefix "$prefix" >"$work/install.log"
cd "$work"

expect() { # program: it runs and sees the version it was compiled against
    "$1" >out.txt || { echo "$1 failed with status $?"; exit 1; }
    grep -q '^consumer: ' out.txt || { echo "$1 printed:"; cat out.txt; exit 1; }
}

export PKG_CONFIG_PATH=$ASSAY_BUILD
cc "$here/consumer.c" -o from_build $(pkg-config --cflags --libs assay)
expect ./from_build

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
cc "$here/consumer.c" -o c_shared $(pkg-config --cflags --libs assay) -Wl,-rpath,"$prefix/lib"
expect ./c_shared
c++ -std=c++17 "$here/consumer.cc" -o cxx_shared $(pkg-config --cflags --libs assay) \
    -Wl,-rpath,"$prefix/lib"
expect ./cxx_shared
private=$(pkg-config --static --libs assay)
cc "$here/consumer.c" -o c_static $(pkg-config --cflags assay) "$prefix/lib/libassay.a" \
    ${private//-lassay/}
expect ./c_static

cmake -S "$here" -B cmake-build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log
cmake --build cmake-build >>cmake.log || { cat cmake.log; exit 1; }
for program in cmake-build/consumer_{c_shared,c_static,cxx_shared,cxx_static}; do
    expect "$program"
done

# Moved elsewhere, everything still fits together.
mv "$prefix" "$work/moved"
export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig
cc "$here/consumer.c" -o c_moved $(pkg-config --cflags --libs assay) -Wl,-rpath,"$work/moved/lib"
expect ./c_moved
if [ -e "$work/moved/bin/assay" ]; then
    "$work/moved/bin/assay" --version >/dev/null
fi

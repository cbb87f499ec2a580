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
for file in share/man/man1/assay.1 share/bash-completion/completions/assay share/zsh/site-functions/_assay; do
    [ -s "$prefix/$file" ] || { echo "$file is not installed"; exit 1; }
done

expect() { # program
    "$1" >out.txt || { echo "$1 failed with status $?"; exit 1; }
    grep -qx 'consumer: 4 operations, 1 metrics' out.txt || { echo "$1 printed:"; cat out.txt; exit 1; }
}
warnings="-Wall -Wextra -Werror"
expect_models() { # program
    "$1" >out.txt || { echo "$1 failed with status $?"; exit 1; }
    grep -qx 'models: 1000 outputs' out.txt || { echo "$1 printed:"; cat out.txt; exit 1; }
}

export PKG_CONFIG_PATH=$ASSAY_BUILD
cc $warnings "$here/consumer.c" -o from_build $(pkg-config --cflags --libs assay)
expect ./from_build
cc $warnings "$here/models.c" -o models_from_build $(pkg-config --cflags --libs assay-models)
expect_models ./models_from_build

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
cc $warnings "$here/consumer.c" -o c_shared $(pkg-config --cflags --libs assay) -Wl,-rpath,"$prefix/lib"
expect ./c_shared
c++ -std=c++17 $warnings "$here/consumer.cc" -o cxx_shared $(pkg-config --cflags --libs assay) \
    -Wl,-rpath,"$prefix/lib"
expect ./cxx_shared
private=$(pkg-config --static --libs assay)
cc $warnings "$here/consumer.c" -o c_static $(pkg-config --cflags assay) "$prefix/lib/libassay.a" \
    ${private//-lassay/}
expect ./c_static
for language in c c++; do
    cc $warnings -x $language "$here/models.c" -x none -o models_$language \
        $(pkg-config --cflags --libs assay-models) -Wl,-rpath,"$prefix/lib"
    expect_models ./models_$language
done
private=$(pkg-config --static --libs assay-models)
cc $warnings "$here/models.c" -o models_static $(pkg-config --cflags assay-models) \
    "$prefix/lib/libassay_models.a" "$prefix/lib/libassay.a" ${private//-lassay_models/}
expect_models ./models_static
cc $warnings -shared -fPIC $(pkg-config --cflags assay-models) "$ASSAY_SOURCE/examples/plugin/linear.c" -o linear.so -lm
"$prefix/bin/assay" model info --model ./linear.so >out.txt || { cat out.txt; exit 1; }

cmake -S "$here" -B cmake-build -DCMAKE_PREFIX_PATH="$prefix" >cmake.log
cmake --build cmake-build >>cmake.log || { cat cmake.log; exit 1; }
for program in cmake-build/consumer_{c_shared,c_static,cxx_shared,cxx_static}; do
    expect "$program"
done
for program in cmake-build/models_{shared,static}; do
    expect_models "$program"
done

# Moved elsewhere, everything still fits together.
mv "$prefix" "$work/moved"
export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig
cc $warnings "$here/consumer.c" -o c_moved $(pkg-config --cflags --libs assay) -Wl,-rpath,"$work/moved/lib"
expect ./c_moved
"$work/moved/bin/assay" run --heap --json run.json -- ./c_moved >out.txt 2>run.txt || { cat run.txt; exit 1; }
grep -q '"heap_allocations": [1-9]' run.json || { echo "assay run --heap counted nothing:"; cat run.txt; exit 1; }

# The front door. The build itself is CMake: see CMakePresets.json for debug and sanitizer builds.
BUILD  := build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)
WERROR ?= OFF

MAKEFLAGS += --no-print-directory
.PHONY: help build run test bench install format clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

build: ## build into build/: the command build/assay, libraries in build/lib, build/assay.pc
	@tools/setup run
	@cmake --preset release -DASSAY_WERROR=$(WERROR)
	@cmake --build $(BUILD) -j$(JOBS) --target product

run: build ## install what is missing, build, and show assay at work
	@tools/demo $(BUILD)

test: ## install what is missing and run the whole test suite
	@tools/setup test
	@cmake --preset release -DASSAY_WERROR=$(WERROR)
	@cmake --build $(BUILD) -j$(JOBS)
	@tools/run-tests $(BUILD)

bench: ## measure our own figures against their bars; writes build/bench/results.json
	@tools/setup bench
	@cmake --preset release -DASSAY_WERROR=$(WERROR)
	@cmake --build $(BUILD) -j$(JOBS)
	@tools/run-bench $(BUILD)

install: build ## install below PREFIX (default /usr/local); DESTDIR is honoured
	@cmake --install $(BUILD) --prefix $(PREFIX)

format: ## format every tracked C file
	@tools/check-format --fix

clean: ## remove all build folders
	rm -rf build build-* python/build python/*.egg-info

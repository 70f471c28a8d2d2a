# Everything happens in .venv. Rust links with the C compiler's linker; building a kernel is another matter,
# see docs/how-to/check-against-linux.md.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TARGET := $(or $(CARGO_TARGET_DIR),target)/release
ENGINE := python/celltcp/engine
# The example is a package of its own; it shares what is compiled.
EXAMPLE := --manifest-path examples/own-cca/Cargo.toml --target-dir target
# Of pytest: a worker for each core of the usual machine of a continuous integration.
WORKERS := --numprocesses 2 --dist worksteal
# How often the engine took each branch in the cases of `make counts`: the compiler lays out its code by that. Cargo does
# not look into the file, so that the copy it is given is named by the sum of its content.
PROFILE := tests/counts/branches.profdata
PROFILED := $(CURDIR)/target/profile/$(firstword $(shell cksum $(PROFILE))).profdata
RELEASE := RUSTFLAGS="-Cprofile-use=$(PROFILED) -Cllvm-args=-no-pgo-warn-mismatch $(RUSTFLAGS)"
RUST := $(shell find crates -name '*.rs' -o -name '*.toml') Cargo.toml Cargo.lock

# Images of containers set it. Without compiled modules each command of a test compiles all that it imports, which takes
# longer than what it does.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo setup test test-all test-kernel test-wheel counts profile fuzz carriers lint format coverage mutants \
	bench wheel man docs results lock clean

## This list
help:
	@awk -F: '/^## / {text = substr($$0, 4)} /^[a-z-]+:/ && text {printf "make %-12s %s\n", $$1, text; text = ""}' Makefile

## Build the native engine, and compare congestion controls in an LTE cell
demo: $(VENV)/built
	$(BIN)/celltcp compare mobility/forward-60-4g --out demo

# Properties are tried on a quarter of the cases of `make test-all`.
## The tests but those that are marked slow
test: $(VENV)/built
	PROPTEST_CASES=64 RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/tests/rustc.sh cargo test --workspace --locked --quiet --tests
	$(BIN)/pytest $(WORKERS)

## All tests
test-all: setup
	CELLTCP_FUZZ_SECONDS=2 cargo test --workspace --locked --quiet -- --include-ignored
	$(RELEASE) cargo test --release --package celltcp-units --locked --quiet
	cargo test $(EXAMPLE) --locked --quiet
	$(BIN)/pytest $(WORKERS) -m "" --render

# Builds a kernel into the user's cache first, unless it is there; docs/how-to/check-against-linux.md says what that needs.
## The tests of the kernel engine
test-kernel: setup
	$(BIN)/celltcp kernel build
	CELLTCP_KERNEL_TESTS=1 $(BIN)/pytest tests/kernel

## Instructions of short simulations, against those of tests/counts/counts.csv; needs valgrind
counts: $(PROFILED)
	$(RELEASE) cargo build --release --locked --quiet --package celltcp-counts
	$(TARGET)/celltcp-counts $(ARGUMENTS)

## Measure anew which branches the engine takes, for the compiler; needs Debian's llvm-22
profile:
	RUSTFLAGS=-Cprofile-generate=$(CURDIR)/target/branches \
		cargo build --release --locked --quiet --target-dir target/instrumented --package celltcp-counts
	rm -rf target/branches # of macros and build scripts
	for case in $$(tail -n +2 tests/counts/counts.csv | cut -d, -f1); do \
		target/instrumented/release/celltcp-counts --case $$case --times 5 || exit 1; done
	llvm-profdata-22 merge --sparse --output $(PROFILE) target/branches

SECONDS ?= 300
## Mutated inputs for all parsers, SECONDS for each; a failure prints how to repeat it
fuzz:
	CELLTCP_FUZZ_SECONDS=$(SECONDS) CELLTCP_FUZZ_SEED=$$(date +%s) cargo test --locked --package celltcp-fuzz \
		--test parsers -- --nocapture

CASES ?= 500
SEED ?= 1
## Carriers of LTE and NR drawn at random, CASES of them, each held against Shannon's bound and 3GPP's tables
carriers:
	CELLTCP_CARRIERS=$(CASES) CELLTCP_CARRIERS_SEED=$(SEED) cargo test --locked --quiet --package celltcp-radio \
		--test behaviour carriers -- --nocapture

## Format, clippy, ruff, layers of modules, types
lint: setup
	cargo fmt --check
	cargo fmt --manifest-path examples/own-cca/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy $(EXAMPLE) --all-targets --locked -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/stubtest celltcp._core

## Format all code
format: $(VENV)/installed
	cargo fmt
	cargo fmt --manifest-path examples/own-cca/Cargo.toml
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format --quiet

## Lines that the tests reach, as pages in target/coverage; needs Debian's llvm-22
coverage: setup
	cargo install --quiet --locked --root target/tools cargo-llvm-cov@0.9.1
	LLVM_COV=llvm-cov-22 LLVM_PROFDATA=llvm-profdata-22 PATH="$(CURDIR)/target/tools/bin:$$PATH" \
		cargo llvm-cov --workspace --locked --quiet --html --output-dir target/coverage/rust
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(WORKERS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet

BASE ?= main
## Mutants of the Rust code that differs from BASE, each judged by the tests of its own crate
mutants:
	cargo install --quiet --locked --root target/tools cargo-mutants@27.1.0
	mkdir -p target/mutants
	git diff $(BASE) -- crates > target/mutants/change.diff
	target/tools/bin/cargo-mutants mutants --in-diff target/mutants/change.diff --output target/mutants

## Speed of the engine
bench: setup
	$(RELEASE) cargo bench --package celltcp-benches --locked
	$(BIN)/celltcp bench

# What the wheel has beside the package: $(DATA)/data/share goes to share of where it is installed. maturin finds the
# folder by its name.
DATA := celltcp._core.data

# Places of the links of README.md for readers of the package index.
PAGES := https://github.com/celltcp/celltcp/blob/main
IMAGES := https://raw.githubusercontent.com/celltcp/celltcp/main/docs/images

## A wheel, in target/wheels
wheel: setup
	rm -rf $(ENGINE)/kernel && cp -r kernel $(ENGINE)/kernel
	$(BIN)/python crates/python/notices.py $(ENGINE)/THIRD-PARTY
	rm -rf $(DATA) && $(BIN)/python docs/share.py $(DATA)/data/share
	rm -rf target/wheels
	cp README.md target/README.md; trap 'mv target/README.md README.md; rm -rf $(ENGINE)/kernel $(DATA)' EXIT; \
		sed -i 's#](docs/images/#]($(IMAGES)/#; s#](\([a-zA-Z/.-]*\.md\))#]($(PAGES)/\1)#g' README.md; \
		$(RELEASE) $(BIN)/maturin build --release --locked --out target/wheels

## The wheel in an environment that has nothing else, with the newest releases of what it needs
test-wheel: wheel
	rm -rf target/installed && $(PYTHON) -m venv target/installed
	target/installed/bin/python -m pip install --quiet --disable-pip-version-check target/wheels/celltcp-*.whl
	cd target/installed && bin/celltcp compare drive --runs 1 --duration 2s --out results --quiet
	cd target/installed && bin/celltcp show results --verify
	test -f target/installed/share/man/man1/celltcp.1

## Man pages of all commands, made from their options, and completions of shells
man: setup
	rm -rf target/share
	$(BIN)/python docs/share.py target/share

# Its tools have an environment of their own.
## The site of the documentation, in target/docs
docs: $(VENV)/built
	$(BIN)/python docs/generated.py target/generated
	$(PYTHON) -m venv $(VENV)/docs
	$(VENV)/docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		-r docs/requirements.lock
	$(VENV)/docs/bin/mkdocs build --quiet --strict

# It goes on where it was interrupted. docs/results.toml lists the pages.
## The pages of results, or PAGES of them: hours of CPU time
results: setup
	$(BIN)/python docs/results.py $(PAGES)

## Build everything into .venv and target
setup: $(VENV)/built $(VENV)/engine

$(VENV)/installed: requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	touch $@

$(PROFILED): $(PROFILE)
	mkdir -p $(@D)
	cp $< $@

$(VENV)/built: $(VENV)/installed pyproject.toml $(RUST) $(PROFILED)
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" PATH="$(CURDIR)/$(BIN):$$PATH" $(RELEASE) \
		$(BIN)/maturin develop --release --locked --quiet
	touch $@

# What the kernel engine needs beside a kernel. Whoever only looks at the demo does without. The stamp has the digests of
# the programs that belong together, by which celltcp refuses others.
$(VENV)/engine: $(VENV)/built
	$(RELEASE) cargo build --release --locked --quiet --package celltcp-kernel-network
	$(RELEASE) cargo rustc --release --locked --quiet --package celltcp-kernel-guest -- -C target-feature=+crt-static
	mkdir -p $(ENGINE)
	cp "$(TARGET)/celltcp-guest" "$(TARGET)/libkernel_network.so" $(ENGINE)/
	cd $(ENGINE)/.. && sha256sum _core*.so engine/celltcp-guest engine/libkernel_network.so > "$(abspath $@)"

## Renew the lock files of the package and of the docs site
lock: $(VENV)/installed
	$(PYTHON) -m venv $(VENV)/lock
	$(VENV)/lock/bin/python -m pip install --quiet pip-tools
	for name in requirements docs/requirements; do $(VENV)/lock/bin/pip-compile --quiet --generate-hashes \
		--strip-extras --no-header --no-emit-index-url --no-emit-trusted-host \
		--output-file $$name.lock $$name.in || exit 1; done

## Remove all that was built
clean:
	rm -rf $(VENV) target

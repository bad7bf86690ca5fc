# Discern: `make run` serves, `make test` tests, `make check` is the gate.

PACKAGES = libsqlite3-dev libmicrohttpd-dev libssl-dev libyaml-dev libcurl4-openssl-dev \
	libsimdjson-dev libre2-dev pkg-config tzdata curl
BINARY = .build/release/discern
SWIFT_TEST = swift test --parallel

SWIFT_SOURCES = Sources Tests Fuzz Benchmarks Fixtures Package.swift
TARGET = evaluate
RUNS = 1000000

# What `make prove` tries; the seeds of simulations begin with SEED.
SEEDS = 10000
HISTORIES = 100000
SEED = 1
KILLS = 500
MINUTES = 10
TAMPERED = 1000000
# Files are made in memory where that can be: what is killed or fails there is the same, and a disk
# that others keep busy for minutes looks like a server that hangs.
PROVE = TMPDIR=$(firstword $(wildcard /dev/shm) /tmp) swift test -c release --skip-build --filter

.PHONY: help dependencies build run test test-debug test-release check prove prove-faults \
	prove-tampering prove-simulation prove-histories prove-kills prove-soak format lint docs \
	bench fuzz clean

help:
	@echo 'make run      build and serve for development, on 127.0.0.1:8080'
	@echo 'make test     all tests, in debug and in release'
	@echo 'make check    the gate: format, then all tests; warnings are errors'
	@echo 'make prove    that the ledger loses nothing, at length (an hour):'
	@echo '              SEEDS=$(SEEDS) SEED=$(SEED) HISTORIES=$(HISTORIES) KILLS=$(KILLS)'
	@echo '              MINUTES=$(MINUTES) TAMPERED=$(TAMPERED)'
	@echo 'make format   format all sources'
	@echo 'make docs     the documentation of the CEL module, as pages'
	@echo 'make bench    measure against the floor (minutes)'
	@echo 'make fuzz     fuzz CEL: TARGET=parse|check|evaluate RUNS=1000000 [SANITIZE=address]'

# Debian's packages that are missing are installed; nothing happens when all are there.
dependencies:
	@missing=$$(for p in $(PACKAGES); do \
		dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	if [ -n "$$missing" ]; then \
		echo "installing: $$missing"; \
		sudo=$$(if [ "$$(id -u)" = 0 ]; then echo; else echo sudo; fi); \
		$$sudo apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing; \
	fi

build: dependencies
	swift build -c release

run: build
	exec $(BINARY) serve --dev

# The binary is built first, since the scenario tests start it.
test: test-debug test-release

test-debug: dependencies
	swift build --build-tests
	$(SWIFT_TEST) --skip-build

test-release: dependencies
	swift build -c release --build-tests
	$(SWIFT_TEST) -c release --skip-build

lint:
	swift format lint --strict --parallel --recursive $(SWIFT_SOURCES)

format:
	swift format --in-place --parallel --recursive $(SWIFT_SOURCES)

check: lint test

# All of it is run, and what failed is named at the end.
prove: dependencies
	swift build -c release --build-tests
	@failed=; \
	for part in tampering faults simulation histories kills soak; do \
		start=$$(date +%s); \
		echo "prove: $$part"; \
		if $(MAKE) --no-print-directory prove-$$part; then result=passed; \
		else result=FAILED; failed="$$failed $$part"; fi; \
		summary="$$summary\n$$part $$result in $$(($$(date +%s) - start)) s"; \
	done; \
	printf "prove:$$summary\n"; test -z "$$failed"

prove-faults:
	DISCERN_FAULTS=all $(PROVE) 'Scenarios/Faults'

# Some 40 GB are written, a copy of the ledger for each kind of tampering.
prove-tampering:
	DISCERN_TAMPERED_ENTRIES=$(TAMPERED) TMPDIR=/var/tmp swift test -c release --skip-build \
		--filter 'Scenarios/Tampered'

prove-simulation:
	DISCERN_SIMULATION_SEEDS=$(SEEDS) DISCERN_SIMULATION_SEED=$(SEED) $(PROVE) 'StorageTests.SimulationTests'

prove-histories:
	DISCERN_HISTORIES=$(HISTORIES) DISCERN_HISTORY_SEED=$(SEED) $(PROVE) 'RandomHistoryTests|RetryTests'

prove-kills:
	DISCERN_KILLS=$(KILLS) $(PROVE) 'Scenarios/Kill'

prove-soak:
	Benchmarks/soak.py --minutes $(MINUTES)

# The symbols come out of a build of their own, since the flags would make the usual one start anew.
# A link that leads nowhere, or anything else that the documentation compiler warns of, is an error.
docs: dependencies
	rm -rf .build/docs/symbols
	mkdir -p .build/docs/symbols/all .build/docs/symbols/CEL
	swift build --scratch-path .build/docs/build --target CEL -Xswiftc -emit-symbol-graph \
		-Xswiftc -symbol-graph-minimum-access-level -Xswiftc public \
		-Xswiftc -emit-symbol-graph-dir -Xswiftc $(CURDIR)/.build/docs/symbols/all
	cp .build/docs/symbols/all/CEL.symbols.json .build/docs/symbols/CEL
	docc convert Sources/CEL/CEL.docc --output-path .build/docs/CEL.doccarchive \
		--additional-symbol-graph-dir .build/docs/symbols/CEL --warnings-as-errors \
		--fallback-display-name CEL --fallback-bundle-identifier cel
	@echo 'documentation is in .build/docs/CEL.doccarchive; see it with:'
	@echo 'docc preview Sources/CEL/CEL.docc --additional-symbol-graph-dir .build/docs/symbols/CEL'

bench: build
	Benchmarks/run.sh

fuzz: dependencies
	SANITIZE=$(SANITIZE) Fuzz/run.sh $(TARGET) $(RUNS)

clean:
	swift package clean

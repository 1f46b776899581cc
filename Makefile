# For those who work on postercache; to use it, scripts/demo and README.md are enough.
.PHONY: build test lint format bench bench-quick bench-baseline bench-report bench-scroll crash fuzz install clean

PREFIX ?= /usr/local
RELEASE = swift build -c release --static-swift-stdlib

build:
	$(RELEASE) --product postercache

test:
	scripts/test

lint:
	swift format lint --strict --recursive Package.swift Sources Tests Benchmarks Examples Fuzzing

format:
	swift format --in-place --recursive Package.swift Sources Tests Benchmarks Examples Fuzzing

bench:
	Benchmarks/run $(SUITES)

# What CI runs: fails where a count has grown or a ratio has halved.
bench-quick:
	Benchmarks/run --quick --baseline Benchmarks/baseline.json $(SUITES)

# After a change that is meant to change counts: what later quick runs are compared with. Run it several times: the
# lowest ratios are kept. Remove the file to begin anew.
bench-baseline:
	Benchmarks/run --quick --write-baseline Benchmarks/baseline.json

# Writes docs/benchmarks.md and its pictures; SUITES="warm disk" measures those alone anew.
bench-report:
	Benchmarks/report $(SUITES)

# Scrolls in virtual time under several policies; needs no rivals and no network.
bench-scroll:
	$(RELEASE) --product postercache-bench
	mkdir -p .build/bench
	"$$($(RELEASE) --show-bin-path)/postercache-bench" scroll --json .build/bench/scroll.json

# Kills N processes in the middle of writing, 1000 unless told otherwise, and lets four use one directory for
# two minutes.
N ?= 1000
crash:
	POSTERCACHE_CRASHES=$(N) POSTERCACHE_TORTURE_SECONDS=120 \
	  scripts/test --filter 'DiskCrashTests|four processes read, warm, trim and clear'

# Feeds each decoder with damaged pictures for as many seconds.
SECONDS ?= 60
fuzz:
	scripts/fuzz $(SECONDS)

install: build
	install -D -m 755 "$$($(RELEASE) --show-bin-path)/postercache" "$(DESTDIR)$(PREFIX)/bin/postercache"

clean:
	swift package clean

# A thin front over Meson. `make` builds and installs nothing; `make deps` installs what it needs. The other targets call
# scripts that first install the Debian packages they need.
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: build deps test matrix shapes torture threads valgrind parquet kafka api browser peers demo check bench deb install clean

build:
	@PREFIX=$(PREFIX) scripts/build build programs

deps:
	@scripts/deps build

test:
	@scripts/test $(TESTS)

matrix:
	@BUILDS=build MATRIX=full TEST_SECONDS_MAX=7200 scripts/test matrix

shapes:
	@BUILDS=build PATRA_SHAPES=10000 TEST_SECONDS_MAX=7200 scripts/test sim-shapes

torture:
	@scripts/torture $(TORTURES)

threads:
	@scripts/threads

valgrind:
	@scripts/valgrind

parquet:
	@scripts/parquet

kafka:
	@scripts/kafka

api:
	@scripts/api

browser:
	@scripts/browser

peers:
	@scripts/peers $(PEERS)

demo:
	@scripts/demo

check:
	@scripts/check

bench:
	@scripts/bench

deb:
	@scripts/deb

install: build
	@meson configure build --prefix=$(PREFIX)
	@ninja -C build programs
	@DESTDIR=$(DESTDIR) meson install -C build --no-rebuild --quiet

clean:
	rm -rf build build-asan build-ubsan build-tsan build-check build-deb build-image

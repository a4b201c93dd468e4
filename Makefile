# A thin front over Meson: every target installs what it needs, then does its work.
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: build test matrix threads valgrind demo check bench install clean

build:
	@scripts/deps build
	@test -f build/build.ninja || CC=gcc meson setup build --prefix=$(PREFIX) >/dev/null
	@ninja -C build programs

test:
	@scripts/test $(TESTS)

matrix:
	@BUILDS=build MATRIX=full TEST_SECONDS_MAX=7200 scripts/test matrix

threads:
	@scripts/threads

valgrind:
	@scripts/valgrind

demo:
	@scripts/demo

check:
	@scripts/check

bench:
	@scripts/bench

install: build
	@meson configure build --prefix=$(PREFIX)
	@ninja -C build programs
	@DESTDIR=$(DESTDIR) meson install -C build --no-rebuild --quiet

clean:
	rm -rf build build-asan build-tsan

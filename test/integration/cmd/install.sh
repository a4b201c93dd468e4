#!/bin/sh
# The installed tree works by itself: the program finds its modules, the manual and the completion read.
set -u
folder=$(mktemp -d /tmp/patra-install.XXXXXX)
trap 'rm -rf "$folder"' EXIT
unset PATRA_MODULES
passed=0
failed=0
check() {
    name=$1
    shift
    if "$@" >"$folder/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "  not so: $name: $*"
        sed 's/^/    /' "$folder/log"
    fi
}
check "it installs" env DESTDIR="$folder/root" meson install -C "$PATRA_BUILD" --no-rebuild --quiet
prefix=$(find "$folder/root" -type d -name bin | head -n 1)/..
# An XML source needs a module; one that is not beside the program, for this build's is.
check "the program finds its modules" "$prefix/bin/patra" source lint sources/pubmed.yaml
check "the simulator runs" "$prefix/bin/patra-sim" --help
check "the manual names every command" grep -q 'patra source lint' "$prefix/share/man/man1/patra.1"
check "the completion is bash" bash -n "$prefix/share/bash-completion/completions/patra"
check "the service starts what was installed" grep -q "^ExecStart=/.*bin/patra serve" "$prefix/lib/systemd/system/patra.service"
unit="$prefix/lib/systemd/system/patra.service"
# systemd asks the main process alone whether starting again would help.
check "nothing before it can fail for ever" sh -c "! grep -q '^ExecStartPre=' '$unit'"
check "it makes its store itself" grep -q '^ExecStart=.* serve --init' "$unit"
check "and is not started again when that is impossible" grep -qx 'RestartPreventExitStatus=2 4' "$unit"
check "the shipped sources are there" test -f "$prefix/share/patra/sources/crossref.yaml"
echo "integration-cmd-install: $passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]

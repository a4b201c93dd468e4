#!/bin/sh
# The installed tree works by itself: the program finds its modules, the manual and the completion read.
set -u
folder=$(mktemp -d /tmp/patra-install.XXXXXX)
trap 'rm -rf "$folder"' EXIT
unset PATRA_MODULES
passed=0
failed=0
skipped=0
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
check "so does that of the simulator" grep -q '^.SS "patra' "$prefix/share/man/man1/patra-sim.1"
check "the completion is bash" bash -n "$prefix/share/bash-completion/completions/patra"
check "there is one for zsh" grep -qx '#compdef patra' "$prefix/share/zsh/site-functions/_patra"
check "there is one for fish" grep -q '^complete -c patra' "$prefix/share/fish/vendor_completions.d/patra.fish"
check "the service starts what was installed" grep -q "^ExecStart=/.*bin/patra serve" "$prefix/lib/systemd/system/patra.service"
unit="$prefix/lib/systemd/system/patra.service"
# systemd asks the main process alone whether starting again would help.
check "nothing before it can fail for ever" sh -c "! grep -q '^ExecStartPre=' '$unit'"
check "it makes its store itself" grep -q '^ExecStart=.* serve --init' "$unit"
check "and is not started again when that is impossible" grep -qx 'RestartPreventExitStatus=2 4' "$unit"
check "its user can be made" grep -q "^u $(sed -n 's/^User=//p' "$unit") " "$prefix/lib/sysusers.d/patra.conf"
if command -v systemd-analyze >/dev/null; then
    # verify looks for the programs that the unit starts.
    sed "s|^ExecStart=[^ ]*|ExecStart=$(cd "$prefix/bin" && pwd)/patra|; s|^Documentation=.*||" "$unit" >"$folder/patra.service"
    check "systemd understands the unit" sh -c "systemd-analyze verify --man=no '$folder/patra.service' 2>&1 | { ! grep 'patra.service'; }"
    # 10 is no protection at all; what remains is what a client of networks needs.
    check "and finds it well protected" systemd-analyze security --offline=yes --threshold=20 "$folder/patra.service"
else
    skipped=1
    echo "  skipped: systemd-analyze is not installed; the unit is not verified"
fi
# Every command of the manifests and the image, with --help behind it: options are read first.
grep -ohE '(args: |command: |CMD |ExecStart=).*' deploy/*.yaml deploy/Containerfile "$unit" |
    sed -E 's/^[A-Za-z: =]*//; s/^[^ ]*patra //; s/[]["{},]//g; s|^/usr/bin/patra ||' >"$folder/commands"
while read -r words; do
    check "a command of deploy/ exists" "$prefix/bin/patra" $words --help
done <"$folder/commands"
check "and there are some" test "$(wc -l <"$folder/commands")" -ge 9
version=$(sed -n "s/^ *version: '\(.*\)',$/\1/p" meson.build)
check "the package has the same version" grep -q "^patra ($version) " debian/changelog
# Both lists name what a build needs; the package needs neither make nor the compiler's own.
sed -n '/^build="/,/"$/p' scripts/deps | tr -d '"' | sed 's/^build=//' | tr -s ' ' '\n' | sed '/^$/d' |
    grep -vxE 'gcc|libc6-dev|make' | sort >"$folder/deps"
sed -n '/^Build-Depends:/,/^$/p' debian/control | sed 's/^Build-Depends://; s/(.*)//; s/[ ,]//g; s/:native//; /^$/d' |
    grep -vxE 'debhelper-compat|python3' | sort >"$folder/control"
check "the package is built with what scripts/deps installs" diff "$folder/deps" "$folder/control"
check "the shipped sources are there" test -f "$prefix/share/patra/sources/crossref.yaml"
echo "integration-cmd-install: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]

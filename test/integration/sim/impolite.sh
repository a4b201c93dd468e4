#!/bin/sh
# impolite.sh RULE: breaks one rule of politeness at the simulator $SIM, and no other. Without RULE lists
# them. The simulator must have been started with
#   --auth 'path=/echo/secret type=basic user=u password=pass'
#   --auth 'path=/echo/tls type=basic user=u password=pass tls_only'
#   --limit 'path=/echo/fast rate=2 window=60s burst=2'  --limit 'path=/echo/many concurrency=1'
set -eu
ask() {
    curl -sS -A 'impolite/1 (mailto:test@example.org)' -o /dev/null "$@"
}

case "${1:-list}" in
list)
    echo rate concurrency retry_after credential_host credential_plain agent contact repeat ;;
rate) # three where two are allowed
    ask "$SIM/echo/fast?n=1" -o /dev/null "$SIM/echo/fast?n=2" -o /dev/null "$SIM/echo/fast?n=3" ;;
concurrency) # a second one while the first is being answered
    ask -H 'X-Sim-Fault: kind=stall at=before ms=60000' -m 600 "$SIM/echo/many?n=1" 2>/dev/null &
    until curl -sS "$SIM/_sim/audit" | grep -q '"in_flight":1'; do :; done
    ask "$SIM/echo/many?n=2"
    kill $! ;; # the first would wait for a minute
retry_after) # told to wait for a minute, back after half of it
    ask -H 'X-Sim-Now: 2026-04-01T00:00:00Z' -H 'X-Sim-Fault: kind=status code=429 retry_after=60' "$SIM/echo"
    ask -H 'X-Sim-Now: 2026-04-01T00:00:30Z' "$SIM/echo" ;;
credential_host) # follows a redirect to another host, and takes the password along
    curl -sS -o /dev/null -d 'path=/echo/secret host=main kind=redirect times=1' "$SIM/_sim/faults"
    ask -L --location-trusted -u u:pass "$SIM/echo/secret" ;;
credential_plain) # a password without TLS
    ask -u u:pass "$SIM/echo/tls" ;;
agent) # who are you?
    ask -A '' "$SIM/echo?mailto=test@example.org" ;;
contact) # whom do we write to?
    ask -A 'impolite/1' "$SIM/echo" ;;
repeat) # the same page again, for nothing
    ask "$SIM/echo?page=1" -o /dev/null "$SIM/echo?page=1" ;;
*)
    sed -n '2,7p' "$0"
    exit 2 ;;
esac

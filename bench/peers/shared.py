"""shared: what the suites of peers have in common: the scale, the choice by word, and a measurement that may fail."""
import os
import subprocess
import sys
import time

SCALE = float(os.environ.get('PEERS_SCALE', '1'))


class Failed(Exception):
    """A peer could not be measured."""


def chosen(peers, words):
    """Those whose name contains a word, with patra beside them; nobody where no word is meant for these."""
    def has(peer, of):
        return any(word.lower() in peer.name.lower() for word in of)

    peers = list(peers)
    if not words:
        return peers
    return [peer for peer in peers if has(peer, ['patra', *words])] if any(has(peer, words) for peer in peers) else []


def is_measured(name, measure):
    """Measures, and says on stderr how long that took or why it failed."""
    from_s = time.monotonic()
    print(f'peers: {name}', end='', file=sys.stderr, flush=True)
    try:
        measure()
    except (Failed, OSError, subprocess.SubprocessError, KeyError, ValueError) as error:
        print(f': failed: {error}', file=sys.stderr)
        return False
    print(f', {time.monotonic() - from_s:.0f} s', file=sys.stderr)
    return True

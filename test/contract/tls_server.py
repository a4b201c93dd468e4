#!/usr/bin/env python3
"""tls_server.py MODE: a TLS server that misbehaves as MODE says, with an authority of its own. Prints its port and the authority's
file, then serves until it is killed. It needs openssl for certificates that ought not to be."""
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

MODE = sys.argv[1]
EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
OK = b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
folder = pathlib.Path(tempfile.mkdtemp(prefix='patra-tls.'))


def openssl(*words):
    done = subprocess.run(['openssl', *map(str, words)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def make_authority():
    openssl('req', '-x509', *EC, '-nodes', '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=test authority',
            '-days', '2', '-addext', 'keyUsage=keyCertSign')


# Modes whose certificate is wrong: alternative name, first and last day, purpose.
CERTIFICATES = {
    'expired': ('IP:127.0.0.1', '20200101000000Z', '20200201000000Z', 'serverAuth'),
    'not-yet': ('IP:127.0.0.1', '20900101000000Z', '20900201000000Z', 'serverAuth'),
    'wrong-host': ('DNS:other.example.org', None, None, 'serverAuth'),
    'wrong-purpose': ('IP:127.0.0.1', None, None, 'clientAuth'),
}


def make_certificate():
    name, first, last, purpose = CERTIFICATES.get(MODE, ('IP:127.0.0.1', None, None, 'serverAuth'))
    (folder / 'ext').write_text(f'subjectAltName={name}\nextendedKeyUsage={purpose}\n')
    (folder / 'index').write_text('')
    (folder / 'ca.cnf').write_text('[ca]\ndefault_ca=c\n[c]\nnew_certs_dir=.\ndatabase=index\nrand_serial=yes\ndefault_md=sha256\n'
                                   'unique_subject=no\npolicy=p\n[p]\ncommonName=supplied\n')
    openssl('req', *EC, '-nodes', '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=127.0.0.1')
    dates = ['-startdate', first, '-enddate', last] if first else ['-days', '2']
    openssl('ca', '-batch', '-notext', '-config', 'ca.cnf', '-cert', 'ca.pem', '-keyfile', 'ca.key', '-in', 'server.csr', '-out',
            'server.pem', '-extfile', 'ext', *dates)
    if MODE == 'self-signed':
        openssl('req', '-x509', *EC, '-nodes', '-keyout', 'server.key', '-out', 'server.pem', '-subj',
                '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2')
    if MODE == 'weak-key':
        openssl('req', '-newkey', 'rsa:1024', '-nodes', '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=127.0.0.1')
        openssl('ca', '-batch', '-notext', '-config', 'ca.cnf', '-cert', 'ca.pem', '-keyfile', 'ca.key', '-in', 'server.csr', '-out',
                'server.pem', '-extfile', 'ext', *dates)


def make_context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if MODE in ('tls-1.0', 'tls-1.1', 'weak-key'):
        context.set_ciphers('ALL:@SECLEVEL=0')
    if MODE in ('tls-1.0', 'tls-1.1'):
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1 if MODE == 'tls-1.0' else ssl.TLSVersion.TLSv1_1
    if MODE == 'null-cipher':
        context.set_ciphers('ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0')
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    if MODE == 'alpn-lie':
        context.set_alpn_protocols(['h2'])
    context.load_cert_chain(folder / 'server.pem', folder / 'server.key')
    return context


def read_head(wire):
    got = b''
    while b'\r\n\r\n' not in got:
        piece = wire.recv(65536)
        if not piece:
            return False
        got += piece
    return True


def answer(wire, raw):
    if MODE == 'alpn-lie':
        wire.recv(65536)
        wire.sendall(OK)
        return
    if not read_head(wire):
        return
    if MODE == 'garbage':  # bytes that are no record of TLS
        wire.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf')
        os.write(raw.fileno(), b'this is in the clear')
        time.sleep(1)
    else:
        wire.sendall(OK)


def serve_one(raw, context):
    try:
        if MODE == 'stall':
            time.sleep(30)
        elif MODE == 'cut':
            raw.recv(65536)
        else:
            fd = socket.socket(fileno=os.dup(raw.fileno()))
            wire = context.wrap_socket(raw, server_side=True, suppress_ragged_eofs=False)
            answer(wire, fd)
            wire.unwrap()
    except (OSError, ssl.SSLError):
        pass
    finally:
        raw.close()


def renegotiate(port):
    """TLS 1.2 by openssl s_server, whose line "r" begins a new handshake: once in the middle of a body, or without end."""
    child = subprocess.Popen(['setpriv', '--pdeathsig', 'KILL', 'openssl', 's_server', '-accept', f'127.0.0.1:{port}', '-cert',
                              'server.pem', '-key', 'server.key', '-tls1_2', '-naccept', '1'], cwd=folder,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while b'ACCEPT' not in child.stdout.readline():
        pass
    print(port, folder / 'ca.pem', flush=True)
    while b'HTTP/1.1' not in child.stdout.readline():
        pass

    def say(text):
        os.write(child.stdin.fileno(), text)
        time.sleep(0.1)

    threading.Thread(target=child.stdout.read, daemon=True).start()
    say(b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nfirst\n')
    while True:
        say(b'r\n')
        if MODE == 'renegotiate':
            say(b'later\n')
            time.sleep(30)


def end(*_):
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def main():
    signal.signal(signal.SIGTERM, end)
    make_authority()
    make_certificate()
    listener = socket.create_server(('127.0.0.1', 0))
    port = listener.getsockname()[1]
    if MODE.startswith('renegotiate'):
        listener.close()
        renegotiate(port)
    print(port, folder / 'ca.pem', flush=True)
    context = make_context()
    while True:
        raw, _ = listener.accept()
        threading.Thread(target=serve_one, args=(raw, context), daemon=True).start()


main()

// http2_server.js KEY CERT: an HTTP/2 server for one test. Prints its port, then serves until killed.
'use strict';
const http2 = require('http2');
const fs = require('fs');

const server = http2.createSecureServer({
  key: fs.readFileSync(process.argv[2]),
  cert: fs.readFileSync(process.argv[3]),
});
let connections = 0;

server.on('session', (session) => {
  let streams = 0;
  const connection = ++connections;
  session.on('error', () => {});
  session.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    if (headers[':path'] === '/refuse') {
      stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
      return;
    }
    stream.respond({ ':status': 200, 'x-mark': 'two' });
    stream.end(`connection ${connection} stream ${++streams}`);
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

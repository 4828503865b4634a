// SPDX-License-Identifier: Apache-2.0
// Runs the WebAssembly trace processor of a bundled Perfetto UI without a browser, as a pipe:
// TraceProcessorRpcStream requests on stdin, replies on stdout, the module's log on stderr.
// Usage: node engine.js DIR, where DIR holds engine_bundle.js and the .wasm files.
'use strict';
const fs = require('fs');
const path = require('path');

const directory = process.argv[2];
const READ_BYTES = 1 << 20;
const log = (...parts) => fs.writeSync(2, parts.join(' ') + '\n');
process.on('uncaughtException', (error) => {  // node's own report would quote the whole bundle
  log((error && error.stack) || error);
  process.exit(70);
});

function writeAll(bytes) {
  let at = 0;
  while (at < bytes.length) {
    try {
      at += fs.writeSync(1, bytes, at, bytes.length - at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

// The bundle was built for a web worker: it gets as much of one as it asks for, and no `process`,
// by which it would take itself to be in node.
const worker = {location: {href: 'http://engine.invalid/engine_bundle.js'}};
class LocalRequest {
  open(_method, url) {
    this.file = path.join(directory, path.basename(url));
  }
  send() {
    this.response = Uint8Array.from(fs.readFileSync(this.file)).buffer;
    this.status = 200;
  }
}
const globals = {
  self: worker,
  window: undefined,
  process: undefined,
  require: undefined,
  module: undefined,
  exports: undefined,
  document: undefined,
  WorkerGlobalScope: class {},
  XMLHttpRequest: LocalRequest,
  console: {log, warn: log, error: log, info: log, debug: log},
};
const bundle = fs.readFileSync(path.join(directory, 'engine_bundle.js'), 'utf8');
new Function(...Object.keys(globals), bundle)(...Object.values(globals));

const port = {onmessage: null, postMessage: writeAll};
worker.onmessage({data: port});

function pump() {
  const buffer = Buffer.alloc(READ_BYTES);
  for (;;) {
    let size;
    try {
      size = fs.readSync(0, buffer, 0, buffer.length, null);
    } catch (error) {
      if (error.code === 'EAGAIN') continue;
      if (error.code === 'EOF') break;
      throw error;
    }
    if (size === 0) break;
    port.onmessage({data: new Uint8Array(buffer.buffer, buffer.byteOffset, size)});
  }
  process.exit(0);
}
setTimeout(pump, 0);  // the module starts asynchronously: let it, before the first blocking read

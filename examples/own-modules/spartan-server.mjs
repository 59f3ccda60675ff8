// Serves a directory by the Spartan protocol on loopback, so that the example needs no network.
//   node spartan-server.mjs DIRECTORY PORT
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, normalize } from 'node:path';

const [directory = 'documents', port = '9667'] = process.argv.slice(2);
const TYPES = { gmi: 'text/gemini; charset=utf-8', vcf: 'text/vcard' };

createServer((socket) => {
  socket.on('error', () => undefined);
  // The request is one short line, which arrives whole on loopback.
  socket.setEncoding('utf8').once('data', async (request) => {
    const [, path = '/'] = request.split(' ');
    const name = join(directory, normalize(`/${path.endsWith('/') ? `${path}index.gmi` : path}`));
    try {
      const body = await readFile(name);
      socket.write(`2 ${TYPES[name.split('.').pop()] ?? 'text/plain'}\r\n`);
      socket.end(body);
    } catch {
      socket.end('4 not found\r\n');
    }
  });
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));

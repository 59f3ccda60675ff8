// A small file server with directory listings, for benchmarks on machines without nginx.
//   node file-server.js DIRECTORY PORT
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve } from 'node:path';

const root = resolve(process.argv[2] ?? '.');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.md': 'text/plain',
  '.txt': 'text/plain',
};

createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname);
  const file = join(root, normalize(path));
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || !file.startsWith(root)) {
    response.writeHead(404).end();
  } else if (found.isDirectory()) {
    const names = readdirSync(file, { withFileTypes: true }).map(
      (entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`,
    );
    const links = names.map((name) => `<a href="${encodeURI(name)}">${encodeURI(name)}</a>`);
    response.writeHead(200, { 'content-type': 'text/html' }).end(links.join('\n'));
  } else {
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  }
}).listen(Number(process.argv[3] ?? 0), '127.0.0.1');

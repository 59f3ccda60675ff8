// Lets the clients of harvest-kit read replies: each from a server that sends the bytes of a vector and closes.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { GatherdClient } from 'harvest-kit/clients/gatherd';
import { objectOf } from './kit-json.mjs';

/** Returns what `work` returns for the port of a server; `talk` answers each of its connections. */
async function withServer(talk, work) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    void talk(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work({ host: '127.0.0.1', port: server.address().port });
  } finally {
    server.close();
  }
}

/** The objects of a reply to SEND-UPDATE; the input of a compressed one begins after the start line. */
export async function receiveUpdate(input, { compressed = false } = {}) {
  const talk = async (socket) => {
    socket.write('000 - HELLO 1.8 gatherd.example\n');
    for await (const line of createInterface({ input: socket })) {
      if (line.startsWith('HELLO')) socket.write('100 - HELLO\n');
      else if (line === 'SET compression' && compressed) socket.write('500 - Compression enabled\n');
      else if (line.startsWith('SET ')) socket.write('900 - Bad argument\n');
      else if (line.startsWith('SEND-UPDATE')) {
        if (compressed) socket.write('400 - Sending all objects since 0\n');
        socket.end(input);
      }
    }
  };
  return await withServer(talk, async (peer) => {
    const objects = [];
    for await (const { kind, object } of new GatherdClient(peer).changes({ since: 0 }))
      objects.push({ group: kind, ...objectOf(object) });
    return objects;
  });
}

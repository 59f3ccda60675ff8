// Who reads accepted connections: the host alone, which charges what they send. A server that read its own would be
// one that a flood of it stops.
import t from 'tap';
import { sourcesOf, textOf } from './sources.js';

/** Files outside the host that create a server of Node, each with its reason. */
const SERVERS: Readonly<Record<string, string>> = {
  'servers/web/request-gate.ts': 'gives the parser of HTTP each connection as a FairSocket',
  'servers/cli/listen-problem.ts': 'tries a port, and serves no connection',
};

/** Files outside the host that read an accepted socket, each with its reason. */
const READERS: Readonly<Record<string, string>> = {
  'servers/refererd/refusal.ts': 'the first octets of a client that gets no place, for a quarter of a second',
};

const CREATE = /\bcreate(?:Tls|Secure)?Server\(/;
const READ = /\bsocket\s*\.(?:read\(|(?:on|once|prependListener)\('(?:data|readable)')/;

t.test('accepted connections are read by the host', async (t) => {
  const others = sourcesOf('servers').filter((path) => !path.startsWith('servers/host/'));
  for (const path of others) {
    const text = textOf(path);
    t.equal(CREATE.test(text), path in SERVERS, `${path}: a server of its own`);
    t.equal(READ.test(text), path in READERS, `${path}: reads a socket`);
  }
});

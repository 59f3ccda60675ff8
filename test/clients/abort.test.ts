// After an abort nothing more comes: what has arrived in the same chunk is not delivered, and the iteration
// ends with the signal's reason.
import t from 'tap';
import { BrokerClient } from '../../clients/broker/index.js';
import { BulkClient } from '../../clients/bulk/index.js';
import { collectChanges, GatherdClient } from '../../clients/gatherd/index.js';
import { linkedUrls, ReferencesCalls } from '../../clients/references/index.js';
import type { LinkReply } from '../../protocols/sstp/index.js';
import { tcpServer } from '../helpers/tcp-server.js';
import {
  document,
  NOW,
  openBroker,
  ScriptedGatherd,
  serveBroker,
  type Teardown,
} from '../servers/broker/helpers.js';

const OBJECTS = 20;

/** A gatherd with some objects, and a Broker that has collected them. */
async function openServers(t: Teardown) {
  const gatherd = await ScriptedGatherd.listen();
  t.teardown(() => gatherd.close());
  gatherd.documents = Array.from({ length: OBJECTS }, (_, i) => ({
    updateTime: NOW - 100 - i,
    text: document(`http://a.example.org/${i}`, { Type: 'HTML', Title: 'gopher' }, NOW - 100 - i),
  }));
  const fixture = await openBroker(t, { points: [gatherd.point(0)] });
  await fixture.broker.collections.run();
  const { address } = await serveBroker(t, fixture);
  const { host, port } = gatherd.point(0);
  return { gatherd: { host, port }, broker: { host: address.host, port: address.port } };
}

/** Pages of links from memory. */
class Links extends ReferencesCalls {
  override links(): Promise<LinkReply> {
    return Promise.resolve({ found: 10 * OBJECTS, start: 0, ids: new Uint32Array(OBJECTS), known: true });
  }

  protected exchange(): Promise<never> {
    return Promise.reject(new Error('not used'));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

t.test('an abort between two items ends every iteration of the clients', async (t) => {
  const servers = await openServers(t);
  const page = { view: 'to', found: 10, start: 0, results: [{ id: 1, url: 'http://a.example.org/' }] };
  const body = JSON.stringify(page);
  const pages = await tcpServer(t, (socket) => {
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
  });
  const gatherdClient = async () => {
    const client = await new GatherdClient(servers.gatherd).connect();
    t.teardown(() => client.close());
    return client;
  };
  const iterations: Record<string, (signal: AbortSignal) => Promise<AsyncIterable<unknown>>> = {
    'BrokerClient.query': async (signal) => new BrokerClient(servers.broker).query('gopher', { signal }),
    'BrokerClient.message': async (signal) =>
      new BrokerClient(servers.broker).message('#USER #END gopher', { signal }),
    'BrokerClient.raw': async (signal) =>
      new BrokerClient(servers.broker).raw('#USER #END gopher', { signal }),
    'BulkClient.changes': async (signal) => new BulkClient(servers.broker).changes({ signal }),
    'BulkClient.changes, interface 2': async (signal) =>
      new BulkClient(servers.broker).changes({ signal, interface: 2, compress: true }),
    'BulkClient.changes.batches': async (signal) =>
      new BulkClient(servers.broker).changes({ signal }).batches(),
    'GatherdClient.changes': async (signal) => (await gatherdClient()).changes({ since: 0, signal }),
    'GatherdClient.stream': async (signal) => (await gatherdClient()).stream({ since: 0, signal }),
    collectChanges: async (signal) => collectChanges({ ...servers.gatherd, signal }),
    linkedUrls: async (signal) =>
      linkedUrls({ host: '127.0.0.1', port: pages, what: 'u', list: 'to', signal }),
    'ReferencesCalls.ids': async (signal) => new Links().ids('references', { id: 1, signal }),
    'ReferencesCalls.pages': async (signal) =>
      new Links().pages('references', { id: 1, signal, pageSize: OBJECTS }),
  };
  const inPieces = ['BrokerClient.raw', 'BulkClient.changes.batches', 'GatherdClient.stream'];
  const runs = Object.entries(iterations).flatMap(([name, iterate]) =>
    (inPieces.includes(name) ? [1] : [1, 3]).map((at) => ({ name, iterate, at })),
  );
  for (const { name, iterate, at } of runs) {
    const stop = new AbortController();
    const reason = new Error('enough');
    let items = 0;
    const read = async (): Promise<void> => {
      for await (const _ of await iterate(stop.signal)) {
        items++;
        if (items === at) stop.abort(reason);
      }
    };
    await t.rejects(read(), reason, `${name} ends with the reason`);
    t.equal(items, at, `${name} delivers nothing more`);
  }
});

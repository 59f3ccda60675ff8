// Our bulk client against our broker: the interface of 1995, and the comparison of two brokers by digests.
import t from 'tap';
import { BulkClient, compareBrokers } from '../../../../clients/bulk/index.js';
import { document, NOW } from '../helpers.js';
import { applyChanges, Clock, change, type Peer, pointAt, startPeer, update, urlOf } from './brokers.js';

function clientOf({ server }: Peer): BulkClient {
  return new BulkClient({ host: '127.0.0.1', port: server.address.port });
}

t.test('BP-29: our client reads the interface of 1995 from our broker, raw and compressed', async (t) => {
  const peer = await startPeer(t);
  await applyChanges(peer, update('a', NOW - 5), update('b', NOW - 5));
  for (const compress of [false, true]) {
    const transfer = clientOf(peer).changes({ since: 0, interface: 2, compress });
    const urls: string[] = [];
    for await (const { object } of transfer) urls.push(object.url);
    t.same(urls, [urlOf('a'), urlOf('b')]);
    t.match(transfer.totals, { complete: true, interface: 2, next: NOW - 1 });
  }
});

t.test('BP-31: two brokers are compared by digests', async (t) => {
  const clock = new Clock();
  const a = await startPeer(t, clock);
  const b = await startPeer(t, clock);
  const common = Array.from({ length: 700 }, (_, n) => update(n, NOW - 5));
  await a.broker.store.apply([...common, update('a', NOW - 5), update('c', NOW - 5)]);
  await b.broker.store.apply([...common, update('b', NOW - 5), update('c', NOW - 4)]);
  const difference = await compareBrokers(clientOf(a), clientOf(b));
  t.match(difference, { equal: false, method: 'digests' });
  t.same(difference.onlyA.map((object) => object.url).sort(), [urlOf('a'), urlOf('c')]);
  t.same(difference.onlyB.map((object) => object.url).sort(), [urlOf('b'), urlOf('c')]);
  t.equal((await compareBrokers(clientOf(a), clientOf(a))).equal, true);
});

t.test('REG-48, BP-31: no digest includes expired objects, be they deleted yet or not', async (t) => {
  const clock = new Clock();
  const [a, b] = [await startPeer(t, clock), await startPeer(t, clock)];
  const brief = document(urlOf('brief'), { Title: 'x' }, NOW).replace('{7}:\t2419200', '{2}:\t50');
  await applyChanges(a, update(1, NOW - 10), change('update', brief));
  const digestOf = async ({ broker }: Peer) => {
    const { count, digest, identities } = await broker.bulk.digests.report('', new AbortController().signal);
    return [count, digest, identities?.map((identity) => identity.url)];
  };
  t.equal((await digestOf(a))[0], 2);
  clock.advance(61);
  b.points.push(pointAt(a, 4));
  await b.broker.collections.run();
  t.same(await digestOf(a), await digestOf(b), 'as of a mirror that never received the object');
  t.equal((await digestOf(a))[0], 1);
});

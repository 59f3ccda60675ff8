import t from 'tap';
import { BulkClient, compareBrokers } from '../../../clients/bulk/index.js';
import { Clock, change, gather, type Peer, peer, pointAt, update, url } from './bulk-brokers.js';
import { document, NOW } from './scene.js';

function clientOf({ server }: Peer): BulkClient {
  return new BulkClient({ host: '127.0.0.1', port: server.address.port });
}

t.test('BP-29 our client reads the interface of 1995 from our broker, raw and compressed', async (t) => {
  const one = await peer(t, new Clock());
  await gather(one, update('a', NOW - 5), update('b', NOW - 5));
  for (const compress of [false, true]) {
    const transfer = clientOf(one).transfer({ since: 0, interface: 2, compress });
    const urls: string[] = [];
    for await (const { object } of transfer) urls.push(object.url);
    t.same(urls, [url('a'), url('b')]);
    t.match(transfer.totals, { complete: true, interface: 2, next: NOW - 1 });
  }
});

t.test('BP-24 two brokers are compared by digests, whatever they have in common', async (t) => {
  const clock = new Clock();
  const a = await peer(t, clock);
  const b = await peer(t, clock);
  const common = Array.from({ length: 700 }, (_, n) => update(n, NOW - 5));
  await a.broker.store.apply([...common, update('a', NOW - 5), update('c', NOW - 5)]);
  await b.broker.store.apply([...common, update('b', NOW - 5), update('c', NOW - 4)]);
  const difference = await compareBrokers(clientOf(a), clientOf(b));
  t.match(difference, { equal: false, method: 'digests' });
  t.same(difference.onlyA.map((object) => object.url).sort(), [url('a'), url('c')]);
  t.same(difference.onlyB.map((object) => object.url).sort(), [url('b'), url('c')]);
  t.equal((await compareBrokers(clientOf(a), clientOf(a))).equal, true);
});

t.test('REG-48, BP-24 expired objects are in no digest, cleaned or not', async (t) => {
  const clock = new Clock();
  const [a, b] = [await peer(t, clock), await peer(t, clock)];
  const brief = document(url('brief'), { Title: 'x' }, NOW).replace('{7}:\t2419200', '{2}:\t50');
  await gather(a, update(1, NOW - 10), change('update', brief));
  const digest = async ({ broker }: Peer) => {
    const { count, digest, identities } = await broker.bulkDigest('', new AbortController().signal);
    return [count, digest, identities?.map((identity) => identity.url)];
  };
  t.equal((await digest(a))[0], 2);
  clock.tick(61);
  b.points.push(pointAt(a, 4));
  await b.broker.collect();
  t.same(await digest(a), await digest(b), 'a mirror is not different for what it was not sent');
  t.equal((await digest(a))[0], 1);
});

// The addresses and identities of hosts, and the locks that keep the pauses of a host.
import t from 'tap';
import { addressBytes, HostAddresses } from '../../../servers/crawler/servers/host-addresses.js';
import { HostLocks } from '../../../servers/crawler/servers/host-locks.js';

const never = new AbortController().signal;

t.test('CRAWL-12.3 addresses expire after the setting or their longer lifetime', async (t) => {
  const clock = { now: 0 };
  const lookups: string[] = [];
  const answers: Record<string, { addresses: string[]; ttlSeconds?: number }> = {
    'short.example': { addresses: ['192.0.2.2', '192.0.2.1'], ttlSeconds: 10 },
    'system.example': { addresses: ['192.0.2.3'] },
    'none.example': { addresses: [] },
  };
  const options = {
    lookup: async (name: string) => {
      lookups.push(name);
      return answers[name] ?? Promise.reject(new Error('no such name'));
    },
    now: () => clock.now,
  };
  const hosts = new HostAddresses({ ...options, validitySeconds: 60 });
  const names = ['short.example', 'system.example', 'none.example', '192.0.2.9', 'fails.example'];
  t.notOk(hosts.knows('short.example'), 'an address is unknown before its look-up');
  await hosts.resolve([...names, ...names]);
  t.equal(lookups.length, 4, 'each name is looked up once; a numeric host needs no look-up');
  t.same(hosts.addressesOf('short.example'), ['192.0.2.1', '192.0.2.2']);
  t.same(hosts.addressesOf('fails.example'), []);
  const known = (): string[] => names.filter((name) => hosts.knows(name));
  clock.now = 59_999;
  t.same(known(), names);
  clock.now = 60_000;
  t.same(
    known(),
    ['system.example', '192.0.2.9'],
    'the longer of setting and lifetime; without one, six hours',
  );
  clock.now = 21_600_000;
  t.same(known(), ['192.0.2.9']);
  await hosts.resolve(['short.example']);
  t.equal(lookups.length, 5);
  const withoutExpiry = new HostAddresses({ ...options, validitySeconds: 0 });
  await withoutExpiry.resolve(['short.example']);
  clock.now = 1e15;
  t.ok(withoutExpiry.knows('short.example'));
});

t.test('CRAWL-12.3 look-ups are limited in number and time, and callers share them', async (t) => {
  let running = 0;
  let maxRunning = 0;
  const releases: (() => void)[] = [];
  const hosts = new HostAddresses({
    maxConcurrent: 2,
    lookup: (name) =>
      new Promise((resolve) => {
        maxRunning = Math.max(maxRunning, ++running);
        releases.push(() => {
          running--;
          resolve({ addresses: [`192.0.2.${name.slice(1)}`] });
        });
      }),
    timeoutMs: 60_000,
  });
  const all = hosts.resolve(['h1', 'h2', 'h3', 'h4', 'h5']);
  const again = hosts.resolve(['h5', 'h1']);
  const stop = new AbortController();
  const impatient = hosts.resolve(['h5'], stop.signal);
  stop.abort(new Error('enough'));
  await t.rejects(impatient, /enough/);
  for (let done = 0; done < 5; done++) {
    while (releases.length === 0) await new Promise((resolve) => setImmediate(resolve));
    releases.shift()?.();
  }
  await Promise.all([all, again]);
  t.equal(maxRunning, 2);
  t.same(hosts.addressesOf('h5'), ['192.0.2.5']);

  const slow = new HostAddresses({ lookup: () => new Promise(() => {}), timeoutMs: 1 });
  await slow.resolve(['never.example']);
  t.same([slow.knows('never.example'), slow.addressesOf('never.example')], [true, []]);
  t.equal(slow.identity('never.example'), 'never.example', 'G-33: without addresses a host is its identity');
});

t.test('G-33 aliases count as one host, even after their addresses change', async (t) => {
  const answers: Record<string, string[]> = {
    a: ['192.0.2.1'],
    b: ['192.0.2.1', '192.0.2.2'],
    c: ['192.0.2.2'],
  };
  const clock = { now: 0 };
  const hosts = new HostAddresses({
    lookup: async (name) => ({ addresses: answers[name] ?? [], ttlSeconds: 1 }),
    validitySeconds: 1,
    now: () => clock.now,
  });
  await hosts.resolve(['a', 'b', 'c']);
  const identity = hosts.identity('a');
  t.equal(hosts.identity('b'), identity);
  t.equal(hosts.identity('c'), identity, 'a and c are aliases because both share an address with b');
  answers.a = ['192.0.2.77'];
  clock.now = 10_000;
  await hosts.resolve(['a']);
  t.same(hosts.addressesOf('a'), ['192.0.2.77']);
  t.equal(hosts.identity('a'), identity);
});

t.test('CRAWL-9.5 addresses are converted to bytes', async (t) => {
  t.same([...(addressBytes('192.0.2.255') ?? [])], [192, 0, 2, 255]);
  t.same(
    [...(addressBytes('2001:db8::ff00:1') ?? [])],
    [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 1],
  );
  t.same(
    [...(addressBytes('::ffff:192.0.2.1') ?? [])],
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1],
  );
  t.same([...(addressBytes('fe80::1%eth0') ?? [])].slice(0, 2), [0xfe, 0x80]);
  t.equal(addressBytes('a.example'), undefined);
  const hosts = new HostAddresses();
  await hosts.resolve(['[::1]']);
  t.equal(hosts.bytesOf('[::1]')?.length, 16);
  t.equal(hosts.bytesOf('unknown.example'), undefined);
});

t.test('RFC 9309 2.3.1.2, CRAWL-5.6.4 a robots.txt on another host waits for that host', async (t) => {
  const locks = new HostLocks();
  const order: string[] = [];
  let finish: () => void = () => undefined;
  const busy = locks.shared('b.example', never, async () => {
    order.push('fetch begins');
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    order.push('fetch ends');
  });
  const robots = locks.exclusive('b.example', 60, never, async () => {
    order.push('robots.txt');
    return Date.now();
  });
  await new Promise(setImmediate);
  finish();
  const ended = Date.now();
  await busy;
  const robotsTime = await robots;
  t.ok(robotsTime - ended >= 59, 'robots.txt waits for the pause after the fetch');
  await locks.shared('b.example', never, async () => {
    order.push('next fetch');
    t.ok(Date.now() - robotsTime >= 59, 'the next fetch waits for the pause after robots.txt');
  });
  t.same(order, ['fetch begins', 'fetch ends', 'robots.txt', 'next fetch']);
  const stop = new AbortController();
  await locks.exclusive('c.example', 100_000, never, async () => undefined);
  const waiting = locks.shared('c.example', stop.signal, async () => undefined);
  stop.abort(new Error('enough'));
  await t.rejects(waiting, 'an aborted wait ends');
});

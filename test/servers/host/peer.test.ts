// The address of a peer, and its name, which must resolve back to the address.
import { lookupService } from 'node:dns/promises';
import t from 'tap';
import { createPeer, plainAddress, systemLookup } from '../../../servers/host/index.js';

t.test('GATHERD-9.5: a host name is valid only if it resolves back to the address', async (t) => {
  const lookups: string[] = [];
  const lookup = {
    async reverse(address: string) {
      lookups.push(address);
      if (address === '192.0.2.9') throw new Error('ENOTFOUND');
      return ['forged.example', 'Real.Example.ORG.'];
    },
    async forward(name: string) {
      if (name === 'forged.example') throw new Error('ENOTFOUND');
      return ['192.0.2.1', '::ffff:192.0.2.2'];
    },
  };
  const peer = createPeer('::ffff:192.0.2.1', 5, lookup);
  t.equal(peer.address, '192.0.2.1');
  t.equal(await peer.name(), 'real.example.org');
  t.equal(await peer.name(), 'real.example.org');
  t.same(lookups, ['192.0.2.1'], 'the name is looked up once');
  t.equal(await createPeer('192.0.2.2', 5, lookup).name(), 'real.example.org');
  t.equal(await createPeer('192.0.2.3', 5, lookup).name(), undefined, 'a forged reverse entry gives no name');
  t.equal(await createPeer('192.0.2.9', 5, lookup).name(), undefined, 'no reverse entry, no name');
  t.equal(plainAddress('fe80::1%eth0'), 'fe80::1');
});

t.test('GATHERD-9.5: the system finds loopback in the hosts file, including its first name', async (t) => {
  const { hostname } = await lookupService('127.0.0.1', 0);
  const [first] = await systemLookup().reverse('127.0.0.1');
  t.equal(first, hostname);
});

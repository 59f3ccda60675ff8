// gatherd.cf: which peers may connect, by name, address and range. Each peer has its own loopback address.
// Rules: GATHERD-9.
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseGatherdConf } from '../../../protocols/config/index.js';
import type { NameLookup } from '../../../servers/host/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';
import { type GatherdFixture, startGatherd } from './helpers.js';

/** Reverse and forward entries of the fake name server. */
const REVERSE: Readonly<Record<string, readonly string[]>> = {
  '127.0.0.2': ['powell.cs.colorado.edu'],
  '127.0.0.3': ['xcs.colorado.edu'],
  '127.0.0.4': ['FTP.WUSTL.EDU.'],
  '127.0.0.5': ['cs.colorado.edu'],
  '127.0.0.6': ['forged.cs.colorado.edu'],
  '127.0.0.7': ['unknown.cs.colorado.edu', 'second.usc.edu'],
};
const FORWARD: Readonly<Record<string, readonly string[]>> = {
  'powell.cs.colorado.edu': ['127.0.0.2'],
  'xcs.colorado.edu': ['127.0.0.3'],
  'FTP.WUSTL.EDU.': ['192.0.2.1', '::ffff:127.0.0.4'],
  'cs.colorado.edu': ['127.0.0.5'],
  'forged.cs.colorado.edu': ['192.0.2.99'],
  'second.usc.edu': ['127.0.0.7'],
};

/** Returns a name server with these entries; it records the addresses that are looked up. */
function fakeNameServer(lookups: string[] = []): NameLookup {
  return {
    async reverse(address) {
      lookups.push(address);
      const names = REVERSE[address];
      if (names === undefined) throw new Error('no such entry');
      return names;
    },
    async forward(name) {
      const addresses = FORWARD[name];
      if (addresses === undefined) throw new Error('no such name');
      return addresses;
    },
  };
}

/** Connects from this address; returns `allowed`, `denied` or the unexpected reply. */
async function tryAccess(
  { port }: GatherdFixture,
  localAddress: string,
  host = '127.0.0.1',
): Promise<string> {
  const socket = connect({ port, host, localAddress });
  let received = '';
  socket.setEncoding('latin1');
  socket.end('QUIT\n');
  for await (const text of socket) received += String(text);
  if (received === '000 - HELLO 1.8 gatherer.example.org\n999 - Bye\n') return 'allowed';
  return received === '999 - Access denied\n' ? 'denied' : received;
}

/** Starts gatherd with a gatherd.cf that the test writes. */
async function startWithRules(t: Test, options: Parameters<typeof startGatherd>[2] = {}) {
  const file = join(await temporaryDirectory(t), 'gatherd.cf');
  const gatherd = await startGatherd(t, [], { accessFile: file, lookup: fakeNameServer(), ...options });
  return { file, gatherd };
}

t.test('GATHERD-9, GATHERD-9.3, GATHERD-9.4, 3.10: gatherd.cf, read again for each connection', async (t) => {
  const { file, gatherd } = await startWithRules(t);
  t.equal(await tryAccess(gatherd, '127.0.0.9'), 'allowed', 'GATHERD-9.2: no file, no limit');
  const cases: [rule: string, text: string, peer: number, expected: string][] = [
    ['9.2 an empty file', '', 9, 'allowed'],
    ['9.2 all', 'Deny all', 9, 'denied'],
    ['9.2 all, whatever its case', 'deny ALL', 2, 'denied'],
    [
      '9.2 any number of names, tabs and blanks',
      'Allow a.example\tb.example   127.0.0.9 \nDeny all',
      9,
      'allowed',
    ],
    ['9.2 a Gzip line is accepted', 'Gzip /usr/bin/gzip\nDeny all', 9, 'denied'],
    ['9.3 a host below the domain', 'Allow cs.colorado.edu ftp.wustl.edu\nDeny all', 2, 'allowed'],
    ['9.3 the host of that name', 'Allow cs.colorado.edu ftp.wustl.edu\nDeny all', 5, 'allowed'],
    ['9.3 only whole labels match', 'Allow cs.colorado.edu ftp.wustl.edu\nDeny all', 3, 'denied'],
    ['9.3 a host does not match the domain above it', 'Allow powell.cs.colorado.edu\nDeny all', 5, 'denied'],
    ['9.3 case and final dot of the peer do not count', 'Allow ftp.wustl.edu\nDeny all', 4, 'allowed'],
    ['9.3 case and outer dots in the file do not count', 'Allow .CS.Colorado.EDU.\nDeny all', 2, 'allowed'],
    [
      '9.4 the first line with a name decides',
      'Deny powell.cs.colorado.edu\nAllow colorado.edu\nDeny all',
      2,
      'denied',
    ],
    ['9.4 a later line is ignored', 'Allow colorado.edu\nDeny powell.cs.colorado.edu', 2, 'allowed'],
    ['9.4 no line matches', 'Deny usc.edu\nDeny 192.0.2.0/24', 2, 'allowed'],
    ['9.5 a name that does not resolve back matches no Allow', 'Allow colorado.edu\nDeny all', 6, 'denied'],
    ['9.5 a name that does not resolve back matches no Deny', 'Deny colorado.edu', 6, 'allowed'],
    ['9.5 the first name that resolves back is used', 'Allow usc.edu\nDeny all', 7, 'allowed'],
    ['9.5 a peer without a name matches only addresses and all', 'Allow colorado.edu\nDeny all', 9, 'denied'],
    ['9.5 an address matches a peer that has a name', 'Allow 127.0.0.2\nDeny all', 2, 'allowed'],
    ['9.5 an address matches a peer without a name', 'Deny 127.0.0.9', 9, 'denied'],
    ['9.5 an address is not a prefix', 'Deny 127.0.0', 9, 'allowed'],
    ['9.5 an IPv4 address in IPv6 notation', 'Deny ::ffff:127.0.0.9', 9, 'denied'],
    ['G-124 an address inside the range', 'Deny 127.0.0.8/30', 9, 'denied'],
    ['G-124 an address outside the range', 'Deny 127.0.0.8/30', 12, 'allowed'],
    ['G-124 an IPv4 range in IPv6 notation', 'Deny ::ffff:127.0.0.8/126', 11, 'denied'],
    ['G-124 an address outside that range', 'Deny ::ffff:127.0.0.8/126', 12, 'allowed'],
    ['G-123 the example of the manual', 'Allow cs.colorado.edu usc.edu\nDeny all', 7, 'allowed'],
    [
      '9.6 comments, blank lines, CR LF',
      '# Deny all\r\n\r\n   # and this\r\nAllow all\r\nDeny all',
      9,
      'allowed',
    ],
    ['9.6 a comment after a rule is ignored', 'Allow 192.0.2.1 # not all of them\nDeny all', 9, 'denied'],
    ['9.6 unknown directives are ignored', 'Permit all\nRefuse all\nDeny 127.0.0.9', 9, 'denied'],
    ['9.6 a directive without names is ignored', 'Allow\nDeny all', 9, 'denied'],
    ['9.6 a byte-order mark is ignored', '\ufeffDeny all', 9, 'denied'],
  ];
  for (const [rule, text, peer, expected] of cases) {
    await writeFile(file, text);
    const found = await tryAccess(gatherd, `127.0.0.${peer}`);
    t.equal(found, expected, rule.startsWith('G-') ? rule : `GATHERD-${rule}`);
  }
  await rm(file);
  t.equal(await tryAccess(gatherd, '127.0.0.9'), 'allowed', 'GATHERD-9.2: the file was removed');
});

t.test('GATHERD-9.6: ignored lines and names of gatherd.cf are logged', async (t) => {
  const file = join(await temporaryDirectory(t), 'gatherd.cf');
  await writeFile(
    file,
    '# fine\nPermit all\nAllow\nDeny 10.0.0.0/33 127.0.0 fine.example ::1/129\nAllow all\n',
  );
  const gatherd = await startGatherd(t, [], { accessFile: file, lookup: fakeNameServer() });
  t.equal(await tryAccess(gatherd, '127.0.0.9'), 'allowed');
  const log = gatherd.log.join('');
  t.match(log, `${file}:2: Permit: ignored: unknown directive`);
  t.match(log, `${file}:3: Allow: ignored: a name must follow`);
  for (const name of ['10.0.0.0/33', '127.0.0', '::1/129'])
    t.match(log, `${file}:4: Deny: ${name} is not a name, address or range: no peer matches it`);
  t.notMatch(log, 'fine');
  t.match(log, /gatherd: \d{6} \d\d:\d\d:\d\d: 127\.0\.0\.9: connection: allowed\n/, 'GATHERD-12.2');
});

t.test('GATHERD-9.5: a name is looked up only if a rule can match it, and is logged', async (t) => {
  const lookups: string[] = [];
  const { file, gatherd } = await startWithRules(t, { lookup: fakeNameServer(lookups) });
  await writeFile(file, 'Allow 127.0.0.0/8 ::1\nDeny all');
  t.equal(await tryAccess(gatherd, '127.0.0.2'), 'allowed');
  t.same(lookups, [], 'rules of addresses need no lookup');
  await writeFile(file, 'Deny cs.colorado.edu');
  t.equal(await tryAccess(gatherd, '127.0.0.2'), 'denied');
  t.same(lookups, ['127.0.0.2']);
  t.match(gatherd.log.join(''), '127.0.0.2: connection from powell.cs.colorado.edu: denied');
});

t.test('GATHERD-9.6: with a gatherd.cf that cannot be read every peer is denied', async (t) => {
  const { file, gatherd } = await startWithRules(t);
  await mkdir(file);
  t.equal(await tryAccess(gatherd, '127.0.0.9'), 'denied', 'gatherd.cf is a directory');
  t.match(gatherd.log.join(''), /ERROR: .* cannot be used, no peer is admitted/);
  await rm(file, { recursive: true });
  await writeFile(file, `Allow all\n${'#'.repeat(1 << 20)}\n`);
  t.equal(await tryAccess(gatherd, '127.0.0.9'), 'denied', 'gatherd.cf is larger than 1 MiB');
  await writeFile(file, 'Allow all');
  await chmod(file, 0);
  const expected = process.getuid?.() === 0 ? 'allowed' : 'denied';
  t.equal(await tryAccess(gatherd, '127.0.0.9'), expected, 'only root can read gatherd.cf');
});

t.test('GATHERD-9.5: IPv4 and IPv6 peers of one socket', async (t) => {
  const { file, gatherd } = await startWithRules(t, { host: '::' });
  await writeFile(file, 'Allow 127.0.0.9 ::1\nDeny all');
  t.equal(await tryAccess(gatherd, '127.0.0.9'), 'allowed', 'an IPv6 socket with an IPv4 peer');
  t.equal(await tryAccess(gatherd, '127.0.0.10'), 'denied');
  t.equal(await tryAccess(gatherd, '::1', '::1'), 'allowed');
  await writeFile(file, 'Deny ::/127');
  t.equal(await tryAccess(gatherd, '::1', '::1'), 'denied', 'G-124: an IPv6 range');
  t.equal(await tryAccess(gatherd, '127.0.0.9'), 'allowed');
});

t.test('G-124: ranges are exact to the bit', (t) => {
  const denies = (range: string, address: string): boolean =>
    !parseGatherdConf(`Deny ${range}`, 'gatherd.cf').decide(undefined, address);
  const cases: [string, string, boolean][] = [
    ['0.0.0.0/0', '203.0.113.1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['10.0.0.1/32', '10.0.0.1', true],
    ['10.0.0.1/32', '10.0.0.0', false],
    ['10.0.0.128/25', '10.0.0.127', false],
    ['10.0.0.128/25', '10.0.0.255', true],
    ['::ffff:0:0/96', '198.51.100.7', true],
    ['::ffff:10.0.0.0/104', '10.255.0.1', true],
    ['::ffff:10.0.0.0/104', '11.0.0.0', false],
    ['::ffff:10.0.0.0/24', '10.0.0.1', false],
    ['2001:db8::/33', '2001:db8:7fff::', true],
    ['2001:db8::/33', '2001:db8:8000::', false],
    ['[::1]', '::1', true],
  ];
  for (const [range, address, expected] of cases)
    t.equal(denies(range, address), expected, `${range} ${address}`);
  t.end();
});

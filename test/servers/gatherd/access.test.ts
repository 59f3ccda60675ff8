import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseGatherdConf } from '../../../protocols/config/index.js';
import type { NameLookup } from '../../../servers/host/index.js';
import { type Scene, scene } from './support.js';

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

function nameServer(asked: string[] = []): NameLookup {
  return {
    async reverse(address) {
      asked.push(address);
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

/** Returns the first answer to a peer with this address. */
async function verdict({ port }: Scene, localAddress: string, host = '127.0.0.1'): Promise<string> {
  const socket = connect({ port, host, localAddress });
  let heard = '';
  socket.setEncoding('latin1');
  socket.end('QUIT\n');
  for await (const text of socket) heard += String(text);
  if (heard === '000 - HELLO 1.8 gatherer.example.org\n999 - Bye\n') return 'allowed';
  return heard === '999 - Access denied\n' ? 'denied' : heard;
}

async function directory(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'access-test-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

t.test('gatherd.cf over the wire, rule by rule, read again for each connection (GATHERD-9.6)', async (t) => {
  const file = join(await directory(t), 'gatherd.cf');
  const it = await scene(t, [], { accessFile: file, lookup: nameServer() });
  t.equal(await verdict(it, '127.0.0.9'), 'allowed', 'GATHERD-9.2 without the file everybody may connect');
  const cases: [rule: string, text: string, peer: string, expected: string][] = [
    ['9.2 an empty file', '', '127.0.0.9', 'allowed'],
    ['9.2 all', 'Deny all', '127.0.0.9', 'denied'],
    ['9.2 all, whatever its case', 'deny ALL', '127.0.0.2', 'denied'],
    [
      '9.2 any number of names, tabs and blanks',
      'Allow a.example\tb.example   127.0.0.9 \nDeny all',
      '127.0.0.9',
      'allowed',
    ],
    ['9.2 Gzip is accepted', 'Gzip /usr/bin/gzip\nDeny all', '127.0.0.9', 'denied'],
    ['9.3 a host below the domain', 'Allow cs.colorado.edu ftp.wustl.edu\nDeny all', '127.0.0.2', 'allowed'],
    ['9.3 the domain itself', 'Allow cs.colorado.edu ftp.wustl.edu\nDeny all', '127.0.0.5', 'allowed'],
    ['9.3 whole labels', 'Allow cs.colorado.edu ftp.wustl.edu\nDeny all', '127.0.0.3', 'denied'],
    ['9.3 not the host above', 'Allow powell.cs.colorado.edu\nDeny all', '127.0.0.5', 'denied'],
    [
      '9.3 case and final dot of the peer do not count',
      'Allow ftp.wustl.edu\nDeny all',
      '127.0.0.4',
      'allowed',
    ],
    [
      '9.3 case and dots of the file do not count',
      'Allow .CS.Colorado.EDU.\nDeny all',
      '127.0.0.2',
      'allowed',
    ],
    [
      '9.4 the first line with a name decides',
      'Deny powell.cs.colorado.edu\nAllow colorado.edu\nDeny all',
      '127.0.0.2',
      'denied',
    ],
    ['9.4 and not a later one', 'Allow colorado.edu\nDeny powell.cs.colorado.edu', '127.0.0.2', 'allowed'],
    ['9.4 no line matches', 'Deny usc.edu\nDeny 192.0.2.0/24', '127.0.0.2', 'allowed'],
    ['9.5 a name that does not resolve back is none', 'Allow colorado.edu\nDeny all', '127.0.0.6', 'denied'],
    ['9.5 a name of others does no harm either', 'Deny colorado.edu', '127.0.0.6', 'allowed'],
    ['9.5 the second name is the confirmed one', 'Allow usc.edu\nDeny all', '127.0.0.7', 'allowed'],
    [
      '9.5 without a name only all and addresses match',
      'Allow colorado.edu\nDeny all',
      '127.0.0.9',
      'denied',
    ],
    ['9.5 a literal address, with a name', 'Allow 127.0.0.2\nDeny all', '127.0.0.2', 'allowed'],
    ['9.5 a literal address, without one', 'Deny 127.0.0.9', '127.0.0.9', 'denied'],
    ['9.5 addresses are no prefixes', 'Deny 127.0.0', '127.0.0.9', 'allowed'],
    ['9.5 an IPv4 address as IPv6', 'Deny ::ffff:127.0.0.9', '127.0.0.9', 'denied'],
    ['G-124 a range', 'Deny 127.0.0.8/30', '127.0.0.9', 'denied'],
    ['G-124 outside of the range', 'Deny 127.0.0.8/30', '127.0.0.12', 'allowed'],
    ['G-124 an IPv4 range as IPv6', 'Deny ::ffff:127.0.0.8/126', '127.0.0.11', 'denied'],
    ['G-124 outside of that', 'Deny ::ffff:127.0.0.8/126', '127.0.0.12', 'allowed'],
    ['G-123 the example', 'Allow cs.colorado.edu usc.edu\nDeny all', '127.0.0.7', 'allowed'],
    [
      '9.6 comments, blank lines, CR LF',
      '# Deny all\r\n\r\n   # and this\r\nAllow all\r\nDeny all',
      '127.0.0.9',
      'allowed',
    ],
    [
      '9.6 a comment behind a rule is no part of it',
      'Allow 192.0.2.1 # not all of them\nDeny all',
      '127.0.0.9',
      'denied',
    ],
    ['9.6 unknown directives', 'Permit all\nRefuse all\nDeny 127.0.0.9', '127.0.0.9', 'denied'],
    ['9.6 a directive without names', 'Allow\nDeny all', '127.0.0.9', 'denied'],
    ['9.6 a byte-order mark', '\ufeffDeny all', '127.0.0.9', 'denied'],
  ];
  for (const [rule, text, peer, expected] of cases) {
    await writeFile(file, text);
    t.equal(await verdict(it, peer), expected, `GATHERD-${rule}`);
  }
  await rm(file);
  t.equal(await verdict(it, '127.0.0.9'), 'allowed', 'GATHERD-9.2 and when the file is gone again');
});

t.test('GATHERD-9.6 ignored lines and names of gatherd.cf are logged', async (t) => {
  const file = join(await directory(t), 'gatherd.cf');
  await writeFile(
    file,
    '# fine\nPermit all\nAllow\nDeny 10.0.0.0/33 127.0.0 fine.example ::1/129\nAllow all\n',
  );
  const it = await scene(t, [], { accessFile: file, lookup: nameServer() });
  t.equal(await verdict(it, '127.0.0.9'), 'allowed');
  const log = it.log.join('');
  t.match(log, `${file}:2: Permit: ignored: unknown directive`);
  t.match(log, `${file}:3: Allow: ignored: a name must follow`);
  for (const name of ['10.0.0.0/33', '127.0.0', '::1/129'])
    t.match(log, `${file}:4: Deny: ${name} is not a name, address or range: no peer matches it`);
  t.notMatch(log, 'fine');
  t.match(log, /gatherd: \d{6} \d\d:\d\d:\d\d: 127\.0\.0\.9: connection: allowed\n/, 'GATHERD-12.2');
});

t.test('GATHERD-9.5 a name is looked up only if a rule can match it, and is logged', async (t) => {
  const file = join(await directory(t), 'gatherd.cf');
  const asked: string[] = [];
  const it = await scene(t, [], { accessFile: file, lookup: nameServer(asked) });
  await writeFile(file, 'Allow 127.0.0.0/8 ::1\nDeny all');
  t.equal(await verdict(it, '127.0.0.2'), 'allowed');
  t.same(asked, []);
  await writeFile(file, 'Deny cs.colorado.edu');
  t.equal(await verdict(it, '127.0.0.2'), 'denied');
  t.same(asked, ['127.0.0.2']);
  t.match(it.log.join(''), '127.0.0.2: connection from powell.cs.colorado.edu: denied');
});

t.test('GATHERD-9.6 a gatherd.cf that cannot be read admits no peer', async (t) => {
  const file = join(await directory(t), 'gatherd.cf');
  const it = await scene(t, [], { accessFile: file, lookup: nameServer() });
  await mkdir(file);
  t.equal(await verdict(it, '127.0.0.9'), 'denied', 'a directory');
  t.match(it.log.join(''), /ERROR: .* cannot be used, no peer is admitted/);
  await rm(file, { recursive: true });
  await writeFile(file, `Allow all\n${'#'.repeat(1 << 20)}\n`);
  t.equal(await verdict(it, '127.0.0.9'), 'denied', 'larger than it may be');
  await writeFile(file, 'Allow all');
  await chmod(file, 0);
  const expected = process.getuid?.() === 0 ? 'allowed' : 'denied';
  t.equal(await verdict(it, '127.0.0.9'), expected, 'no permission (root may read everything)');
});

t.test('GATHERD-9.5 addresses of both kinds on one socket', async (t) => {
  const file = join(await directory(t), 'gatherd.cf');
  const it = await scene(t, [], { host: '::', accessFile: file, lookup: nameServer() });
  await writeFile(file, 'Allow 127.0.0.9 ::1\nDeny all');
  t.equal(await verdict(it, '127.0.0.9'), 'allowed', 'an IPv4 peer of an IPv6 socket');
  t.equal(await verdict(it, '127.0.0.10'), 'denied');
  t.equal(await verdict(it, '::1', '::1'), 'allowed');
  await writeFile(file, 'Deny ::/127');
  t.equal(await verdict(it, '::1', '::1'), 'denied', 'G-124');
  t.equal(await verdict(it, '127.0.0.9'), 'allowed');
});

t.test('G-124 ranges are exact to the bit', (t) => {
  const admits = (range: string, address: string): boolean =>
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
    t.equal(admits(range, address), expected, `${range} ${address}`);
  t.end();
});

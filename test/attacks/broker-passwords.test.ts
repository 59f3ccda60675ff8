// Guessing the administrator's password over the Broker's port: an address that was wrong ten times must wait.
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { configFromRoots } from '../../servers/all-in-one/roots.js';
import { administer, readBrokerConf } from '../../servers/broker/index.js';
import { addressGroup } from '../../servers/host/index.js';
import { readConfiguration } from '../../servers/refererd/configuration.js';
import { PasswordThrottle } from '../../servers/web/password-throttle.js';
import { visitorOf } from '../../servers/web/visitor.js';
import { exchange, openBroker, serveBroker } from '../servers/broker/helpers.js';
import { servePages } from './web-servers.js';

t.test('2000 passwords over the port: ten are compared, the log stays short', async (t) => {
  const fixture = await openBroker(t);
  const { broker, directory, log } = fixture;
  const { port } = (await serveBroker(t, fixture)).address;
  const replies: string[] = [];
  for (let i = 0; i < 2000; i += 50) {
    const guesses = Array.from({ length: 50 }, (_, k) =>
      exchange(port, `#ADMIN #password guess${i + k} #do-stats\r\n`),
    );
    replies.push(...(await Promise.all(guesses)));
  }
  t.equal(replies.filter((reply) => reply.includes('Invalid password')).length, 10);
  t.equal(
    replies.filter((reply) => /111 - ERROR: Too many wrong passwords, wait 5 minutes/.test(reply)).length,
    1990,
  );
  const right = await exchange(port, '#ADMIN #password "open sesame" #do-stats\r\n');
  t.match(right, /Too many wrong passwords/, 'the address waits, whatever it sends');
  await broker.events.flush();
  const lines = readFileSync(join(directory, 'admin', 'LOG'), 'utf8').split('\n');
  t.ok(lines.length < 30, `${lines.length} lines`);
  t.ok(lines.some((line) => /Admin: 127\.0\.0\.1: #do-stats refused: too many wrong passwords/.test(line)));
  t.ok(log.length < 40, `${log.length} lines`);
  t.notOk(
    [...lines, ...log].some((line) => line.includes('guess')),
    'no password is logged',
  );
});

t.test('the brake counts by address, an IPv6 network as one', async (t) => {
  const { broker } = await openBroker(t);
  const send = async (address: string, password: string): Promise<string> => {
    let text = '';
    for await (const item of administer(broker, { password, command: { kind: 'do-stats' }, address })) {
      if (item.kind === 'fatal') text = item.text;
    }
    return text;
  };
  for (let i = 0; i < 10; i++) t.match(await send(`2001:db8:0:1::${i}`, 'wrong'), /Invalid/);
  t.match(await send('2001:db8:0:1:ffff::1', 'open sesame'), /Too many/);
  t.equal(await send('2001:db8:0:2::1', 'open sesame'), '');
  t.equal(await send('192.0.2.7', 'open sesame'), '');
});

t.test('a site with 65 536 IPv6 networks does not get ten tries for each of them', (t) => {
  let now = 0;
  const throttle = new PasswordThrottle(() => now);
  let tries = 0;
  let reports = 0;
  for (let i = 0; i < 65_536; i++) {
    const address = `2001:db8:7:${i.toString(16)}::1`;
    for (let k = 0; k < 10; k++) {
      if (throttle.secondsToWait(address) > 0) {
        if (throttle.recordRefusal(address) !== undefined) reports += 1;
        break;
      }
      tries += 1;
      throttle.recordFailure(address);
    }
  }
  t.equal(tries, 100);
  t.equal(reports, 1, 'one line tells all refusals of a minute');
  t.equal(throttle.secondsToWait('2001:db8:8::1'), 0, 'another site may try');
  t.equal(throttle.secondsToWait('192.0.2.1'), 0);
  now = 5 * 60_000 + 1;
  t.equal(throttle.secondsToWait('2001:db8:7:1::1'), 0, 'the site may try again after five minutes');
  t.end();
});

t.test('addresses are grouped', async (t) => {
  for (const [address, group] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
    ['2001:db8::5', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '::1'],
    ['64:ff9b::192.0.2.33', '192.0.2.33'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
    ['-', '-'],
  ] as const)
    t.equal(addressGroup(address), group, address);
});

t.test('refusals are reported once a minute, and the table of addresses is bounded', async (t) => {
  let now = 0;
  const throttle = new PasswordThrottle(() => now);
  for (let i = 0; i < 10; i++) throttle.recordFailure('192.0.2.1');
  t.equal(throttle.recordRefusal('192.0.2.1'), 1);
  for (let i = 0; i < 500; i++) t.equal(throttle.recordRefusal('192.0.2.1'), undefined);
  now = 60_000;
  t.equal(throttle.recordRefusal('192.0.2.1'), 501);
  for (let i = 0; i < 20_000; i++) throttle.recordFailure(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  t.equal(throttle.secondsToWait('192.0.2.1'), 0, 'the oldest address is forgotten');
});

t.test('configurations with passwords that others can read are told', async (t) => {
  const directory = t.testdir({
    'broker.conf': 'Broker-Name x\nAdmin-Password open\n',
    'no-password.conf': 'Broker-Name x\n',
    'referer.cf': `rootdir=${t.testdirName}\nscanuser=x\nscanpass=sesame\n`,
    'gatherer.cf': 'Gatherer-Name: x\nHTTP-Basic-Auth: Staff joe s3cret\n',
  });
  const file = (name: string): string => join(directory, name);
  const gatherer = () => configFromRoots([file('gatherer.cf')], {}).warnings;
  const referer = { file: file('referer.cf'), progname: 'refererd', chrooted: false };
  const read: Readonly<Record<string, () => Promise<readonly Error[]>>> = {
    'broker.conf': async () => (await readBrokerConf(file('broker.conf'))).warnings,
    'gatherer.cf': async () => gatherer(),
    'referer.cf': async () => (await readConfiguration(referer, directory)).warnings,
  };
  for (const [name, warnings] of Object.entries(read)) {
    for (const [mode, isTold] of [
      [0o644, true],
      [0o640, true],
      [0o600, false],
    ] as const) {
      chmodSync(file(name), mode);
      const texts = (await warnings()).map(({ message }) => message);
      t.equal(
        texts.some((text) =>
          text.includes(`other users than its owner can read it: \`chmod 600 ${file(name)}\``),
        ),
        isTold,
        `${name} ${mode.toString(8)}`,
      );
      t.notMatch(texts.join('\n'), /open|sesame|s3cret/);
    }
  }
  chmodSync(file('no-password.conf'), 0o644);
  t.same((await readBrokerConf(file('no-password.conf'))).warnings, []);
});

t.test('the visitors of a proxy that is not named are counted each, and a hundred for all', (t) => {
  let now = 0;
  const throttle = new PasswordThrottle(() => now);
  const guess = (claimed: string | undefined, passwords: number): number => {
    const headers = claimed === undefined ? {} : { 'x-forwarded-for': claimed };
    const visitor = visitorOf({ ip: '127.0.0.1', headers });
    for (let i = 0; i < passwords; i++)
      if (throttle.secondsToWait(visitor) === 0) throttle.recordFailure(visitor);
    return throttle.secondsToWait(visitor);
  };
  t.equal(guess('198.51.100.1', 1000), 300, 'one must wait');
  t.equal(guess('10.0.0.9, 198.51.100.1', 0), 300, 'whatever it has written before the proxy');
  t.equal(guess('198.51.100.2', 0), 0, 'the others need not');
  t.equal(guess(undefined, 0), 0, 'nor does a client without a proxy');
  t.equal(guess('nonsense', 10), 300);
  t.equal(guess(undefined, 0), 300, 'what is no address counts for the peer itself');
  for (let i = 3; i < 250; i++) guess(`198.51.100.${i}`, 10);
  t.equal(guess('203.0.113.1', 0), 300, 'a client that names others has a hundred tries in all');
  now = 300_000;
  t.equal(guess('198.51.100.1', 0), 0);
  t.end();
});

t.test('a request is counted for the right-most address that is no trusted proxy', async (t) => {
  for (const [trustedProxies, forwarded, expected] of [
    [[], undefined, '127.0.0.1'],
    [[], '192.0.2.1, 198.51.100.7', '127.0.0.1 for 198.51.100.7'],
    [['127.0.0.1'], '192.0.2.1, 198.51.100.7', '198.51.100.7'],
    [['127.0.0.1', '198.51.100.0/24'], '192.0.2.1, 198.51.100.7', '192.0.2.1'],
    [['192.0.2.9'], '192.0.2.1, 198.51.100.7', '127.0.0.1'],
  ] as const) {
    const { port } = await servePages(t, {
      trustedProxies,
      routes: (app) => void app.get('/visitor', (request) => visitorOf(request)),
    });
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    const response = await fetch(`http://127.0.0.1:${port}/visitor`, { headers });
    t.equal(await response.text(), expected, `${trustedProxies.join()}: ${forwarded}`);
  }
});

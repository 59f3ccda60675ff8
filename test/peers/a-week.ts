// A week of `harvest run --every 1d` with TLS on a small disk, in half a minute: the clock of the process is
// moved by faketime. It begins with the data of the first version. Visitors come through nginx. Pages change,
// come and go; the certificate is renewed, the disk is filled and freed, the process is killed. Prints TAP.
// Needs Debian's faketime and nginx, and the superuser for the disk.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { Agent, request } from 'undici';
import { CliProcess } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { PUBLIC_NAME, startNginxProxy } from '../helpers/nginx-proxy.js';
import { page, Site } from '../helpers/site.js';
import { smallDisk } from '../helpers/small-disk.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { RENEWED_CERTIFICATE, TLS_CERTIFICATE, TLS_KEY } from '../helpers/tls.js';
import { waitUntil } from '../helpers/wait-until.js';

const LIBRARY = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((file) => existsSync(file));
/** The version whose data the week begins with: 3 documents of www.example.org. */
const FORMER_VERSION = '0.1.0';
const FORMER_PAGE = 'http://www.example.org/docs/gopher.html';
/** Hours from one look at the program to the next: a round has begun in the meantime. */
const HOURS = 25;

t.test('a week of operation', { skip: LIBRARY === undefined && 'faketime is not installed' }, async (t) => {
  const disk = await smallDisk(t, 96);
  if (disk === undefined) return;
  const directory = await temporaryDirectory(t);
  const unpacked = spawnSync('tar', [
    'xzf',
    fileURLToPath(new URL(`test/upgrades/${FORMER_VERSION}.tar.gz`, import.meta.resolve('#package.json'))),
    '-C',
    directory,
  ]);
  t.equal(unpacked.status, 0, String(unpacked.stderr));
  cpSync(join(directory, FORMER_VERSION, 'finished'), join(disk.directory, 'data'), { recursive: true });
  const [certificate, key, time] = ['site.pem', 'site.key', 'time'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(certificate, TLS_CERTIFICATE);
  writeFileSync(key, TLS_KEY, { mode: 0o600 });
  writeFileSync(time, '+0');
  await using site = await Site.start({});
  const setPages = (day: number): void => {
    site.pages.clear();
    const days = Array.from({ length: day + 1 }, (_, i) => i).filter((i) => i >= day - 2);
    const paths = days.map((i) => `/day-${i}`);
    site.pages.set('/', page('All days', ['/always', ...paths]));
    site.pages.set('/always', page(`Edition number${day}`, ['/']));
    for (const i of days) site.pages.set(`/day-${i}`, page(`Written onday${i}`, ['/always']));
  };
  const names = ['gatherd', 'broker', 'web', 'references'];
  const numbers = await Promise.all(names.map(() => freePort()));
  const ports = names.flatMap((name, i) => [`--${name}-port`, String(numbers[i])]);
  const [, broker = 0, web = 0, references = 0] = numbers;
  const port = await freePort();
  const proxy = startNginxProxy(t, { directory, port, certificate, key, web, references, tls: true });
  const start = (): CliProcess =>
    new CliProcess(
      [
        ...['run', `${site.url}/`, '--data', join(disk.directory, 'data'), '--delay', '0', ...ports],
        ...['--every', '1d', '--low-disk', '4', '--tls-cert', certificate, '--tls-key', key],
        ...['--public-url', `https://${PUBLIC_NAME}/`, '--references-url', `https://${PUBLIC_NAME}/links`],
        ...['--trusted-proxies', '127.0.0.1'],
      ],
      {
        LD_PRELOAD: LIBRARY ?? '',
        FAKETIME_TIMESTAMP_FILE: time,
        FAKETIME_NO_CACHE: '1',
        NO_FAKE_STAT: '1',
      },
    );
  let run = start();
  t.teardown(() => run.child.kill('SIGKILL'));

  /** A request of a visitor; it also wakes the process, whose clock was moved while it slept. */
  const search = async (words: string): Promise<string> => {
    const agent = new Agent({
      connect: { ca: [TLS_CERTIFICATE, RENEWED_CERTIFICATE], checkServerIdentity: () => undefined },
    });
    try {
      const url = `https://127.0.0.1:${port}/Harvest/cgi-bin/BrokerQuery.cgi?query=${words}`;
      const { body } = await request(url, { dispatcher: agent, headers: { host: PUBLIC_NAME } });
      return await body.text();
    } finally {
      await agent.close();
    }
  };
  const finds = async (words: string) => (await search(words)).includes(`${site.url}/`);
  const subject = (port = broker) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      }).once('error', reject);
    });
  const moveClock = (day: number) => writeFileSync(time, `+${day * HOURS}h`);

  setPages(0);
  await run.output(/^ready gatherd=/m);
  t.ok((await search('veronica')).includes(FORMER_PAGE), 'day 0: what there was is found');
  t.ok(await finds('number0'), 'and what is new');
  for (let day = 1; day <= 7; day++) {
    setPages(day);
    if (day === 3) writeFileSync(certificate, RENEWED_CERTIFICATE);
    if (day === 4) await disk.fill();
    if (day === 5) {
      run.child.kill('SIGKILL');
      await run.finished;
      moveClock(day);
      run = start();
      await run.output(/^ready gatherd=/m);
    } else moveClock(day);
    if (day === 4) {
      await waitUntil(async () => {
        t.ok(await finds('number3'), 'answers come from what there is');
        return /space|full/i.test(run.stderr);
      });
      await disk.free();
    }
    await waitUntil(() => finds(`number${day}`));
    t.ok(await finds(`number${day}`), `day ${day}: the new edition is found`);
    t.ok(await finds(`onday${day}`), 'and the new page');
    t.notOk(await finds(`number${day - 1}`), 'the former edition is not');
    if (day === 3) {
      await waitUntil(async () => (await subject()) === 'renewed');
      proxy.kill('SIGHUP');
      await waitUntil(async () => (await subject(port)) === 'renewed');
    }
  }
  const former = await search('veronica');
  t.ok(former.includes(FORMER_PAGE), 'it is found until it expires');
  t.match(former, `https://${PUBLIC_NAME}/links/`, 'with links to the public address');
  const generations = readdirSync(join(disk.directory, 'data', 'gatherer', 'generations'));
  t.ok(generations.length <= 6, `old generations are removed: ${generations.join(' ')}`);
  const errors = readFileSync(join(disk.directory, 'data', 'gatherer', 'log.errors'), 'utf8');
  const unexpected = errors
    .split('\n')
    .filter(
      (line) =>
        line !== '' &&
        !/status 404|disk|space|ENOSPC|FILES is missing, as in the data of an earlier version/.test(line),
    );
  t.same(unexpected, [], 'what the log of errors has is known');
  run.child.kill('SIGTERM');
  t.equal((await run.finished).code, 0, run.stderr);
});

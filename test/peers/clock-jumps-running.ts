// The clock jumps while servers run, before 1971 and beyond 2038 included: all servers in one process, then each in
// its own, with clocks that differ. faketime sets the clock of running processes; the one that cannot be set, by which
// they wait, goes on. Prints TAP. Needs Debian's faketime.
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Client, request } from 'undici';
import { collectChanges } from '../../clients/gatherd/index.js';
import { CliProcess } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { FakeClock, JUMPS, NEEDS_FAKETIME as OPTIONS, RIGHT } from '../helpers/fake-clock.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';

/** Of one server alone. */
const JUMPS_ALONE = ['+1m', '-1h', '+1y'];

/** Starts a server that the end of the test kills, and returns what its first line matched. */
async function start(
  t: Test,
  clock: FakeClock,
  ready: RegExp,
  ...args: readonly string[]
): Promise<[CliProcess, RegExpExecArray]> {
  const server = new CliProcess(args, clock.variables);
  t.teardown(() => server.child.kill('SIGKILL'));
  return [server, await server.output(ready)];
}

/** Stops a server, which needs no more than what it has begun. */
async function stop(t: Test, server: CliProcess): Promise<void> {
  server.child.kill('SIGTERM');
  const { code, stderr } = await server.finished;
  t.equal(code, 0, stderr);
}

/** A connection to gatherd that stays open over the jumps. */
async function openSession(t: Test, port: number): Promise<(line: string, end: RegExp) => Promise<string>> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  t.teardown(() => socket.destroy());
  let input = '';
  let closed = false;
  socket.on('data', (text) => {
    input += String(text);
  });
  socket.on('close', () => {
    closed = true;
  });
  const until = async (end: RegExp): Promise<string> => {
    await waitUntil(() => {
      if (closed && !end.test(input)) throw new Error(`the session was closed after ${input}`);
      return end.test(input);
    });
    const answer = input;
    input = '';
    return answer;
  };
  await until(/^000/);
  return (line, end) => {
    socket.write(`${line}\n`);
    return until(end);
  };
}

const objectsOf = async (port: number): Promise<number> => {
  let count = 0;
  for await (const _ of collectChanges({ host: '127.0.0.1', port })) count++;
  return count;
};

/** A site whose first page has another word in each edition. */
class Editions {
  number = 0;

  constructor(readonly site: Site) {
    site.pages.set('/', page('Start', ['/always', '/same', '/other']));
    site.pages.set('/same', page('The same page', ['/']));
    site.pages.set('/other', page('Another page', ['/']));
    this.next();
  }

  next(): string {
    this.number++;
    this.site.pages.set('/always', page(`Edition number${this.number}`, ['/']));
    return this.word;
  }

  get word(): string {
    return `number${this.number}`;
  }
}

const finds = async (web: string, words: string, url: string): Promise<boolean> => {
  const { body } = await request(new URL(`/Harvest/cgi-bin/BrokerQuery.cgi?query=${words}`, web));
  return (await body.text()).includes(`${url}/`);
};

const linksTo = async (port: string, url: string): Promise<string> => {
  const { body } = await request(`http://127.0.0.1:${port}/?q=${encodeURIComponent(url)}`);
  return body.text();
};

/** The administration page of a Broker, loaded once. */
async function openAdministration(web: string) {
  const url = new URL('/Harvest/cgi-bin/BrokerAdmin.cgi', web);
  const { headers, body } = await request(url);
  const [cookie = ''] = String(headers['set-cookie']).split(';');
  const token = /name="token" value="([^"]+)"/.exec(await body.text())?.[1] ?? '';
  return {
    /** Sends a command. @param localAddress of the browser */
    async send(password: string, localAddress = '127.0.0.1', command = 'do-stats') {
      const dispatcher = new Client(url.origin, { localAddress });
      const answer = await request(url, {
        dispatcher,
        method: 'POST',
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ token, password, command }).toString(),
      });
      await answer.body.dump();
      await dispatcher.close();
      return { status: answer.statusCode, retryAfter: Number(answer.headers['retry-after'] ?? 0) };
    },
  };
}

t.test('all servers in one process, which gathers again and again', OPTIONS, async (t) => {
  const directory = await temporaryDirectory(t);
  const clock = new FakeClock(join(directory, 'time'));
  await using site = await Site.start({});
  const editions = new Editions(site);
  const ports = ['gatherd', 'broker', 'web', 'references'].flatMap((name) => [`--${name}-port`, '0']);
  const data = ['--data', join(directory, 'data')];
  const [server, [, gatherd = '', web = '']] = await start(
    t,
    clock,
    /^ready gatherd=127\.0\.0\.1:(\d+) .*web=(\S+)\nready refererd=/m,
    ...['run', `${site.url}/`, ...data, '--delay', '0', '--every', '2s', ...ports],
  );
  const [, references = ''] = await server.output(/^ready refererd=127\.0\.0\.1:(\d+)/m);
  const session = await openSession(t, Number(gatherd));
  const check = async (what: string): Promise<void> => {
    const word = editions.next();
    await waitUntil(() => finds(web, word, site.url));
    t.ok(await finds(web, word, site.url), `${what}: the new edition is found`);
    t.notOk(await finds(web, `number${editions.number - 1}`, site.url), `${what}: the former one is not`);
    t.ok(await finds(web, 'same', site.url), `${what}: what has not changed is found`);
    t.match(
      await session('SEND-UPDATE 0', /^499/m),
      /499 - Sent 4 objects/,
      `${what}: an old session goes on`,
    );
    t.equal(await objectsOf(Number(gatherd)), 4, `${what}: a new one has everything`);
    t.match(await linksTo(references, `${site.url}/`), site.url, `${what}: the references server answers`);
  };
  await check('before');
  for (const jump of JUMPS) {
    clock.set(jump);
    await check(jump);
    clock.set(RIGHT);
    await check(`after ${jump}`);
  }
  await stop(t, server);
});

t.test('each server in its process, with clocks that differ', OPTIONS, async (t) => {
  const directory = await temporaryDirectory(t);
  const names = ['gatherer', 'broker', 'refererd', 'relay'] as const;
  const clocks = names.map((name) => new FakeClock(join(directory, `${name}.time`)));
  const [gathererClock, brokerClock, refererdClock, relayClock] = clocks as [
    FakeClock,
    FakeClock,
    FakeClock,
    FakeClock,
  ];
  await using site = await Site.start({});
  const editions = new Editions(site);
  const file = join(directory, 'site.cf');
  const gatherdPort = await freePort();
  await writeFile(
    file,
    `Gatherer-Name: Test\nGatherer-Host: 127.0.0.1\nGatherer-Port: ${gatherdPort}\nAccess-Delay: 0\nTop-Directory: ${directory}\nReferences: on\nRefresh-Rate: 1\n<RootNodes>\n${site.url}/ Depth=2\n</RootNodes>\n`,
  );
  const gather = async (): Promise<void> => {
    const { code, stderr } = await new CliProcess(
      ['gatherer', '--no-daemon', '--force', file],
      gathererClock.variables,
    ).finished;
    t.equal(code, 0, stderr);
  };
  await gather();
  const data = join(directory, 'data');
  const [gatherd] = await start(
    t,
    gathererClock,
    /^ready gatherd=/m,
    'gatherd',
    '--dir',
    data,
    String(gatherdPort),
  );
  const broker = async (
    name: string,
    clock: FakeClock,
    points: string,
  ): Promise<[CliProcess, string, string]> => {
    const admin = join(directory, name, 'admin');
    await mkdir(admin, { recursive: true });
    await writeFile(join(admin, 'broker.conf'), 'Broker-Port 0\nAdmin-Password open sesame\n');
    await writeFile(join(admin, 'Collection.conf'), points);
    const args = ['broker', '--web-port', '0', join(admin, 'broker.conf')];
    const [server, [, port = '', web = '']] = await start(
      t,
      clock,
      /^ready broker=127\.0\.0\.1:(\d+) web=(\S+)/m,
      ...args,
    );
    return [server, port, web];
  };
  const [first, firstPort, firstWeb] = await broker('first', brokerClock, `127.0.0.1 ${gatherdPort} 3 --\n`);
  const [relay, , relayWeb] = await broker('relay', relayClock, `127.0.0.1 ${firstPort} 5 --\n`);
  const [refererd, [, references = '']] = await start(
    t,
    refererdClock,
    /^ready refererd=127\.0\.0\.1:(\d+)/m,
    ...['refererd', '--data', data, '--port', '0'],
  );
  const administration = await openAdministration(firstWeb);
  const relayAdministration = await openAdministration(relayWeb);
  /** Each Broker collects, the one behind the other after it. */
  const collect = async (): Promise<void> => {
    for (const pages of [administration, relayAdministration])
      t.equal((await pages.send('open sesame', '127.0.0.1', 'collection')).status, 200);
  };
  const check = async (what: string): Promise<void> => {
    const word = editions.next();
    await gather();
    await waitUntil(async () => (await objectsOf(gatherdPort)) === 4);
    for (const web of [firstWeb, relayWeb]) {
      await waitUntil(async () => {
        if (!(await finds(web, word, site.url))) await collect();
        return await finds(web, word, site.url);
      });
      t.ok(await finds(web, word, site.url), `${what}: the new edition is found at ${web}`);
      t.notOk(await finds(web, `number${editions.number - 1}`, site.url), `${what}: the former one is not`);
      t.ok(await finds(web, 'same', site.url), `${what}: what has not changed is found`);
    }
    t.match(await linksTo(references, `${site.url}/`), site.url, `${what}: the references server answers`);
  };
  await check('before');
  const rounds = [
    ...JUMPS_ALONE.flatMap((jump) => [
      { jump, name: 'the Gatherer', set: [gathererClock] },
      { jump, name: 'the first Broker', set: [brokerClock] },
      { jump, name: 'the Broker behind it', set: [relayClock] },
    ]),
    ...JUMPS.map((jump) => ({ jump, name: 'all', set: clocks })),
  ];
  for (const { jump, name, set } of rounds) {
    await waitUntil(async () => (await administration.send('wrong', '127.0.0.2')).status === 429);
    for (const clock of set) clock.set(jump);
    const refused = await administration.send('wrong', '127.0.0.2');
    t.equal(refused.status, 429, `${jump} of ${name}: wrong passwords are refused as before`);
    t.ok(refused.retryAfter > 0 && refused.retryAfter <= 300, `${refused.retryAfter} s`);
    t.equal(
      (await administration.send('open sesame')).status,
      200,
      `${jump} of ${name}: an old page is accepted`,
    );
    await check(`${jump} of ${name}`);
    for (const clock of clocks) clock.set(RIGHT);
    await check(`after ${jump} of ${name}`);
  }
  for (const server of [refererd, relay, first, gatherd]) await stop(t, server);
});

// Servers with TLS as processes, and the clients that name them tls://HOST:PORT: certificates, their renewal, a
// Broker that collects.
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { connect } from 'node:tls';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { ANY_PORTS, CliProcess, cli, type Finished, startServer } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { RENEWED_CERTIFICATE, TLS_CERTIFICATE, TLS_KEY } from '../helpers/tls.js';
import { waitUntil } from '../helpers/wait-until.js';
import { words } from '../helpers/words.js';
import { type GatheredSite, gatherSite, writeBroker, writeGatherer } from './gathered-site.js';

const PAGES = { '/': page('Secured words', ['/two']), '/two': page('Second', ['/']) };

/** A gathered site, and the files of a certificate. */
interface Setup extends GatheredSite {
  readonly certificate: string;
  readonly tls: readonly string[];
}

async function setUp(t: Test): Promise<Setup> {
  const gathered = await gatherSite(t, PAGES, 'Gatherer-Host: localhost\n');
  return { ...gathered, ...writeCertificate(gathered.directory) };
}

/** Writes a certificate and its key; returns the options that name them. */
function writeCertificate(directory: string): Pick<Setup, 'certificate' | 'tls'> {
  const [certificate, key] = [join(directory, 'site.pem'), join(directory, 'site.key')];
  writeFileSync(certificate, TLS_CERTIFICATE);
  writeFileSync(key, TLS_KEY, { mode: 0o600 });
  return { certificate, tls: ['--tls-cert', certificate, '--tls-key', key] };
}

/** Starts a server with the certificate. */
const start = (t: Test, { certificate, tls }: Setup, ready: RegExp, ...args: readonly string[]) =>
  startServer(t, ready, [...args, ...tls], { NODE_EXTRA_CA_CERTS: certificate });

const GATHERD = /^ready gatherd=127\.0\.0\.1:(\d+)$/m;

/** Runs a client that trusts the certificate. */
function trusting(
  { certificate }: Pick<Setup, 'certificate'>,
  ...args: readonly string[]
): Promise<Finished> {
  return new CliProcess(args, { NODE_EXTRA_CA_CERTS: certificate }).finished;
}

/** The name of the certificate that a server shows now. */
function subjectOf(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

t.test('gatherd with TLS: who trusts the certificate, and its renewal without a restart', async (t) => {
  const setup = await setUp(t);
  const { server, found } = await start(t, setup, GATHERD, 'gatherd', '-d', setup.data, '0');
  const port = Number(found[0]);
  const gathered = await trusting(setup, 'gather', `tls://localhost:${port}`);
  t.equal(gathered.code, 0, gathered.stderr);
  t.match(gathered.stdout, /^@FILE \{ http/m);
  const doubtful = await cli('gather', `tls://localhost:${port}`);
  t.equal(doubtful.code, 3);
  t.match(
    doubtful.stderr,
    /the certificate is not accepted: it is self-signed: to trust it, set NODE_EXTRA_CA_CERTS/,
  );
  const plain = await cli('gather', 'localhost', String(port));
  t.equal(plain.code, 3, 'a client without TLS gets nothing');
  t.notMatch(plain.stdout, /@FILE/);

  t.equal(await subjectOf(port), '127.0.0.1');
  writeFileSync(setup.certificate, 'no certificate');
  server.kill('SIGHUP');
  await server.output(/stays in use/, 'stderr');
  t.match(
    server.stderr,
    /the former certificate stays in use: .*site\.pem.* is not a certificate with the key of/,
  );
  t.equal(await subjectOf(port), '127.0.0.1');
  writeFileSync(setup.certificate, RENEWED_CERTIFICATE);
  server.kill('SIGHUP');
  await server.output(/is renewed/, 'stderr');
  t.equal(await subjectOf(port), 'renewed');
  t.equal((await trusting(setup, 'gather', `tls://localhost:${port}`)).code, 0);
});

t.test('a Broker with TLS collects from a gatherd with TLS; its pages are https', async (t) => {
  const setup = await setUp(t);
  const gatherd = await start(t, setup, GATHERD, 'gatherd', '-d', setup.data, '0');
  const lines = 'Broker-Port 0\nBroker-Name secured\nPublic-URL https://search.example.org/harvest/\n';
  const { conf } = writeBroker(setup.directory, lines, `tls://localhost ${gatherd.found[0]} 3\n`);
  const webPort = String(await freePort());
  const { found } = await start(
    t,
    setup,
    /^ready broker=127\.0\.0\.1:(\d+) web=(\S+)$/m,
    'broker',
    conf,
    '--web-port',
    webPort,
  );
  const [port = '', web = ''] = found;
  t.match(web, /^https:\/\/127\.0\.0\.1:\d+\/$/);
  let hits: Finished | undefined;
  await waitUntil(async () => {
    hits = await trusting(setup, 'query', '--json', `tls://localhost:${port}`, 'secured');
    return hits.stdout.includes(setup.url);
  });
  t.match(hits?.stdout, setup.url);
  t.match(
    hits?.stdout,
    /"objectUrl":"https:\/\/search\.example\.org\/harvest\/Harvest\/brokers\/secured\/objects\//,
    'BRK-4.10: the address is that of the visitors',
  );

  // undici takes the name to check from Host.
  const agent = new Agent({ connect: { ca: TLS_CERTIFICATE, checkServerIdentity: () => undefined } });
  const get = async (path: string) => {
    // The name of Public-URL is one of its names.
    const headers = { host: 'search.example.org' };
    const { statusCode, body } = await request(new URL(path, web), { dispatcher: agent, headers });
    return { status: statusCode, text: await body.text() };
  };
  const first = await get('/');
  t.equal(first.status, 200);
  t.match(first.text, 'href="/harvest/Harvest/style.css"', 'links have the path of Public-URL');
  for (const base of ['', '/harvest']) {
    t.equal((await get(`${base}/Harvest/style.css`)).status, 200, `a proxy with ${base}`);
    const results = await get(`${base}/Harvest/cgi-bin/BrokerQuery.cgi?query=secured`);
    t.match(results.text, setup.url);
    t.match(results.text, /href="\/harvest\/Harvest\/cgi-bin\/DisplayObject\.cgi\?object=/);
    const [, summary = ''] =
      /href="\/harvest(\/Harvest\/cgi-bin\/DisplayObject\.cgi\?[^"]*)"/.exec(results.text) ?? [];
    t.match((await get(`${base}${summary.replaceAll('&amp;', '&')}`)).text, 'Secured words');
    const feed = await get(`${base}/Harvest/cgi-bin/BrokerQuery.cgi?query=secured&format=rss`);
    t.match(feed.text, 'https://search.example.org/harvest/Harvest/');
  }
  await agent.close();
});

t.test('refererd with TLS: references and, on the same port, its page', async (t) => {
  const setup = await setUp(t);
  const { found } = await start(
    t,
    setup,
    /^ready refererd=127\.0\.0\.1:(\d+)$/m,
    ...words`refererd --data ${setup.data} -p 0`,
  );
  const server = `tls://localhost:${found[0]}`;
  const answer = await trusting(setup, 'references', server, '--urls', '--to', `${setup.url}two`);
  t.equal(answer.code, 0, answer.stderr);
  t.match(answer.stdout, setup.url);
  const agent = new Agent({ connect: { ca: TLS_CERTIFICATE, servername: 'localhost' } });
  const { statusCode } = await request(`https://localhost:${found[0]}/`, { dispatcher: agent });
  t.equal(statusCode, 200);
  await agent.close();
});

t.test('files of certificates that cannot be used', async (t) => {
  const directory = await temporaryDirectory(t);
  const pem = join(directory, 'a.pem');
  writeFileSync(pem, TLS_CERTIFICATE);
  for (const [args, message] of [
    [['--tls-cert', pem], /--tls-cert and --tls-key: one of them is missing/],
    [['--tls-cert', pem, '--tls-key', pem], /is not a certificate with the key of/],
    [['--tls-cert', pem, '--tls-key', join(directory, 'none')], /none.*cannot be read/],
  ] as const) {
    const run = await cli('gatherd', '-d', directory, ...args, '0');
    t.equal(run.code, 2, args.join(' '));
    t.match(run.stderr, message);
  }
});

t.test('run with TLS: all four ports, also between the parts of the process; renewal', async (t) => {
  const directory = await temporaryDirectory(t);
  const { certificate, tls } = writeCertificate(directory);
  await using site = await Site.start(PAGES);
  const data = join(directory, 'data');
  // The process itself does not trust its certificate.
  const run = new CliProcess(words`run ${site.url}/ --data ${data} --delay 0 --every 2s ${ANY_PORTS} ${tls}`);
  t.teardown(() => run.child.kill('SIGKILL'));
  const [, gatherd = '', broker = '', web = ''] = await run.output(
    /^ready gatherd=(\S+) broker=(\S+) web=(https:\S+)$/m,
  );
  const [, references = ''] = await run.output(/^ready refererd=(\S+)$/m);
  t.match(run.stderr, /Broker received 2, /, 'collected with TLS');
  t.match(run.stdout, / query tls:\/\/127\.0\.0\.1:/, 'the commands to try');
  const trust = (...args: readonly string[]) => trusting({ certificate }, ...args);
  t.match(await trust('gather', '-info', `tls://${gatherd}`), { code: 0, stdout: /Gatherer-Name/ });
  t.match(await trust('query', `tls://${broker}`, 'secured'), { code: 0, stdout: `${site.url}/` });
  const links = await trust('references', '--urls', '--to', `tls://${references}`, `${site.url}/two`);
  t.match(links, { code: 0, stdout: `${site.url}/` });
  t.not((await cli('query', broker, 'secured')).code, 0, 'without TLS there is no answer');

  const agent = new Agent({ connect: { ca: TLS_CERTIFICATE } });
  t.teardown(() => agent.close());
  const results = async (dispatcher: Agent) => {
    const { body } = await request(`${web}Harvest/cgi-bin/BrokerQuery.cgi?query=second`, { dispatcher });
    return body.text();
  };
  t.match(await results(agent), /linked from/i, 'the pages ask the references server');
  writeFileSync(certificate, RENEWED_CERTIFICATE);
  run.child.kill('SIGHUP');
  const port = Number(broker.split(':')[1]);
  await waitUntil(async () => (await subjectOf(port)) === 'renewed');
  const from = run.stderr.length;
  await run.output(/$/);
  const round = /Nothing has changed: .* The Broker has 2 objects/;
  await waitUntil(() => round.test(run.stderr.slice(from)) || run.child.exitCode !== null);
  t.match(run.stderr.slice(from), round, 'the next round collects with the new certificate');
  t.notMatch(run.stderr.slice(from), /certificate|cannot/i);
  const renewed = new Agent({ connect: { ca: RENEWED_CERTIFICATE } });
  t.teardown(() => renewed.close());
  t.match(await results(renewed), /linked from/i);
  // Clients that have connected but not begun the handshake.
  for (const address of [gatherd, broker, new URL(web).host, references]) {
    const [host = '', port = ''] = address.split(':');
    const silent = connectTcp(Number(port), host).on('error', () => undefined);
    t.teardown(() => silent.destroy());
    await once(silent, 'connect');
  }
  run.child.kill('SIGTERM');
  t.equal((await run.finished).code, 0, run.stderr);
});

t.test('the console of a crawl with TLS: page, cookie, commands, and orders that cannot be', async (t) => {
  const directory = await temporaryDirectory(t);
  const data = join(directory, 'data');
  mkdirSync(join(data, 'crawl'), { recursive: true });
  writeFileSync(join(directory, 'site.pem'), TLS_CERTIFICATE);
  // Relative paths are those of the crawl's own directory.
  writeFileSync(join(data, 'crawl', 'site.key'), TLS_KEY, { mode: 0o600 });
  await using site = await Site.start({ '/': page('Only', []) });
  const nodes = `<RootNodes>\n${site.url}/\n</RootNodes>\n`;
  const configuration = writeGatherer(directory, `Crawl-Order: order.json\n${nodes}`);
  const password = { HARVEST_CONSOLE_PASSWORD: 'secret' };
  const crawl = (console: object) => {
    const order = { pauseAtStart: true, settings: { delayFactor: 0, minDelayMs: 1, maxDelayMs: 1 } };
    const paths = { port: 0, certificate: join(directory, 'site.pem'), key: 'site.key', ...console };
    writeFileSync(join(directory, 'order.json'), JSON.stringify({ ...order, console: paths }));
    return new CliProcess(['gatherer', configuration, '--no-daemon'], password);
  };
  for (const [key, stderr] of [
    ['', /console\.key: certificate and key are set together/],
    ['none', /crawl\/none: cannot be read: ENOENT/],
  ] as const)
    t.match(await crawl({ key }).finished, { code: 2, stderr });

  const running = crawl({});
  t.teardown(() => running.kill('SIGTERM'));
  const { url } = await consoleOf(join(data, 'crawl', 'console.json'));
  t.match(url, /^https:\/\/127\.0\.0\.1:\d+\/$/);
  const report = await cli('crawl', 'report', 'frontier', '--json', '--data', data);
  t.match([report.code, report.stdout], [0, /"queued":1/], report.stderr);
  const agent = new Agent({ connect: { ca: TLS_CERTIFICATE } });
  t.teardown(() => agent.close());
  const login = await request(new URL('login', url), {
    dispatcher: agent,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: url.slice(0, -1) },
    body: 'password=secret',
  });
  await login.body.dump();
  t.equal(login.statusCode, 303);
  const cookie = String(login.headers['set-cookie']);
  t.match(cookie, /; Secure/);
  const shown = await request(url, { dispatcher: agent, headers: { cookie: cookie.split(';')[0]! } });
  t.match([shown.statusCode, await shown.body.text()], [200, /paused/]);
  await t.rejects(request(url.replace('https:', 'http:')), 'what is not TLS is dropped');
  const foreign = new CliProcess(['crawl', 'report', 'all', '--url', url], password);
  const refused = { code: 3, stderr: /self-signed certificate/ };
  t.match(await foreign.finished, refused, 'another machine checks it');
  const trust = { ...password, NODE_EXTRA_CA_CERTS: join(directory, 'site.pem') };
  const trusted = new CliProcess(['crawl', 'resume', '--url', url], trust);
  t.match(await trusted.finished, { code: 0 });
  t.match(await running.finished, { code: 0, stderr: /console is https:/ });
});

/** Waits for the file of a console, and reads it. */
async function consoleOf(file: string): Promise<{ readonly url: string }> {
  await waitUntil(() => existsSync(file));
  return JSON.parse(readFileSync(file, 'utf8')) as { url: string };
}

// The examples of proxies in front of the pages: nginx and Caddy as examples/proxies says, with TLS; addresses
// of visitors, forms, feeds and the pages of links. Prints TAP. Needs nginx and caddy; tests whose program is
// missing are skipped.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { CliProcess, cli } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { NGINX, skipUnless } from '../helpers/gather-peers/servers.js';
import { PROXY_EXAMPLES, PUBLIC_NAME, startNginxProxy } from '../helpers/nginx-proxy.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { TLS_CERTIFICATE, TLS_KEY } from '../helpers/tls.js';
import { waitUntil } from '../helpers/wait-until.js';

interface Servers {
  readonly directory: string;
  readonly web: number;
  readonly references: number;
  readonly url: string;
  readonly certificate: string;
  readonly key: string;
}

/**
 * Gathers a site of two pages; starts a Broker with pages and a References Server, configured as the example
 * says.
 */
async function startServers(t: Test, publicUrl: string): Promise<Servers> {
  const directory = await temporaryDirectory(t);
  const [certificate, key] = [join(directory, 'site.pem'), join(directory, 'site.key')];
  writeFileSync(certificate, TLS_CERTIFICATE);
  writeFileSync(key, TLS_KEY);
  await using site = await Site.start({
    '/': page('Proxied words', ['/two']),
    '/two': page('Second', ['/']),
  });
  const file = join(directory, 'gatherer.cf');
  writeFileSync(
    file,
    `Gatherer-Name: p\nTop-Directory: ${directory}\n<RootNodes>\n${site.url}/ Delay=0\n</RootNodes>\n`,
  );
  const data = join(directory, 'data');
  t.equal((await cli('gatherer', '--no-daemon', file)).code, 0);
  const [gatherd, web, references] = [await freePort(), await freePort(), await freePort()];
  const broker = join(directory, 'broker');
  mkdirSync(join(broker, 'admin'), { recursive: true });
  const conf = join(broker, 'admin', 'broker.conf');
  writeFileSync(
    conf,
    `Broker-Port 0
Broker-Name proxied
Admin-Password sesame
Public-URL ${publicUrl}
References-Server localhost:${references}
References-URL https://${PUBLIC_NAME}/links
Trusted-Proxies 127.0.0.1
`,
    { mode: 0o600 },
  );
  writeFileSync(join(broker, 'admin', 'Collection.conf'), `localhost ${gatherd} 3\n`);
  for (const [ready, ...args] of [
    [/^ready/m, 'gatherd', '-d', data, String(gatherd)],
    [/^ready/m, 'refererd', '--data', data, '-p', String(references), '--web-name', PUBLIC_NAME],
    [/^ready/m, 'broker', conf, '--web-port', String(web)],
  ] as const) {
    const server = new CliProcess(args);
    t.teardown(async () => {
      server.kill('SIGTERM');
      await server.finished;
    });
    await server.output(ready);
  }
  return { directory, web, references, url: `${site.url}/`, certificate, key };
}

/** Sends requests to the proxy under its public name. */
function visitor(t: Test, port: number) {
  const agent = new Agent({ connect: { ca: TLS_CERTIFICATE, checkServerIdentity: () => undefined } });
  t.teardown(() => agent.close());
  return async (path: string, options: { body?: string; headers?: Record<string, string> } = {}) => {
    const { statusCode, headers, body } = await request(`https://127.0.0.1:${port}${path}`, {
      dispatcher: agent,
      method: options.body === undefined ? 'GET' : 'POST',
      headers: { host: PUBLIC_NAME, ...options.headers },
      ...(options.body === undefined ? {} : { body: options.body }),
    });
    return { status: statusCode, headers, text: await body.text() };
  };
}

/**
 * What a visitor of the pages behind a proxy needs. @param base the path of Public-URL, without a final slash
 */
async function checkPages(t: Test, servers: Servers, port: number, base: string): Promise<void> {
  const get = visitor(t, port);
  const search = `${base}/Harvest/cgi-bin/BrokerQuery.cgi?query=proxied`;
  // The proxy may not listen yet; then comes the first collection.
  await waitUntil(async () => {
    const found = await get(search).catch(() => undefined);
    return found?.text.includes(servers.url) === true;
  });
  const first = await get(`${base}/`);
  for (const [, link = ''] of first.text.matchAll(/(?:href|src)="(\/[^"?]*)/g)) {
    t.ok(link.startsWith(`${base}/`), link);
    if (!link.endsWith('.cgi')) t.equal((await get(link)).status, 200, link);
  }
  const results = (await get(search)).text;
  const [, summary = ''] = /href="([^"]*DisplayObject\.cgi\?[^"]*)"/.exec(results) ?? [];
  t.match((await get(summary)).text, 'Proxied words', 'the summary of a result');
  const feed = (await get(`${search}&format=rss`)).text;
  t.match(feed, `https://${PUBLIC_NAME}${base}/Harvest/cgi-bin/`, 'a feed names the public address');
  t.notMatch(feed, `127.0.0.1:${servers.web}`);
  const [, linked = ''] = /href="(https:\/\/search\.example\.org\/links\/\?[^"]*)"/.exec(results) ?? [];
  t.ok(linked, '"linked from" leads to the public address');
  const links = await get(linked.replaceAll('&amp;', '&').replace(`https://${PUBLIC_NAME}`, ''));
  t.match(links, { status: 200, text: /Links to this document/ });
  for (const [, link = ''] of links.text.matchAll(/(?:href|src|action)="(\.\/[^"]*)"/g))
    t.equal((await get(`/links/${link.slice(2).replaceAll('&amp;', '&')}`)).status, 200, `/links/${link}`);

  const admin = await get(`${base}/Harvest/cgi-bin/BrokerAdmin.cgi`);
  const [, token = ''] = /name="token" value="([^"]*)"/.exec(admin.text) ?? [];
  const cookie = String(admin.headers['set-cookie']).split(';')[0] ?? '';
  const guess = (from: string) =>
    get(`${base}/Harvest/cgi-bin/BrokerAdmin.cgi`, {
      body: new URLSearchParams({ command: 'do-stats', password: 'wrong', token }).toString(),
      headers: {
        cookie,
        origin: `https://${PUBLIC_NAME}`,
        'content-type': 'application/x-www-form-urlencoded',
        'x-forwarded-for': from,
      },
    });
  let status = 0;
  for (let tries = 0; tries < 40 && status !== 429; tries++)
    status = (await guess(`192.0.2.${tries}`)).status;
  t.equal(status, 429, 'passwords are counted by the address that the proxy saw, not by X-Forwarded-For');
}

t.test('nginx: examples/proxies/nginx.conf', { skip: skipUnless([NGINX]) }, async (t) => {
  const servers = await startServers(t, `https://${PUBLIC_NAME}/`);
  const port = await freePort();
  startNginxProxy(t, { ...servers, port });
  await checkPages(t, servers, port, '');
});

const CADDY = '/usr/bin/caddy';
t.test('Caddy: examples/proxies/Caddyfile, below a path', { skip: skipUnless([CADDY]) }, async (t) => {
  const servers = await startServers(t, `https://${PUBLIC_NAME}/harvest/`);
  const port = await freePort();
  const { directory } = servers;
  const example = readFileSync(join(PROXY_EXAMPLES, 'Caddyfile'), 'utf8')
    .replace(
      `${PUBLIC_NAME} {`,
      `https://${PUBLIC_NAME}:${port} {\n\tbind 127.0.0.1\n\ttls ${servers.certificate} ${servers.key}`,
    )
    .replace('127.0.0.1:8080', `127.0.0.1:${servers.web}`)
    .replace('127.0.0.1:3324', `127.0.0.1:${servers.references}`);
  writeFileSync(join(directory, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${example}`);
  const child = spawn(CADDY, ['run', '--config', join(directory, 'Caddyfile'), '--adapter', 'caddyfile'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory, HOME: directory },
  });
  t.teardown(() => child.kill('SIGKILL'));
  await checkPages(t, servers, port, '/harvest');
});

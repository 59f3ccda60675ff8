// The commands of docs/operations.md, run in their order in an empty directory, and the options for pages behind a
// proxy.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { request } from 'undici';
import { ANY_PORTS, CliProcess, cli, type Finished, finishedOf, PROGRAM } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { words } from '../helpers/words.js';

const GUIDE = join(dirname(fileURLToPath(import.meta.resolve('#package.json'))), 'docs/operations.md');

t.test('docs/operations.md: every command works', async (t) => {
  const directory = await temporaryDirectory(t);
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  const client =
    'fetch(process.argv[1]).then(async (r) => { process.stdout.write(await r.text()); process.exit(r.ok ? 0 : 22); }, () => process.exit(7))';
  for (const [name, command] of [
    ['harvest', `exec '${process.execPath}' '${PROGRAM}'`],
    ['curl', `shift\nexec '${process.execPath}' -e '${client}'`],
  ] as const)
    writeFileSync(join(bin, name), `#!/bin/sh\n${command} "$@"\n`, { mode: 0o755 });
  const ports = new Map<string, string>();
  for (const port of ['18500', '18501', '18080', '19310', '19311']) ports.set(port, String(await freePort()));
  const blocks = [...readFileSync(GUIDE, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
    ([, block = '']) => block,
  );
  t.ok(blocks.length >= 5);
  // Whatever fails, no server stays.
  const stop = blocks.at(-1) ?? '';
  t.teardown(() => run(stop, directory, bin).catch(() => undefined));
  for (const block of blocks) {
    const script = block.replace(/\b(?:18\d{3}|19\d{3})\b/g, (port) => ports.get(port) ?? port);
    const { code, stdout, stderr } = await run(`set -e\n${script}`, directory, bin);
    const output = stdout + stderr;
    t.equal(code, 0, `${script}\n${output}`);
    if (block.includes('harvest gather localhost')) t.match(output, /^1$/m, 'the restored object is served');
    if (block.includes('/readyz')) t.match(output, /"status":"ready"/);
  }
});

t.test('run and broker with an address of visitors', async (t) => {
  const directory = await temporaryDirectory(t);
  const site = join(directory, 'site');
  mkdirSync(site);
  writeFileSync(join(site, 'index.html'), '<title>First page</title><p>Some words to find.');
  const conf = join(directory, 'broker.conf');
  writeFileSync(conf, 'Broker-Directory broker\nTrusted-Proxies 10.0.0.0/8 x\n');
  t.match(await cli('broker', conf), {
    code: 2,
    stderr: /broker\.conf:2: Trusted-Proxies: must be addresses or ranges/,
  });
  const data = ['--data', join(directory, 'data')];
  for (const [option, value] of [
    ['--public-url', 'ftp://search.example.org/'],
    ['--references-url', 'https://search.example.org/?links'],
    ['--trusted-proxies', '127.0.0.1,10.0.0.0/99'],
  ] as const)
    t.match(
      await cli('run', site, '--once', ...data, ...ANY_PORTS, option, value),
      { code: 2, stdout: '', stderr: /: must / },
      option,
    );

  const kit = new CliProcess([
    ...words`run ${site} ${data} ${ANY_PORTS} --public-url https://search.example.org/h/`,
    ...words`--references-url https://search.example.org/links --trusted-proxies 127.0.0.1,::1`,
  ]);
  t.teardown(() => kit.kill('SIGKILL'));
  const [, web = ''] = await kit.output(/^ready .*web=(\S+)$/m);
  const [, links = ''] = await kit.output(/^ready refererd=(\S+)/m);
  const page = async (url: string) => {
    const { statusCode, body } = await request(url, { headers: { host: 'search.example.org' } });
    return [statusCode, await body.text()];
  };
  const query = new URL('Harvest/cgi-bin/BrokerQuery.cgi?query=words&format=rss', web);
  t.match(await page(query.href), [200, /https:\/\/search\.example\.org\/h\/Harvest\/cgi-bin\//]);
  t.match(await page(`http://${links}/`), [200, /<title>/], 'the pages of links, too');
  kit.kill('SIGTERM');
  t.equal((await kit.finished).code, 0);
});

function run(script: string, cwd: string, bin: string): Promise<Finished> {
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}` };
  return finishedOf(spawn('bash', ['-c', script], { cwd, env }));
}

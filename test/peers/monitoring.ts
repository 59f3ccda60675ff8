// The examples of monitoring, checked by promtool: configuration, alerts and their tests; every metric that
// they name is one of a server. Prints TAP. Needs promtool (Debian package prometheus); the runner installs it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { request } from 'undici';
import { CliProcess } from '../helpers/cli.js';
import { freePort } from '../helpers/daemon.js';
import { page, Site } from '../helpers/site.js';
import { temporaryDirectory } from '../helpers/temporary-directory.js';
import { waitUntil } from '../helpers/wait-until.js';

const EXAMPLES = join(dirname(fileURLToPath(import.meta.resolve('#package.json'))), 'examples/monitoring');

function promtool(args: readonly string[], input?: string): string {
  return execFileSync('promtool', args, {
    cwd: EXAMPLES,
    encoding: 'utf8',
    input,
  });
}

t.test('examples/monitoring', async (t) => {
  t.match(promtool(['check', 'config', 'prometheus.yml']), /SUCCESS/);
  t.match(promtool(['test', 'rules', 'alerts.test.yml']), /SUCCESS/);

  const directory = await temporaryDirectory(t);
  await using site = await Site.start({ '/': page('One', []) });
  const port = await freePort();
  const ports = ['gatherd', 'broker', 'web', 'references'].flatMap((name) => [`--${name}-port`, '0']);
  const options = ['--delay', '0', '--data', join(directory, 'data'), '--monitor', String(port), ...ports];
  const server = new CliProcess(['run', `${site.url}/`, ...options]);
  t.teardown(async () => {
    server.kill('SIGTERM');
    await server.finished;
  });
  await server.output(/^ready /m);
  let text = '';
  await waitUntil(async () => {
    text = await (await request(`http://127.0.0.1:${port}/metrics`)).body.text();
    return /^harvest_broker_objects 1$/m.test(text);
  });
  // Those of the process have the names that all programs of Node have.
  const own = text.split('\n').filter((line) => !/^(?:# \w+ )?nodejs_/.test(line));
  t.doesNotThrow(() => promtool(['check', 'metrics'], own.join('\n')), 'names are as Prometheus wants');
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const named = ['alerts.yml', 'grafana-dashboard.json'].flatMap((file) => [
    ...readFileSync(join(EXAMPLES, file), 'utf8').matchAll(/\b((?:harvest|nodejs|process)_[a-z0-9_]+)/g),
  ]);
  t.ok(named.length > 15);
  for (const [, name = ''] of named) t.ok(known.has(name), name);
});

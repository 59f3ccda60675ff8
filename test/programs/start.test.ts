// What the start of `harvest run` loads: libraries that only few documents need are loaded with the first of
// these documents. And what ends it, if npm starts it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { packageFolder } from '../../servers/all-in-one/own-documents.js';
import { ANY_PORTS, PROGRAM } from '../helpers/cli.js';

/**
 * For mail of a fault, orders in XML, FTP, archives, messages, Word files, WARC files: none of them is part of
 * every run.
 */
const RARE = (
  'nodemailer cheerio basic-ftp yauzl fzstd xz-decompress postal-mime word-extractor @embedpdf exifr marked ' +
  'warcio'
).split(' ');

/** Prints the URL of every module that is loaded. */
const HOOK = `data:text/javascript,${encodeURIComponent(`
import { register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent(\`
import { writeSync } from 'node:fs';
export async function load(url, context, next) {
  writeSync(2, 'loaded ' + url + '\\\\n');
  return next(url, context);
}
\`));
`)}`;

t.test('the start of `harvest run` loads no library that only few documents need', (t) => {
  const module = pathToFileURL(join(PROGRAM, '..', 'run', 'actions', 'run.js')).href;
  const { stderr, status } = spawnSync(
    process.execPath,
    ['--import', HOOK, '--input-type=module', '-e', `await import(${JSON.stringify(module)})`],
    { encoding: 'utf8', maxBuffer: 16 << 20 },
  );
  t.equal(status, 0, stderr.slice(-500));
  const loaded = [...stderr.matchAll(/^loaded (.*)$/gm)].map(([, url = '']) => url);
  t.ok(loaded.includes(module), 'the hook sees the modules');
  t.ok(
    loaded.some((url) => url.includes('/node_modules/zod/')),
    'and those of libraries',
  );
  for (const name of RARE) {
    t.same(
      loaded.filter((url) => url.includes(`/node_modules/${name}/`)).slice(0, 1),
      [],
      `${name} is not loaded`,
    );
  }
  t.end();
});

t.test('a signal that ends npm ends the program that npm started', async (t) => {
  const options = ['--data', t.testdir(), ...ANY_PORTS, '--documents-port', '0'];
  const npm = spawn('npm', ['start', '--', ...options], {
    cwd: packageFolder(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  let onOutput = (): void => undefined;
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    onOutput();
  });
  // The pipe is closed when the last process that has it ends.
  const closed = once(npm, 'close');
  await new Promise<void>((resolve) => {
    onOutput = () => {
      if (/^ready refererd=/m.test(output)) resolve();
    };
    void closed.then(() => resolve());
  });
  const [, page = ''] = /web=(\S+)/.exec(output) ?? [];
  t.equal((await fetch(page)).status, 200);
  npm.kill('SIGTERM');
  await closed;
  await t.rejects(fetch(page), 'nothing listens there');
});

t.test('the program of each script of package.json replaces its shell', (t) => {
  const { scripts } = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  for (const name of ['start', 'test', 'verify', 'soak', 'bench', 'fuzz', 'coverage'])
    t.match(scripts[name], /(?:^|&& )exec \S+ [^&]*$/, name);
  t.end();
});

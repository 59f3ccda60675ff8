// Reads from gatherd with nc and gzip, and with two collectors in the style of 1997 and 1998. Prints TAP. Needs
// perl, nc and gzip; the runner installs them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { decodeSoif, SectionDecoder } from '../../protocols/soif/index.js';
import { CliProcess } from '../helpers/cli.js';
import { Database, entry, updateStream } from '../servers/gatherd/helpers.js';
import { CLIENTS, run } from './clients/run.js';

const OBJECTS = 2000;

t.test('clients of the 1990s read the export', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'harvest-peers-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const entries = Array.from({ length: OBJECTS }, (_, i) =>
    entry(
      `http://host.example/${i}`,
      1_000_000 + i,
      `line one of ${i}\n}\n@FILE { no\n${'more words '.repeat(i % 90)}\n`,
    ),
  );
  await new Database(directory).publish(entries);
  const daemon = new CliProcess(['gatherd', '-d', directory, '0']);
  t.teardown(() => daemon.kill('SIGKILL'));
  const [, port = ''] = await daemon.output(/^ready gatherd=\S*:(\d+)$/m);
  const all = updateStream(entries.map(({ soif }) => soif).join(''));
  const beckett = (...args: string[]) => run('perl', [join(CLIENTS, 'beckett.pl'), ...args]);

  await t.test('GATHERD-3.1, 6.2, 6.6, 7.2 the sample client of 1997, compressed', async (t) => {
    const { code, stdout, stderr } = await beckett('127.0.0.1', port);
    t.equal(code, 0, stderr);
    t.equal(stdout.toString('latin1'), all, 'gzip -d decodes the whole stream');
    t.match(stderr, /^protocol 1\.8 host \S+$/m, 'GATHERD-3.5');
    t.match(stderr, /^end Sent 2000 objects$/m);
    t.match(stderr, /^gzip status 2$/m, 'GATHERD-6.7 gzip warns about the end line after the member');
    t.match(stderr, /^quit 999$/m, 'GATHERD-6.5 the session continues after the member');
  });

  await t.test('GATHERD-7.1, 4.3 the sample client, uncompressed and since a time', async (t) => {
    const { code, stdout, stderr } = await beckett(
      '-nocompress',
      '127.0.0.1',
      port,
      String(1_000_000 + OBJECTS - 3),
    );
    t.equal(code, 0, stderr);
    t.equal(
      stdout.toString('latin1'),
      updateStream(
        entries
          .slice(-3)
          .map(({ soif }) => soif)
          .join(''),
      ),
    );
    t.match(stderr, /^end Sent 3 objects$/m);
  });

  await t.test('GATHERD-7.4, 8.2 the sample client reads the description of the Gatherer', async (t) => {
    const { code, stdout, stderr } = await beckett('-info', '127.0.0.1', port);
    t.equal(code, 0, stderr);
    const object = decodeSoif(stdout, { mode: 'strict' });
    t.equal(object.type, 'GATHERER');
    t.equal(object.number('Number-Of-Objects'), OBJECTS);
  });

  await t.test('GATHERD-7.3, SOIF-4.8 the collector of 1998, which closes early', async (t) => {
    for (let round = 0; round < 3; round++) {
      const { code, stdout } = await run('perl', [join(CLIENTS, 'centroid.pl'), '127.0.0.1', port]);
      t.equal(code, 0);
      const lines = stdout.toString().trimEnd().split('\n');
      t.same(lines.slice(-2), [`records ${OBJECTS}`, 'bad 0']);
      t.same(
        lines.slice(0, -2),
        entries.map(({ url }) => url),
      );
    }
  });

  await t.test('GATHERD-1.8, 6.3 nc and gzip, all commands sent at once', async (t) => {
    const script = `printf 'SET compression\\r\\nSEND-UPDATE 0\\r\\nQUIT\\r\\n' | nc -w 10 127.0.0.1 ${port} | tail -n +4 | gzip -dc 2>/dev/null`;
    const { stdout } = await run('bash', ['-c', script]);
    t.equal(stdout.toString('latin1'), all);
    const decoder = new SectionDecoder({ mode: 'strict' });
    const items = [...decoder.push(stdout), ...decoder.end()];
    t.equal(items.filter(({ kind }) => kind === 'object').length, OBJECTS);
  });

  daemon.kill('SIGTERM');
  t.equal((await daemon.finished).code, 0);
});

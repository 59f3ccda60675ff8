// The loggers of the daemons: the line format of Harvest, JSON lines, redaction, rotation.
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { StorageError } from '../../../protocols/errors.js';
import { createLogger, createLoggerOn, formatHarvestLine, openLog } from '../../../servers/host/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

t.test('GATHERD-12.1: a line has the program, the time, the level of errors, and the message', async (t) => {
  const time = new Date(2003, 1, 5, 7, 8, 9).getTime();
  const base = { time, pid: 1, name: 'gatherd' };
  const line = (record: Record<string, unknown>) => formatHarvestLine({ ...base, ...record });
  t.equal(line({ level: 'info', msg: 'ready' }), 'gatherd: 030205 07:08:09: ready\n');
  t.equal(line({ level: 'error', msg: 'no' }), 'gatherd: 030205 07:08:09: ERROR: no\n');
  t.equal(line({ level: 'fatal', msg: 'no' }), 'gatherd: 030205 07:08:09: FATAL: no\n');
  t.equal(line({ name: 'abc', level: 'warn', msg: 'x' }), '    abc: 030205 07:08:09: x\n');
  t.equal(line({ msg: 'x', n: 5, who: 'me' }), 'gatherd: 030205 07:08:09: x n=5 who=me\n');
  t.equal(
    line({ msg: 'a\nb\x1b[31m' }),
    'gatherd: 030205 07:08:09: a\\x0ab\\x1b[31m\n',
    'control characters in a message are escaped',
  );
});

t.test('a logger writes lines or JSON to a file, filters levels and redacts passwords', async (t) => {
  const directory = t.testdir();
  const file = join(directory, 'log', 'gatherd.log');
  const log = createLogger({ program: 'gatherd', file });
  log.info('one');
  log.debug('two');
  log.error({ err: new Error('broken disk') }, 'three');
  const lines = (await readFile(file, 'utf8')).split('\n');
  t.equal(lines.length, 3);
  t.match(lines[0], /^gatherd: \d{6} \d\d:\d\d:\d\d: one$/);
  t.match(lines[1], /^gatherd: \d{6} \d\d:\d\d:\d\d: ERROR: three \(broken disk\)$/);

  const jsonFile = join(directory, 'json.log');
  const json = createLogger({ program: 'broker', file: jsonFile, json: true, level: 'debug' });
  json.debug({ adminPassword: 'hush', config: { password: 'hush' } }, 'loaded');
  const record: unknown = JSON.parse(await readFile(jsonFile, 'utf8'));
  t.match(record, { level: 'debug', name: 'broker', msg: 'loaded', adminPassword: '[redacted]' });
  t.notMatch(JSON.stringify(record), /hush/);

  const written: string[] = [];
  const plain = createLoggerOn({ write: (line) => void written.push(line) }, { program: 'b', json: false });
  plain.info({ password: 'hush', config: { cookie: 'hush', port: 1 } }, 'x');
  t.match(written.join(''), /: x password=\[redacted\] config=\{"cookie":"\[redacted\]","port":1\}\n$/);
});

t.test('a log continues in a new file after rotation, and ignores a full disk', async (t) => {
  const path = await temporaryDirectory(t);
  const file = join(path, 'gatherd.log');
  const { log, reopen, flush } = openLog({ program: 'gatherd', file });
  log.info('one');
  await rename(file, `${file}.1`);
  log.info('two');
  reopen();
  log.info('three');
  await flush();
  t.match(await readFile(`${file}.1`, 'utf8'), /: one\n.*: two\n$/s);
  t.match(await readFile(file, 'utf8'), /^gatherd: \d{6} \d\d:\d\d:\d\d: three\n$/);
  t.throws(() => openLog({ program: 'gatherd', file: join(file, 'below') }), StorageError);

  const full = openLog({ program: 'gatherd', file: '/dev/full' });
  t.doesNotThrow(() => {
    for (let i = 0; i < 3; i++) full.log.info('lost');
    full.reopen();
    full.log.info('lost too');
  });
});

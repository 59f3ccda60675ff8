// The log of refererd: lines, levels, rotation, syslog. Rules.
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { FileLog, LEVEL } from '../../../servers/refererd/index.js';
import { temporaryDirectory } from '../../helpers/temporary-directory.js';

t.test('R-58, R-66 to R-68: lines up to the debug level; rotation renames the file', async (t) => {
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'logs', 'r.log');
  const syslogLines: string[] = [];
  let clock = new Date('2001-02-03T04:05:06Z');
  const options = { file, progname: 'rs', debuglevel: 40, now: () => clock };
  using log = new FileLog({
    ...options,
    syslog: (level, line) => void syslogLines.push(`${level} ${line}`),
  });
  log.write(LEVEL.notice, 'one\nline');
  log.write(LEVEL.request, 'not written');
  log.rotate();
  log.write(LEVEL.warning, 'two');
  await log.flush();
  t.equal(await readFile(`${file}.20010203040506`, 'utf8'), `rs[${process.pid}]: one\\x0aline\n`);
  t.equal(await readFile(file, 'utf8'), `rs[${process.pid}]: two\n`);
  t.same(syslogLines, [`40 rs[${process.pid}]: one\\x0aline`, `30 rs[${process.pid}]: two`]);
  log.rotate();
  await log.flush();
  t.equal(
    await readFile(`${file}.20010203040506.1`, 'utf8'),
    `rs[${process.pid}]: two\n`,
    'a second rotation in the same second overwrites no file',
  );
  await rm(file);
  clock = new Date('2002-01-01T00:00:00Z');
  log.rotate();
  t.same((await readdir(join(directory, 'logs'))).sort(), [
    'r.log',
    'r.log.20010203040506',
    'r.log.20010203040506.1',
  ]);
  using timed = new FileLog({ ...options, daytime: true });
  timed.write(LEVEL.critical, 'x');
  await timed.flush();
  t.equal(await readFile(file, 'utf8'), `2002-01-01T00:00:00.000Z rs[${process.pid}]: x\n`);
});

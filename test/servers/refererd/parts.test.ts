import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import {
  AllowedHosts,
  FileLog,
  HostnamePattern,
  LEVEL,
  UserBase,
  userLine,
  withUser,
} from '../../../servers/refererd/index.js';
import { temporary } from './scene.js';

t.test('R-36, C-05: shell patterns', async (t) => {
  const rows: readonly (readonly [pattern: string, yes: readonly string[], no: readonly string[]])[] = [
    ['127.0.0.*', ['127.0.0.1', '127.0.0.255'], ['127.0.1.1', '1127.0.0.1']],
    ['*.turtle.ru', ['a.b.turtle.ru', '.turtle.ru'], ['turtle.ru', 'a.turtle.ru.example']],
    ['10.0.0.?', ['10.0.0.1'], ['10.0.0.', '10.0.0.12']],
    ['10.0.0.[1-35]', ['10.0.0.1', '10.0.0.3', '10.0.0.5'], ['10.0.0.4', '10.0.0.-']],
    ['10.0.0.[!1-3]', ['10.0.0.4'], ['10.0.0.2', '10.0.0.']],
    ['a[]b]c', ['a]c', 'abc'], ['ac', 'adc']],
    ['a[-b]', ['a-', 'ab'], ['aa']],
    ['a[b', ['a[b'], ['ab']],
    ['a\\*', ['a\\x'], ['a*']],
    ['*a*b*', ['ab', 'xaxbx'], ['ba']],
    ['Host', ['host'], ['hosts']],
  ];
  for (const [pattern, yes, no] of rows) {
    for (const text of yes) t.ok(new HostnamePattern(pattern).matches(text), `${pattern} admits ${text}`);
    for (const text of no) t.notOk(new HostnamePattern(pattern).matches(text), `${pattern} refuses ${text}`);
  }
});

t.test('R-36: the matcher agrees with the definition of a star, whatever the pattern', async (t) => {
  const define = (pattern: string, text: string): boolean => {
    if (pattern === '') return text === '';
    if (pattern.startsWith('*')) {
      return define(pattern.slice(1), text) || (text !== '' && define(pattern, text.slice(1)));
    }
    const same = text !== '' && (pattern.startsWith('?') || pattern[0] === text[0]);
    return same && define(pattern.slice(1), text.slice(1));
  };
  const words = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 8 });
  fc.assert(
    fc.property(words('ab.*?'), words('ab.'), (pattern, text) => {
      return new HostnamePattern(pattern).matches(text) === define(pattern, text);
    }),
    { numRuns: 2000 },
  );
  t.pass('2000 pairs');
});

t.test('R-35, R-36: lists and comments; names are looked up only for patterns with a letter', async (t) => {
  const asked: string[] = [];
  const lookup = {
    reverse: async (address: string) => {
      asked.push(address);
      return address === '192.0.2.1' ? ['Good.Turtle.RU.'] : ['liar.turtle.ru'];
    },
    forward: async (name: string) => (/^good/i.test(name) ? ['192.0.2.1'] : ['198.51.100.9']),
  };
  const numbers = new AllowedHosts('# a list\n\n 127.0.0.* # here\r\n10.0.0.1.\n', { lookup });
  t.equal(numbers.decide('127.0.0.9'), true);
  t.equal(numbers.decide('::ffff:10.0.0.1'), true, 'an IPv4 peer in IPv6 notation');
  t.equal(numbers.decide('192.0.2.1'), false, 'at once');
  const names = new AllowedHosts('127.0.0.1\n*.turtle.ru\n', { lookup });
  t.equal(names.decide('127.0.0.1'), true, 'at once');
  t.same(asked, []);
  t.equal(await names.decide('192.0.2.1'), true);
  t.equal(await names.decide('192.0.2.2'), false, 'a name that does not resolve back is none');
  t.equal(names.decide('192.0.2.1'), true, 'known for a while');
  t.same(asked, ['192.0.2.1', '192.0.2.2']);
  t.equal(new AllowedHosts(undefined).decide('127.0.0.1'), false, 'no list at all');
  const silent = { reverse: () => new Promise<string[]>(() => {}), forward: async () => [] };
  t.equal(await new AllowedHosts('*.ru', { lookup: silent, nameTimeoutMs: 1 }).decide('192.0.2.1'), false);
});

t.test('R-37: the user base', async (t) => {
  // scrypt of RFC 7914, section 12: P "pleaseletmein", S "SodiumChloride", N 16384, r 8, p 1, 64 octets.
  const hash =
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887';
  const line = `rfc:$scrypt$16384,8,1$${btoa('SodiumChloride')}$${Buffer.from(hash, 'hex').toString('base64')}`;
  const base = UserBase.parse(
    `# users\n${line}\nold:$crypt$x$y\nbig:$scrypt$1073741824,8,1$QQ==$QUFBQUFBQUFBQUFBQUFBQQ==\n`,
  );
  t.same(base.names, ['rfc', 'old', 'big']);
  t.equal(await base.check('rfc', 'pleaseletmein'), true);
  t.equal(await base.check('rfc', 'pleaseletmeout'), false);
  t.equal(await base.check('old', ''), false, 'an unknown scheme disables the user');
  t.equal(await base.check('big', ''), false, 'nobody can make us compute that');
  t.equal(await base.check('nobody', 'pleaseletmein'), false);
  const added = withUser(`# kept\n${line}\n`, 'anna', await userLine('anna', 'sésame:#'));
  t.match(added, /^# kept\nrfc:.*\nanna:\$scrypt\$16384,8,1\$/);
  t.equal(await UserBase.parse(added).check('anna', 'sésame:#'), true);
  t.equal(withUser(added, 'anna', undefined), `# kept\n${line}\n`);
  await t.rejects(userLine('a:b', 'x'), { code: 'ERR_USAGE' });
  const many = await Promise.all(Array.from({ length: 66 }, () => UserBase.empty.check('x', 'y')));
  t.equal(many.filter((answer) => answer === undefined).length, 2, 'more than 64 do not wait');
});

t.test('R-58, R-66 to R-68: the log', async (t) => {
  const directory = await temporary(t);
  const file = join(directory, 'logs', 'r.log');
  const told: string[] = [];
  let clock = new Date('2001-02-03T04:05:06Z');
  const open = { file, progname: 'rs', debuglevel: 40, now: () => clock };
  using log = new FileLog({ ...open, syslog: (level, line) => void told.push(`${level} ${line}`) });
  log.write(LEVEL.notice, 'one\nline');
  log.write(LEVEL.request, 'not written');
  log.rotate();
  log.write(LEVEL.warning, 'two');
  t.equal(await readFile(`${file}.20010203040506`, 'utf8'), `rs[${process.pid}]: one\\x0aline\n`);
  t.equal(await readFile(file, 'utf8'), `rs[${process.pid}]: two\n`);
  t.same(told, [`40 rs[${process.pid}]: one\\x0aline`, `30 rs[${process.pid}]: two`]);
  log.rotate();
  t.equal(await readFile(`${file}.20010203040506.1`, 'utf8'), `rs[${process.pid}]: two\n`, 'nothing is lost');
  await rm(file);
  clock = new Date('2002-01-01T00:00:00Z');
  log.rotate();
  t.same((await readdir(join(directory, 'logs'))).sort(), [
    'r.log',
    'r.log.20010203040506',
    'r.log.20010203040506.1',
  ]);
  using timed = new FileLog({ ...open, daytime: true });
  timed.write(LEVEL.critical, 'x');
  t.equal(await readFile(file, 'utf8'), `2002-01-01T00:00:00.000Z rs[${process.pid}]: x\n`);
});

// Tests the configuration file of the References Server.
import t from 'tap';
import {
  parseRefererConf,
  REFERER_VARIABLES,
  type RefererConfig,
  rereadRefererConf,
} from '../../../protocols/config/index.js';
import { ConfigError } from '../../../protocols/errors.js';

/**
 * The table of R-63: name, default (recorded or of this kit), value of the sample. Files are joined to
 * `rootdir`.
 */
const TABLE: readonly (readonly [keyof RefererConfig, string | number | undefined, string])[] = [
  ['rootdir', '/usr/local/turtle', '/turtle'],
  ['tmpdir', '/usr/local/turtle/tmp', 'tmp'],
  ['dispatchername', 'dispatcher-001.turtle.ru', 'dispatcher-001.turtle.ru'],
  ['port', 3320, '3320'],
  ['referername', 'referer-001.turtle.ru', 'dispatcher-001.turtle.ru'],
  ['refererport', 3324, '3324'],
  ['progname', 'started-as', 'refererd'],
  ['logfile', '/usr/local/turtle/logs/turtled.log', 'logs/refererd.log'],
  ['pidfile', '/usr/local/turtle/logs/turtled.pid', 'logs/refererd.pid'],
  ['allowdb', '/usr/local/turtle/conf/hosts.allow', 'conf/hosts.allow'],
  ['pwfile', '/usr/local/turtle/conf/turtle.passwd', 'conf/turtle.passwd'],
  ['version', '1.0', '1.0'],
  ['maintainer', undefined, 'turtle-admin@dispatcher-001.turtle.ru'],
  ['user', 'turtle', 'turtle'],
  ['group', 'turtle', 'turtle'],
  ['maxclients', 8192, '512'],
  ['readtimeout', 60, '60'],
  ['sendtimeout', 60, '60'],
  ['connectimeout', 30, '30'],
  ['chroot', 0, '0'],
  ['sendmessages', 1, '0'],
  ['scanuser', undefined, 'namefromadmin'],
  ['scanpass', undefined, 'abrakadabra'],
  ['debuglevel', 40, '80'],
  ['urldb', '/usr/local/turtle/base/url.db', 'base/url.db'],
  ['srvdb', '/usr/local/turtle/base/srv.db', 'base/srv.db'],
  ['refdb', '/usr/local/turtle/base/refs.db', 'base/refs.db'],
  ['hubsdir', '/usr/local/turtle/base/hubs', '/turtle/base/hubs'],
  ['hubsdb', '/usr/local/turtle/base/hubs/hubs.db', 'hubs.db'],
];

function parse(text: string) {
  return parseRefererConf(text, 'referer.cf', { progname: 'started-as' });
}

t.test('C-16: an empty file gives every parameter its default', async (t) => {
  const { config, warnings } = parse('');
  for (const [name, value] of TABLE) t.equal(config[name], value, name);
  t.same(warnings, []);
  t.same(
    REFERER_VARIABLES.describe().map(({ key }) => key),
    [...TABLE.map(([name]) => name), 'webnames'],
    'REFERER_VARIABLES has a row for each, in the order of the table',
  );
});

t.test('C-16: every parameter, in capitals, with tabs around "=" and a comment', async (t) => {
  for (const [name, , sample] of TABLE) {
    const { config, warnings } = parse(
      `\t ${name.toUpperCase()} \t=\t ${sample}\t # not ${name} = other\r\n`,
    );
    const expected = /^\d+$/.test(sample) ? Number(sample) : sample;
    const file = /^(?:tmpdir|logfile|pidfile|allowdb|pwfile|urldb|srvdb|refdb)$/.test(name);
    const value = file ? `/usr/local/turtle/${sample}` : expected;
    t.equal(config[name], name === 'hubsdb' ? '/usr/local/turtle/base/hubs/hubs.db' : value, name);
    t.same(warnings, [], name);
  }
});

t.test('C-17, C-18: the complete sample is read, with sendmessage in its other spelling', async (t) => {
  const sample = TABLE.map(([name, , value]) => {
    return `${name === 'sendmessages' ? 'sendmessage' : name} = ${value}   # a comment\n`;
  });
  const { config, warnings } = parse(`# a sample\n\n${sample.join('')}`);
  t.same(warnings, []);
  t.equal(config.sendmessages, 0);
  t.equal(config.logfile, '/turtle/logs/refererd.log');
  t.equal(config.refdb, '/turtle/base/refs.db');
  t.equal(config.hubsdir, '/turtle/base/hubs');
  t.equal(config.hubsdb, '/turtle/base/hubs/hubs.db');
  t.equal(config.maxclients, 512);
});

t.test('C-18: absolute paths stay, and hubsdb is below hubsdir', async (t) => {
  const { config } = parse('rootdir = /r\nhubsdir = h\nhubsdb = sub/x.db\npidfile = /run/r.pid\n');
  t.equal(config.hubsdb, '/r/h/sub/x.db');
  t.equal(config.pidfile, '/run/r.pid');
  t.equal(parse('hubsdir = h\nhubsdb = /x.db').config.hubsdb, '/x.db');
  const below = parseRefererConf('rootdir = /r\nlogfile = l\n', 'f', { progname: 'p', rootdir: '/' });
  t.equal(below.config.logfile, '/l', 'R-56');
});

t.test('R-63, section 11: both spellings are read, and the last one in the file wins', async (t) => {
  const twice = parse('sendmessages = 1\nsendmessage = 0\nurlsdb = a\nurldb = b\n');
  t.equal(twice.config.sendmessages, 0);
  t.equal(twice.config.urldb, '/usr/local/turtle/b');
  t.same(
    twice.warnings.map(({ line }) => line),
    [2, 4],
  );
  t.equal(parse('urlsdb = a\n').config.urldb, '/usr/local/turtle/a');
});

t.test('R-63: a skipped line is reported with its number', async (t) => {
  const { config, warnings } = parse('port 4000\nmaxload = 7\nport =\nport = # 5\nin valid = 1\nPORT=4001\n');
  t.equal(config.port, 4001);
  t.same(
    warnings.map(({ line, variable }) => [line, variable]),
    [
      [1, ''],
      [2, 'maxload'],
      [5, ''],
    ],
  );
  t.notMatch(warnings.join('\n'), /4000/, 'the text may be a password');
});

t.test('R-63, R-65: a number outside its range is an error with file, line and name', async (t) => {
  const wrong = (
    'port = 0|port = 65536|refererport = 0x10|readtimeout = 0|sendtimeout = 86401|' +
    'connectimeout = -1|maxclients = 0|chroot = yes|sendmessages = 1.5|debuglevel = ten'
  ).split('|');
  for (const line of wrong) {
    const name = line.split(' ')[0] ?? '';
    t.throws(() => parse(`# first\n${line}\n`), ConfigError, line);
    t.throws(() => parse(`# first\n${line}\n`), {
      message: new RegExp(`^referer\\.cf:2: ${name}: must be`),
    });
  }
  t.equal(parse('readtimeout = 86400\nport = 65535\ndebuglevel = 0\n').config.readtimeout, 86_400);
});

t.test('R-49: parameters bound at the start take effect at the next start', async (t) => {
  const running = parse('rootdir = /a\nrefererport = 4000\n').config;
  const reread = parse('rootdir = /a\nrefererport = 4001\ndebuglevel = 80\nuser = other\n').config;
  const { config, waiting } = rereadRefererConf(running, reread);
  t.same(waiting, ['refererport', 'user']);
  t.equal(config.refererport, 4000);
  t.equal(config.user, 'turtle');
  t.equal(config.debuglevel, 80);
});

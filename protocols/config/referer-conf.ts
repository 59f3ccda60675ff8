// Parses `referer.cf`, the configuration of a References Server.
import { z } from 'zod';
import { trimBlanks } from '../ascii.js';
import { ConfigError } from '../errors.js';
import { INT_MAX, integer, joinPath, keepBound, port, text, words } from './values.js';
import { type Assignment, VariableTable } from './variables.js';

/** seconds of a timeout. */
const timeout = integer(1, 86_400);
const fromZero = integer(0, INT_MAX);

/** The parameters of R-63, with their recorded defaults, or those of this kit. */
const schema = z.object({
  rootdir: text
    .default('/usr/local/turtle')
    .meta({ description: 'root of all relative names; a name that begins with `/` is absolute' }),
  tmpdir: text.default('tmp').meta({ description: 'temporary files' }),
  dispatchername: text
    .default('dispatcher-001.turtle.ru')
    .meta({ description: 'name or address of the dispatcher, source of the common lists' }),
  port: port.default(3320).meta({ description: 'port of the dispatcher' }),
  referername: text
    .default('referer-001.turtle.ru')
    .meta({ description: 'name or address of this server, the only address that it listens on' }),
  refererport: port.default(3324).meta({ description: 'port of this server' }),
  progname: text
    .optional()
    .meta({ description: 'prefix of log lines; default: the name by which it was started' }),
  logfile: text.default('logs/turtled.log').meta({ description: 'log' }),
  pidfile: text.default('logs/turtled.pid').meta({ description: 'file with the process number' }),
  allowdb: text.default('conf/hosts.allow').meta({ description: 'patterns of the allowed hosts' }),
  pwfile: text.default('conf/turtle.passwd').meta({ description: 'users who may request statistics' }),
  version: text.default('1.0').meta({ description: 'version, for information' }),
  maintainer: text.optional().meta({ description: 'address for mail about faults; empty: no mail' }),
  user: text.default('turtle').meta({ description: 'user to run as, when started as superuser' }),
  group: text.default('turtle').meta({ description: 'group to run as, when started as superuser' }),
  maxclients: integer(1, INT_MAX).default(8192).meta({ description: 'connections at once' }),
  readtimeout: timeout.default(60).meta({ description: 'seconds to receive a request' }),
  sendtimeout: timeout.default(60).meta({ description: 'seconds to send a reply' }),
  connectimeout: timeout
    .default(30)
    .meta({ description: 'seconds to connect to the dispatcher and to the mail relay' }),
  chroot: fromZero.default(0).meta({ description: 'not 0: rootdir becomes the root directory' }),
  sendmessages: fromZero.default(1).meta({ description: '0: no mail; also spelled `sendmessage`' }),
  scanuser: text.optional().meta({ description: 'user name sent to the dispatcher' }),
  scanpass: text.optional().meta({ description: 'password sent to the dispatcher' }),
  debuglevel: fromZero
    .default(40)
    .meta({ description: 'how much is logged: 10 critical, 40 notices, 50 requests, 80 the exchange' }),
  urldb: text.default('base/url.db').meta({ description: 'documents; also spelled `urlsdb`' }),
  srvdb: text.default('base/srv.db').meta({ description: 'servers' }),
  refdb: text.default('base/refs.db').meta({ description: 'links' }),
  hubsdir: text.default('base/hubs').meta({ description: 'directory of `hubsdb`' }),
  hubsdb: text.default('hubs.db').meta({ description: 'inverted links, below `hubsdir`' }),
  // A parameter of this kit.
  webnames: words
    .default([])
    .meta({ description: 'names of the web pages, besides `referername`, `localhost` and IP addresses' }),
});

/** The parameters of a references server; `describe()` returns the rows of the table. */
export const REFERER_VARIABLES = new VariableTable(schema, 'last');

type Values = z.output<typeof schema>;

/** A checked `referer.cf`. Names of files are absolute; times are seconds. */
export interface RefererConfig extends Values {
  readonly progname: string;
}

/** parameters that a running server keeps until its next start. */
const BOUND_AT_START: readonly (keyof RefererConfig)[] = [
  'refererport',
  'referername',
  'rootdir',
  'chroot',
  'user',
  'group',
];

/** Section R11: two parameters have two spellings. */
const OTHER_SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['sendmessage', 'sendmessages'],
  ['urlsdb', 'urldb'],
]);

/** Parameters that name files: relative ones are below `rootdir`. */
const FILE_NAMES = [
  'tmpdir',
  'logfile',
  'pidfile',
  'allowdb',
  'pwfile',
  'urldb',
  'srvdb',
  'refdb',
  'hubsdir',
] as const;

/** Values that the caller supplies. */
export interface RefererDefaults {
  /** The name by which the program was started: the default of `progname`. */
  readonly progname: string;
  /** Replaces the file's `rootdir`: `/` below a changed root. */
  readonly rootdir?: string | undefined;
}

/**
 * Parses a `referer.cf`.
 *
 * @returns warnings for skipped lines: unknown names, repeated names, lines without `=`
 * @throws ConfigError at the first number outside its range; its message never shows a value
 */
export function parseRefererConf(
  content: string,
  file: string,
  defaults: RefererDefaults,
): { readonly config: RefererConfig; readonly warnings: readonly ConfigError[] } {
  const { assignments, problems } = readAssignments(content, file);
  const { values, warnings } = REFERER_VARIABLES.read(assignments, file);
  const rootdir = defaults.rootdir ?? values.rootdir;
  const config: RefererConfig = { ...values, rootdir, progname: values.progname ?? defaults.progname };
  for (const name of FILE_NAMES) config[name] = joinPath(rootdir, values[name]);
  config.hubsdb = joinPath(config.hubsdir, values.hubsdb);
  const all = [...problems, ...warnings].sort((a, b) => a.line - b.line);
  return { config, warnings: all };
}

/**
 * the configuration read again, except for parameters that are bound at the start.
 *
 * @returns also the names of the parameters whose new values take effect at the next start
 */
export function rereadRefererConf(
  running: RefererConfig,
  read: RefererConfig,
): { readonly config: RefererConfig; readonly waiting: readonly string[] } {
  return keepBound(running, read, BOUND_AT_START);
}

function readAssignments(
  content: string,
  file: string,
): { readonly assignments: Assignment[]; readonly problems: ConfigError[] } {
  const assignments: Assignment[] = [];
  const problems: ConfigError[] = [];
  let line = 0;
  for (const physical of content.replace(/^\ufeff/, '').split('\n')) {
    line += 1;
    // there is no quoting, so the first `#` begins a comment.
    const content = trimBlanks(physical.replace(/\r$/, '').replace(/#.*$/s, ''));
    if (content === '') continue;
    const equals = content.indexOf('=');
    const name = trimBlanks(equals < 0 ? content : content.slice(0, equals));
    if (equals < 0) {
      // The text may be a password without its `=`: the message does not repeat it.
      problems.push(new ConfigError(file, line, '', 'skipped: there is no "="'));
    } else if (!/^\w+$/.test(name)) {
      problems.push(new ConfigError(file, line, '', 'skipped: a name has letters, digits and "_" only'));
    } else {
      const value = trimBlanks(content.slice(equals + 1));
      assignments.push({ name: OTHER_SPELLINGS.get(name.toLowerCase()) ?? name, value, line });
    }
  }
  return { assignments, problems };
}

import { Command } from 'commander';
import { UsageError } from '../../../protocols/errors.js';
import type { MailRelay } from '../../refererd/fault-report.js';
import { LEVEL } from '../../refererd/level.js';
import { lazyAction } from '../lazy-action.js';
import { addTlsOptions, maxPerAddressOption, monitorOption } from '../options/connection-options.js';
import {
  countOption,
  integerOption,
  LOOPBACK,
  portOption,
  repeatedOption,
  stopLimitOption,
  timeoutOption,
} from '../options/option-values.js';

const HELP = `
Answers who links to whom, over SSTP and, on the same port, over HTTP: / is a page of links for people, /stat the statistics,
/clean clears them, /reload reads the configuration again (these three require a user of the user base: harvest turtle-passwd).

Without --data the command behaves like the original program. It reads referer.cf in the current directory, or -c FILE:
  name = value   # comment          names in any case; relative file names are relative to rootdir
  referername = refs.example.org    the only name that it listens on        refererport = 3324
  webnames = www.example.org        other names of its page of links
  refdb = base/refs.db              links published in base (harvest links load --data base), or a dump to load at the start
  urldb = base/url.db               documents of a dump                     allowdb, pwfile: hosts and users with access
  debuglevel = 40                   10 critical, 40 notices, 50 requests, 60 look-ups, 70 connections, 80 the exchange itself
A parent process starts the server process, whose id is in pidfile:
  SIGHUP   reopens the log and reads the configuration again         SIGTERM  stops immediately
  SIGUSR1  finishes pending requests, then stops
If a fault ends the server process, the parent sends mail to the maintainer. $USE_SYSLOG also sends the log to syslog;
$LOG_DAYTIME adds the time to its lines.

With --data it is one process without a configuration file that logs to standard error.

Examples:
  harvest refererd --data ./data                         the links published in ./data/references, on 127.0.0.1:3324
  harvest refererd --data ./data --allowdb hosts.allow --host 0.0.0.0
  refererd -c /usr/local/turtle/referer.cf

Exit status: 0 stopped by a signal; 1 failure; 2 usage; 128 plus the number of a signal that ended the server process.
`;

/** `refererd [-c FILE]`, and a server over a data directory without any configuration. */
export function refererdCommand(): Command {
  return addTlsOptions(new Command('refererd'), 'the port')
    .description('Serves who links to whom: the References Server.')
    .option('-c, --config <file>', 'configuration file', 'referer.cf')
    .option('--data <directory>', 'serve this data directory, without a configuration file')
    .option('--host <address>', 'with --data: address to listen on', LOOPBACK)
    .option(
      '--web-name <name>',
      'with --data: a name of the page of links, besides localhost and IP addresses (may be repeated)',
      repeatedOption,
      [],
    )
    .option('-p, --port <number>', 'with --data: TCP port; 0 = any free port', portOption, 3324)
    .option('--allowdb <file>', 'with --data: patterns of the hosts that may connect (default: all)')
    .option('--pwfile <file>', 'with --data: users who may see the statistics (default: none)')
    .option('--max-clients <number>', 'with --data: maximum number of connections', countOption, 8192)
    .addOption(maxPerAddressOption())
    .option('--read-timeout <seconds>', 'with --data: time to receive a request', timeoutOption, 60)
    .option('--send-timeout <seconds>', 'with --data: time to send a reply', timeoutOption, 60)
    .option('--debuglevel <number>', 'with --data: level of the log', integerOption, LEVEL.notice)
    .option('--json-log', 'log as JSON lines', false)
    .option('--rank-order', 'highest PageRank first, if ranks are published', false)
    .option('--mail-relay <host[:port]>', 'server for mail about faults', relayOption, {
      host: 'localhost',
      port: 25,
    })
    .option('--foreground', 'run only the server process, without a parent that reports faults', false)
    .addOption(stopLimitOption())
    .addOption(monitorOption())
    .addOption(new Command().createOption('--chrooted').hideHelp().default(false))
    .addHelpText('after', HELP)
    .action(lazyAction(async () => (await import('./actions/refererd.js')).refererd));
}

function relayOption(value: string): MailRelay {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^:\s]+)(?::(\d+))?$/.exec(value);
  if (match === null) throw new UsageError('--mail-relay: must be HOST or HOST:PORT');
  const port = portOption(match[2] ?? '25');
  return { host: (match[1] ?? '').replace(/^\[|\]$/g, ''), port };
}

import { Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../../protocols/errors.js';
import type { MailRelay } from '../../refererd/fault-report.js';
import { LEVEL } from '../../refererd/level.js';
import { EXIT_HELP } from '../db/commands.js';
import { lazyAction } from '../lazy-action.js';
import { addTlsOptions, maxPerAddressOption, monitorOption } from '../options/connection-options.js';
import { fromOption, pollOption } from '../options/copy-options.js';
import {
  countOption,
  integerOption,
  LOOPBACK,
  portOption,
  repeatedOption,
  stopLimitOption,
  timeoutOption,
} from '../options/option-values.js';

/** The commands of this file by name. */
export const DEFINITIONS = { refererd, 'turtle-passwd': turtlePasswd, links, pagerank };

const REFERERD_HELP = `
Answers who links to whom, over SSTP and, on the same port, over HTTP: / is a page of links for
people, /stat the statistics, /clean clears them, /reload reads the configuration again (these three
require a user of the user base: harvest turtle-passwd).

Without --data the command behaves like the original program. It reads referer.cf in the current
directory, or -c FILE:
  name = value   # comment        names in any case; relative file names are relative to rootdir
  referername = refs.example.org  the only name that it listens on
  refererport = 3324              its port
  webnames = www.example.org      other names of its page of links
  refdb = base/refs.db            links published in base (harvest links load --data base), or a
                                  dump to load at the start
  urldb = base/url.db             documents of a dump
  allowdb, pwfile                 hosts and users with access
  debuglevel = 40                 10 critical, 40 notices, 50 requests, 60 look-ups,
                                  70 connections, 80 the exchange itself
A parent process starts the server process, whose id is in pidfile:
  SIGHUP   reopens the log and reads the configuration again         SIGTERM  stops immediately
  SIGUSR1  finishes pending requests, then stops
If a fault ends the server process, the parent sends mail to the maintainer. $USE_SYSLOG also sends
the log to syslog; $LOG_DAYTIME adds the time to its lines.

With --data it is one process without a configuration file that logs to standard error.

Examples:
  harvest refererd --data ./data                         the links in ./data/references
  harvest refererd --data ./data --allowdb hosts.allow --host 0.0.0.0
  harvest refererd --data ./copies --from s3://bucket/prefix
                                     what a Gatherer with Publish s3://bucket/prefix publishes
                                     (docs/publish.md)
  refererd -c /usr/local/turtle/referer.cf

Exit status: 0 stopped by a signal; 1 failure; 2 usage; 128 plus the number of a signal that ended
the server process.
`;

/** `refererd [-c FILE]`, and a server over a data directory without any configuration. */
function refererd(): Command {
  return addTlsOptions(new Command('refererd'), 'the port')
    .description('Serve the link graph by the References Server: who links to whom.')
    .option('-c, --config <file>', 'configuration file', 'referer.cf')
    .option('--data <directory>', 'serve this data directory, without a configuration file')
    .addOption(fromOption('the links to the directory of --data'))
    .addOption(pollOption())
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
    .addOption(
      new Option('--mail-relay <host[:port]>', 'server for mail about faults')
        .argParser(relayOption)
        .default({ host: 'localhost', port: 25 }, 'localhost:25'),
    )
    .option('--foreground', 'run only the server process, without a parent that reports faults', false)
    .addOption(stopLimitOption())
    .addOption(monitorOption())
    .addOption(new Command().createOption('--chrooted').hideHelp().default(false))
    .addHelpText('after', REFERERD_HELP)
    .action(lazyAction(async () => (await import('./actions/refererd.js')).refererd));
}

function relayOption(value: string): MailRelay {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^:\s]+)(?::(\d+))?$/.exec(value);
  if (match === null) throw new UsageError('--mail-relay: must be HOST or HOST:PORT');
  const port = portOption(match[2] ?? '25');
  return { host: (match[1] ?? '').replace(/^\[|\]$/g, ''), port };
}

const PASSWD_HELP = `
FILE is the password file of a references server (pwfile in referer.cf, --pwfile of harvest
refererd). Its users have access to /stat, /clean and /reload. Passwords are stored as scrypt
hashes. Only its owner can read a new file; an existing one keeps owner, group and mode. A server
that changes its user (user and group in referer.cf) must be able to read it as that user.

At a terminal the command asks for the password twice and does not show it; otherwise it is the
first line of standard input.

Examples:
  harvest turtle-passwd --create conf/turtle.passwd anna     a new file with one user
  harvest turtle-passwd conf/turtle.passwd anna              adds a user, or changes the password
  harvest turtle-passwd --delete conf/turtle.passwd anna
  echo "$PASSWORD" | harvest turtle-passwd --check conf/turtle.passwd anna
  harvest turtle-passwd --list conf/turtle.passwd

A running server reads the file again after /reload or SIGHUP.

Exit status: 0 done, or the password is right; 1 wrong password, no such user, failure; 2 usage.
`;

/** `turtle_passwd FILE USER`: creates and edits the password file. */
function turtlePasswd(): Command {
  return new Command('turtle-passwd')
    .description('Create and edit the password file of a references server.')
    .argument('<file>', 'the password file')
    .argument('[user]', 'name of the user')
    .option('-c, --create', 'create a new file', false)
    .option('-D, --delete', 'delete the user', false)
    .option('--check', 'check a password', false)
    .option('--list', 'print the names of the users', false)
    .addHelpText('after', PASSWD_HELP)
    .action(lazyAction(async () => (await import('./actions/turtle-passwd.js')).turtlePasswd));
}

const LINKS_HELP = `
The link graph records which document links to which. load builds one from documents and links and
publishes it in the data directory DATA as a new generation. A references server that serves DATA
switches to it immediately; a load that fails or is killed changes nothing. dump writes the graph as
text.

Examples:
  harvest links load --documents documents.jsonl --refs links.txt --data DATA
  harvest links dump --refs --format pairs --data DATA
  harvest links load --help                        details about files and formats
`;

/** `harvest links load | dump`. */
function links(): Command {
  return new Command('links')
    .description('Load and dump the published link graph.')
    .addCommand(loadCommand())
    .addCommand(dumpCommand())
    .addHelpText('after', LINKS_HELP);
}

const LOAD_HELP = `
Documents are lines of JSON:
  {"id":10,"url":"http://a.example/","time":1000000100,"checktime":1000001000,"length":1000}
time and checktime are seconds since 1970-01-01 UTC, length is bytes; all three are optional. URLs
are made canonical. "server" may give the ID of the server; otherwise servers (host and port) are
numbered in order of appearance.

Links are either lines of two document IDs, the linking one first,
  10 20
or the output of Berkeley DB's db_dump for refdb, with or without -p; the first line determines the
format. A Berkeley DB file itself is read through db_dump, if that is installed (Debian: db-util or
db5.3-util); one of an older version is upgraded as a copy. Answers keep their order. A repeated
pair is skipped and counted. --hubs takes the dump of the reverse database to keep its order too; it
must contain the same pairs. A link may begin or end at an ID without a document.

FILE may be - for standard input; a file whose name ends in .gz is decompressed.

Examples:
  harvest links load --documents documents.jsonl --refs links.txt --data DATA
  db_dump refs.db | harvest links load --documents documents.jsonl.gz --refs - --data DATA
  harvest links load --documents d.jsonl --refs refs --hubs hubs --byte-order big --data DATA
${EXIT_HELP.replace('the database', 'the published graph')}`;
const DEFAULT_MEMORY = 256;

/** `harvest links load`. */
function loadCommand(): Command {
  return new Command('load')
    .summary('build a link graph from files and publish it')
    .description('Build a link graph from documents and links and publish it.')
    .option('--documents <file>', 'documents, one JSON object per line')
    .requiredOption('--refs <file>', 'links: pairs of IDs, or the text of db_dump')
    .option('--hubs <file>', 'the reverse links, to keep their order')
    .requiredOption('--data <dir>', 'the data directory')
    .addOption(
      new Option('--byte-order <order>', 'byte order of the IDs in a dump of db_dump')
        .choices(['little', 'big'])
        .default('little'),
    )
    .option('--memory <mib>', 'memory for sorting, MiB', countOption, DEFAULT_MEMORY)
    .option('--json', 'print the counts as JSON', false)
    .addHelpText('after', LOAD_HELP)
    .action(lazyAction(async () => (await import('./actions/links.js')).loadLinks));
}

const DUMP_HELP = `
Writes the published link graph to standard output: the links (--refs, the default), the reverse
links (--hubs), the documents or the servers, one of these at a time. Keys ascend; the links of a
key are in stored order. --format bytevalue is the input of Berkeley DB's db_load, little-endian;
pairs is one link per line. Documents and servers are JSON lines. load reads these formats:
documents, refs and hubs together restore the same graph with every list in its order.

Examples:
  harvest links dump --data DATA | db_load refs.db
  harvest links dump --hubs --format pairs --data DATA
  harvest links dump --documents --data DATA | gzip > documents.jsonl.gz
${EXIT_HELP.slice(0, EXIT_HELP.indexOf(' A tool'))}
`;

/** `harvest links dump`. */
function dumpCommand(): Command {
  return new Command('dump')
    .summary('write a published link graph as text')
    .requiredOption('--data <dir>', 'the data directory')
    .option('--refs', 'the links of each document (default)')
    .option('--hubs', 'the links to each document')
    .option('--documents', 'the documents')
    .option('--servers', 'the servers')
    .addOption(
      new Option('--format <format>', 'format of links').choices(['bytevalue', 'pairs']).default('bytevalue'),
    )
    .addHelpText('after', DUMP_HELP)
    .action(lazyAction(async () => (await import('./actions/links.js')).printGraph));
}

const PAGERANK_HELP = `
Computes the PageRank of every document in the published link graph of the data directory DATA, and
of every ID that only appears in a link. A document passes its rank in equal shares to the documents
it links to; one without links passes it to all. The ranks sum to 1. They are published with the
graph as a new generation; the next links load publishes one without ranks.

The command prints the highest ranks: rank, ID and URL, separated by tabs; with --json one object,
with the list in "top".

Examples:
  harvest pagerank --data DATA
  harvest pagerank --data DATA --top 100 --json
  harvest pagerank --data DATA --damping 0.5 --tolerance 1e-12 --top 0
${EXIT_HELP.replace('the database', 'the published graph')}`;

const DEFAULT_TOP = 10;

/** `harvest pagerank`. */
function pagerank(): Command {
  return new Command('pagerank')
    .description('Compute and publish the PageRank of the documents in a link graph.')
    .requiredOption('--data <dir>', 'the data directory')
    .option('--top <n>', 'number of documents to print', integerOption, DEFAULT_TOP)
    .option('--damping <d>', 'probability of following a link, 0 to below 1', dampingOption, 0.85)
    .option('--tolerance <t>', 'stop when a round changes less than this', toleranceOption, 1e-8)
    .option('--max-rounds <n>', 'maximum number of rounds', countOption, 200)
    .option('--json', 'print one JSON object', false)
    .addHelpText('after', PAGERANK_HELP)
    .action(lazyAction(async () => (await import('./actions/links.js')).pagerank));
}

function dampingOption(value: string): number {
  if (!/^0(\.\d+)?$/.test(value)) throw new InvalidArgumentError('must be a number from 0 to below 1');
  return Number(value);
}

function toleranceOption(value: string): number {
  const tolerance = /^\d+(\.\d+)?(e-?\d+)?$/i.test(value) ? Number(value) : 0;
  if (tolerance <= 0) throw new InvalidArgumentError('must be a number above 0, e.g. 1e-9');
  return tolerance;
}

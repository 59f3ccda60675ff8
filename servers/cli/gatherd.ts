import { resolve } from 'node:path';
import { Command } from 'commander';
import { UsageError } from '../../protocols/errors.js';
import { type GatherdProgramOptions, runDaemon, runInetd } from '../gatherd/index.js';
import { DebugFlags, shieldStandardError } from '../host/index.js';
import { EXIT } from './exit.js';
import { countOption, portOption, secondsOption, timeoutOption } from './option-values.js';
import { startGatherd } from './start-gatherd.js';

const FILES_HELP = `
DIR is a Gatherer's data directory. Relative names of the other files are looked up in it:
  generations/   what the Gatherer published (-db); a new generation is served as soon as it is published
  gatherd.cf     who may connect (-cf): Allow and Deny lines with host and domain names, addresses, ranges, or "all";
                 the first line with a name of the peer decides; without the file everybody may
-index FILE and -zip FILE are accepted and not needed: a generation holds the index and the compressed copy.
The original single-dash options (-dir, -db, -index, -log, -zip, -cf) and their double-dash forms are understood.
`;

const DEBUG_HELP = `
Debugging: -D69,LEVEL, or $HARVEST_DEBUG. Section 69, SOIF processing, is the one gatherd has messages in:
  -D69,1   each transfer: since when, compressed or clear, objects, bytes, milliseconds
  -D69,5   also each session: when it begins and ends
  -D69,9   also each piece that is received and sent: its size and how it begins
-D69 alone shows all levels.
`;

const DAEMON_HELP = `${FILES_HELP}
The log goes to standard error unless -log FILE is given. While it runs, DIR/gatherd.pid holds its process id; a second
gatherd on DIR says that one is running. SIGTERM and SIGINT stop it: transfers may go on for --grace seconds; a second
signal ends it at once. SIGHUP opens the log anew (rotation) and looks for a new generation.
${DEBUG_HELP}
Examples:
  harvest gatherd -d ./data/gatherer 8500
  harvest gatherd -dir ./data/gatherer --host 0.0.0.0 --detach 8500    in the background, log in DIR/gatherd.log
  harvest kill-gatherd -d ./data/gatherer                              stops it

Exit status: 0 stopped by a signal, or started by --detach; 1 failure; 2 usage.
`;

const INETD_HELP = `${FILES_HELP}
Serves one session on standard input and output, then exits. Standard input may be a socket (inetd, systemd) or, with
standard output, a pipe. The log goes to DIR/gatherd.log or -log FILE, never to the peer. gatherd.cf counts: the peer's
address is that of the socket; where there is none, only "all" matches.
${DEBUG_HELP}
A line of inetd.conf:
  8500 stream tcp nowait nobody /usr/local/bin/in.gatherd in.gatherd -dir /var/harvest/data

Exit status: 0 the session is over, however it ended; 1 failure; 2 usage.
`;

interface FileOptions {
  readonly dir: string;
  readonly db?: string;
  readonly index?: string;
  readonly log?: string;
  readonly zip?: string;
  readonly cf?: string;
  readonly hostname?: string;
  readonly timeout: number;
  readonly grace: number;
  readonly jsonLog: boolean;
  readonly debug: readonly string[];
}

interface DaemonOptions extends FileOptions {
  readonly host: string;
  readonly maxConnections: number;
  readonly pidFile?: string;
  readonly detach: boolean;
}

/** `gatherd [-db | -index | -log | -zip | -cf FILE] [-dir DIR | -d DIR] [PORT]` (GATHERD-11.1). */
export function gatherdCommand(): Command {
  return withFileOptions(new Command('gatherd'))
    .description("Serves a Gatherer's published summaries to collectors.")
    .argument('[port]', 'TCP port; 0 = any free port', portOption, 8500)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--max-connections <number>', 'sessions at once', countOption, 2048)
    .option('--pid-file <file>', 'where to say that it runs (default: gatherd.pid)')
    .option('--detach', 'go into the background, log to a file', false)
    .addHelpText('after', DAEMON_HELP)
    .action(async (port: number, options: DaemonOptions) => {
      if (options.detach) return detach(port, options);
      await runDaemon({
        ...programOptions(options),
        host: options.host,
        port,
        maxConnections: options.maxConnections,
        onReady: ({ host, port }) => void process.stdout.write(`ready gatherd=${host}:${port}\n`),
      });
      process.exitCode = EXIT.ok;
    });
}

/** `in.gatherd [-db | -index | -log | -zip | -cf FILE] [-dir DIR]` (GATHERD-11.2). */
export function inGatherdCommand(): Command {
  // Before anything can go wrong: not even a complaint about the options is for the peer.
  shieldStandardError();
  return withFileOptions(new Command('in.gatherd'))
    .description('Serves one collector on standard input and output, for inetd.')
    .addHelpText('after', INETD_HELP)
    .action(async (options: FileOptions) => {
      await runInetd(programOptions(options));
      process.exitCode = EXIT.ok;
    });
}

function withFileOptions(command: Command): Command {
  return command
    .option('-d, --dir <directory>', "the Gatherer's data directory (-dir)", '.')
    .option('--db <directory>', 'directory of the generations (-db; default: generations)')
    .option('--index <file>', 'accepted, not needed (-index)')
    .option('--log <file>', 'log to this file (-log)')
    .option('--zip <file>', 'accepted, not needed (-zip)')
    .option('--cf <file>', 'who may connect (-cf; default: gatherd.cf)')
    .option('--hostname <name>', "name in the greeting (default: the system's)", hostNameOption)
    .option('--timeout <seconds>', 'end a session without command or progress', timeoutOption, 120)
    .option('--grace <seconds>', 'how long transfers may go on when stopped', secondsOption, 10)
    .option('--json-log', 'log as JSON lines', false)
    .option('-D, --debug <section,level>', 'show debugging messages (may be repeated)', collect, []);
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

/** GATHERD-3.5: the greeting is divided into words. */
function hostNameOption(value: string): string {
  if (!/^\S+$/.test(value)) throw new UsageError('--hostname: a name without blanks is wanted');
  return value;
}

function programOptions(options: FileOptions & { readonly pidFile?: string }): GatherdProgramOptions {
  if (resolve(options.dir) === '/') throw new UsageError('-d: a data directory is wanted');
  const unused = [options.index, options.zip].filter((file) => file !== undefined);
  return {
    directory: options.dir,
    names: { database: options.db, access: options.cf, log: options.log, pid: options.pidFile },
    hostname: options.hostname,
    jsonLog: options.jsonLog,
    debug: DebugFlags.parse(options.debug, process.env.HARVEST_DEBUG),
    timeoutMs: options.timeout * 1000,
    graceMs: options.grace * 1000,
    unused,
  };
}

/** Starts the same again, without a terminal, and waits until it accepts connections. */
async function detach(port: number, options: DaemonOptions): Promise<void> {
  const { dir, log, db, index, zip, cf, hostname, pidFile } = options;
  // What is wrong with the options is better said here than in a log.
  programOptions(options);
  const given = Object.entries({ db, index, zip, cf, hostname, 'pid-file': pidFile });
  const words = given.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  const { pid, address } = await startGatherd(dir, log, [
    ...words,
    ...options.debug.map((flag) => `-D${flag.replace(/^-D/, '')}`),
    ...(options.jsonLog ? ['--json-log'] : []),
    '--timeout',
    String(options.timeout),
    '--grace',
    String(options.grace),
    '--max-connections',
    String(options.maxConnections),
    '--host',
    options.host,
    String(port),
  ]);
  process.stdout.write(`ready gatherd=${address} pid=${pid}\n`);
  process.exitCode = EXIT.ok;
}

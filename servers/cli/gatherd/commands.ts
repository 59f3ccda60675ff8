import { Command } from 'commander';
import { UsageError } from '../../../protocols/errors.js';
import { lazyAction } from '../lazy-action.js';
import {
  addConnectionOptions,
  addPeerOptions,
  addRotationOptions,
  addTlsOptions,
  monitorOption,
} from '../options/connection-options.js';
import { fromOption, pollOption } from '../options/copy-options.js';
import { LOOPBACK, portOption, repeatedOption, secondsOption } from '../options/option-values.js';

/** The commands of this file by name. */
export const DEFINITIONS = { gatherd, 'in.gatherd': inGatherd, 'kill-gatherd': killGatherd };

const FILES_HELP = `
DIR is a Gatherer's data directory. Relative names of the other files are relative to it:
  generations/   the published generations (-db); a new one is served as soon as it is published
  gatherd.cf     the access list (-cf): Allow and Deny lines with host and domain names, addresses,
                 ranges, or "all"; the first line that matches the peer decides; without the file
                 every host may connect
A directory of an original Gatherer (PRODUCTION.gdbm in GDBM's format, or All-Templates.gz) needs no
preparation: its objects are published as a generation at the start, and again when PRODUCTION.gdbm
is replaced. The original files are only read. -index FILE and -zip FILE are accepted and ignored: a
generation contains the index and the compressed copy. The original options with one dash (-dir,
-db, -index, -log, -zip, -cf) and their forms with two dashes are accepted.
`;

const DEBUG_HELP = `
Debugging: -D69,LEVEL, or $HARVEST_DEBUG. All messages of gatherd are in section 69, SOIF
processing:
  -D69,1   each transfer: start time, compressed or clear, objects, bytes, milliseconds
  -D69,5   also the beginning and end of each session
  -D69,9   also each piece received or sent: its size and first bytes
-D69 shows all levels.
`;

const DAEMON_HELP = `${FILES_HELP}
The log is standard error (default) or -log FILE. While gatherd runs, DIR/gatherd.pid contains its
process id; a second gatherd on DIR refuses to start. SIGTERM and SIGINT stop it: transfers in
progress get --grace seconds; after --stop-limit seconds it ends in any case, with status 1; a
second signal ends it immediately. SIGHUP reopens the log (rotation) and looks for a new generation.
${DEBUG_HELP}
Examples:
  harvest gatherd -d ./data/gatherer 8500
  harvest gatherd -dir ./data --host 0.0.0.0 --detach 8500
                                     in the background, log in DIR/gatherd.log
  harvest kill-gatherd -d ./data     stop it
  harvest gatherd -d ./copies --from s3://bucket/prefix
                                     what a Gatherer with Publish s3://bucket/prefix publishes
                                     (docs/publish.md)
  harvest gatherd -d ./data --tls-cert site.pem --tls-key site.key
                                     with TLS: gather tls://HOST 8500

Exit status: 0 stopped by a signal, or started by --detach; 1 failure; 2 usage.
`;

const INETD_HELP = `${FILES_HELP}
Serves one session on standard input and output, then exits. Standard input and output are one
socket (inetd, systemd) or two pipes. The log goes to DIR/gatherd.log or -log FILE, never to the
peer. gatherd.cf applies to the address of the socket; a peer on a pipe matches only "all".
${DEBUG_HELP}
A line of inetd.conf:
  8500 stream tcp nowait nobody /usr/local/bin/in.gatherd in.gatherd -dir /var/harvest/data

Exit status: 0 the session has ended, for any reason; 1 failure; 2 usage.
`;

/** `gatherd [-db | -index | -log | -zip | -cf FILE] [-dir DIR | -d DIR] [PORT]` (GATHERD-11.1). */
function gatherd(): Command {
  return addTlsOptions(addConnectionOptions(withFileOptions(new Command('gatherd')), 2048), 'the port')
    .addOption(monitorOption())
    .argument('[port]', 'TCP port; 0 = any free port', portOption, 8500)
    .option('--host <address>', 'address to listen on', LOOPBACK)
    .option('--pid-file <file>', 'file with the process id (default: gatherd.pid)')
    .addOption(fromOption('the generations'))
    .addOption(pollOption())
    .option('--detach', 'run in the background, log to a file', false)
    .addHelpText('after', DAEMON_HELP)
    .action(lazyAction(async () => (await import('./actions/gatherd.js')).gatherd));
}

/** `in.gatherd [-db | -index | -log | -zip | -cf FILE] [-dir DIR]` (GATHERD-11.2). */
function inGatherd(): Command {
  return withFileOptions(new Command('in.gatherd'))
    .addHelpText('after', INETD_HELP)
    .action(lazyAction(async () => (await import('./actions/gatherd.js')).inGatherd));
}

function withFileOptions(command: Command): Command {
  return addRotationOptions(addPeerOptions(command, 120))
    .option('-d, --dir <directory>', "the Gatherer's data directory (-dir)", '.')
    .option('--db <directory>', 'directory of the generations (-db; default: generations)')
    .option('--index <file>', 'accepted and ignored (-index)')
    .option('--log <file>', 'log to this file (-log)')
    .option('--zip <file>', 'accepted and ignored (-zip)')
    .option('--cf <file>', 'access list (-cf; default: gatherd.cf)')
    .option('--hostname <name>', "name in the greeting (default: the system's)", hostNameOption)
    .option('--line-end-after-member', 'send a line end after compressed data, for clients of 1997', false)
    .option('--json-log', 'log as JSON lines', false)
    .option('-D, --debug <section,level>', 'show debugging messages (may be repeated)', repeatedOption, []);
}

/** GATHERD-3.5: clients split the greeting at blanks, so the name contains none. */
function hostNameOption(value: string): string {
  if (!/^\S+$/.test(value)) throw new UsageError('--hostname: must be a name without blanks');
  return value;
}

const KILL_HELP = `
Reads DIR/gatherd.pid, sends SIGTERM to that gatherd and waits until it ends. If another process now
has that id, no signal is sent.

Example:
  harvest kill-gatherd -d ./data/gatherer

Exit status: 0 stopped; 1 gatherd is not running, or did not stop in time; 2 usage.
`;

/** `kill-gatherd [-d DIR]` (GATHERD-11.3). */
function killGatherd(): Command {
  return new Command('kill-gatherd')
    .option('-d, --dir <directory>', "the Gatherer's data directory (-dir)", '.')
    .option('--pid-file <file>', 'file with the process id (default: gatherd.pid)')
    .option('--timeout <seconds>', 'maximum time to wait until it ends', secondsOption, 30)
    .addHelpText('after', KILL_HELP)
    .action(lazyAction(async () => (await import('./actions/kill-gatherd.js')).killGatherd));
}

import { Command, InvalidArgumentError } from 'commander';
import { GatherdClient } from '../../clients/gatherd/index.js';
import { UsageError } from '../../protocols/errors.js';
import { parseTimestamp } from '../../protocols/gatherd/index.js';
import { encodeSoif } from '../../protocols/soif/index.js';
import { complain, complainOrThrow, EXIT } from './exit.js';
import { type PeerAddress, peerAddress } from './peer-address.js';
import { StandardOutput } from './standard-output.js';

const HELP = `
Fetches the summaries that a Gatherer exports and writes them to standard output as one SOIF stream, with the @DELETE,
@REFRESH and @UPDATE groups around the objects. Messages go to standard error. TIMESTAMP is seconds since 1970-01-01 UTC:
only objects changed since then; without it everything. The original -info and -nocompress are understood too.

With --changes a Gatherer that can says what was deleted and what was only looked at again: in the @DELETE group are
objects without content, in the @REFRESH group objects with their times only. Without it these two groups are empty, as
every program that reads such a stream expects.

Examples:
  harvest gather localhost                       everything, from port 8500
  harvest gather localhost 8500 1735689600       what changed since the beginning of 2025
  harvest gather --changes localhost 8500 1735689600
                                                 the same, with deletions
  harvest gather -info localhost                 only what the Gatherer says about itself
  harvest gather localhost | grep -a -c '^@FILE' how many objects

Exit status: 0 complete, 1 connection or protocol failure, 2 usage.
`;

interface GatherOptions {
  readonly info: boolean;
  readonly compress: boolean;
  readonly changes: boolean;
}

/** `harvest gather [-info] [-nocompress] host [port] [timestamp]` (GATHERD-11.4, GATHERD-11.5). */
export function gatherCommand(): Command {
  return new Command('gather')
    .summary("fetch a Gatherer's summaries as one SOIF stream")
    .argument('<host>', 'where gatherd runs: HOST or HOST:PORT', peerAddress)
    .argument('[port]', 'its TCP port (default: 8500); not after HOST:PORT', numberArgument)
    .argument('[timestamp]', 'only objects changed since this time', numberArgument)
    .option('--info', 'fetch only the short description of the database (-info)', false)
    .option('--no-compress', 'do not use compression (-nocompress)')
    .option('--changes', 'let the Gatherer use the @DELETE and @REFRESH groups, if it can', false)
    .addHelpText('after', HELP)
    .action(
      async (
        peer: PeerAddress,
        first: number | undefined,
        second: number | undefined,
        options: GatherOptions,
      ) => {
        if (peer.port !== undefined && second !== undefined)
          throw new UsageError('gather: two ports are given');
        const [port, since = 0] = peer.port === undefined ? [first, second] : [peer.port, first];
        if (port !== undefined && port > MAX_PORT)
          throw new UsageError(`gather: a port is at most ${MAX_PORT}`);
        process.exitCode = await gather({ host: peer.host, port }, since, options);
      },
    );
}

const MAX_PORT = 65_535;

/** A port or a time: GATHERD-4.1, beyond the year 2038 too. */
function numberArgument(value: string): number {
  const number = parseTimestamp(value);
  if (number === undefined) throw new InvalidArgumentError('a whole number is wanted');
  return number;
}

async function gather(peer: PeerAddress, since: number, options: GatherOptions): Promise<number> {
  const { host, port } = peer;
  const output = new StandardOutput();
  try {
    await using client = await GatherdClient.connect({
      host,
      ...(port === undefined ? {} : { port }),
      onWarning: ({ rule, offset, message }) => complain('gather', `${message} (${rule}, offset ${offset})`),
    });
    if (options.info) {
      const info = await client.info();
      if (info === undefined) {
        complain('gather', 'the server gives no description of its database');
        return EXIT.failure;
      }
      await output.write(encodeSoif(info));
    } else {
      // GATHERD-4.4: old readers of the stream take whatever it holds for a new object, so deletions only when asked for.
      const request = { since, compression: options.compress, sections: options.changes };
      for await (const piece of client.stream(request)) {
        // Nobody reads any more: there is nobody left to be told.
        if (!(await output.write(piece))) return EXIT.ok;
      }
    }
    await client.quit();
    return EXIT.ok;
  } catch (error) {
    return complainOrThrow('gather', error, EXIT.failure);
  }
}

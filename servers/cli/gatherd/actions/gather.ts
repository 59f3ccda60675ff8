import { GatherdClient } from '../../../../clients/gatherd/index.js';
import { UsageError } from '../../../../protocols/errors.js';
import { encodeSoif } from '../../../../protocols/soif/index.js';
import type { PeerAddress } from '../../options/option-values.js';
import { complain, complainOrThrow, EXIT } from '../../output/exit.js';
import { StandardOutput } from '../../output/standard-output.js';

interface GatherOptions {
  readonly raw: boolean;
  readonly info: boolean;
  readonly compress: boolean;
  readonly changes: boolean;
}

const MAX_PORT = 65_535;

/** The action of `harvest gather`; returns the exit status. */
export async function gather(
  peer: PeerAddress,
  first: number | undefined,
  second: number | undefined,
  options: GatherOptions,
): Promise<number> {
  if (peer.port !== undefined && second !== undefined) throw new UsageError('gather: two ports are given');
  const [port, since = 0] = peer.port === undefined ? [first, second] : [peer.port, first];
  if (port !== undefined && port > MAX_PORT)
    throw new UsageError(`gather: a port must be at most ${MAX_PORT}`);
  const output = new StandardOutput({ raw: options.raw });
  try {
    await using client = new GatherdClient({
      host: peer.host,
      port,
      onWarning: ({ rule, offset, message }) => complain('gather', `${message} (${rule}, offset ${offset})`),
    });
    if (options.info) {
      const info = await client.info();
      if (info === undefined) {
        complain('gather', 'the server has no description of its database');
        return EXIT.failure;
      }
      await output.write(encodeSoif(info));
    } else {
      // GATHERD-4.4: original readers treat every object of the stream as new, so deletions are requested only
      // with --changes.
      const request = { since, compression: options.compress, sections: options.changes };
      for await (const piece of client.stream(request)) {
        // The reader has closed the pipe.
        if (!(await output.write(piece))) return EXIT.ok;
      }
    }
    await client.quit();
    return EXIT.ok;
  } catch (error) {
    return complainOrThrow('gather', error, EXIT.connection);
  }
}

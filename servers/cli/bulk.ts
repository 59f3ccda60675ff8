import { createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { Command, Option } from 'commander';
import { BulkClient, type BulkTransfer } from '../../clients/bulk/index.js';
import { jsonLine, jsonPieces } from '../../clients/soif-tools/index.js';
import { PeerError, UsageError } from '../../protocols/errors.js';
import { SpoolFile } from '../../storage/files/spool-file.js';
import { complain, complainOrThrow, EXIT } from './exit.js';
import { GroupWriter } from './group-writer.js';
import { timeoutOption } from './option-values.js';
import { type PeerAddress, peerAddress } from './peer-address.js';
import { printable } from './printable.js';
import { rawOption, StandardOutput } from './standard-output.js';
import { timestampOption } from './timestamp-option.js';

const HELP = `
Fetches the objects of a broker, as brokers do from each other, and writes them as SOIF in three groups: @DELETE (deleted
objects: their identity), @REFRESH (unchanged objects with newer times), @UPDATE (new and changed objects in full).
Standard error then shows how many objects were received, and the value of --since that fetches only later changes.

Examples:
  harvest bulk localhost:8501                     everything
  harvest bulk localhost --since 1735689600       what changed since the beginning of 2025
  harvest bulk localhost --query 'type : HTML'    only objects that match; the language is that of "harvest query"
  harvest bulk localhost --json | jq -r .url      one JSON object per line, as "harvest soif convert" writes it
  harvest bulk localhost --count                  only the counts, as one JSON line
  harvest bulk localhost --interface 2 --compress --output all.soif
                                                  over the interface proposed in 1995, compressed

Exit status: 0 complete; 1 the broker refused, or an object was left out because SOIF cannot hold its URL; 2 usage; 3 the broker cannot be reached or the transfer is not complete (the
objects received so far are written).
`;

interface BulkOptions {
  readonly since: number;
  readonly query?: string;
  readonly flags?: string;
  readonly interface: '1' | '2';
  readonly compress: boolean;
  readonly json: boolean;
  readonly count: boolean;
  readonly output?: string;
  readonly raw: boolean;
  readonly timeout?: number;
}

/** Bytes of an object above which it waits in a temporary file. */
const LARGE_BYTES = 4 * 1024 * 1024;

/** `harvest bulk HOST[:PORT]` (BT-1 to BT-6, BP-29). */
export function bulkCommand(): Command {
  return new Command('bulk')
    .summary("fetch a broker's objects, or what changed of them")
    .argument('<broker>', 'host of the broker: HOST or HOST:PORT (default port 8501)', peerAddress)
    .option(
      '--since <timestamp>',
      'only what changed after this time, seconds since 1970-01-01 UTC',
      timestampOption,
      0,
    )
    .option('--query <query>', 'only objects that match (default: #ALLB, every object)')
    .option('--flags <flags>', "more flags of the message, e.g. '#index case insensitive'")
    .addOption(
      new Option('--interface <number>', 'result interface: 1 as shipped, 2 as proposed in 1995')
        .choices(['1', '2'])
        .default('1'),
    )
    .option('--compress', 'let the broker compress; needs --interface 2', false)
    .addOption(new Option('--json', 'one JSON object a line').default(false).conflicts('count'))
    .option('--count', 'print only the counts, as one JSON line', false)
    .option('--output <file>', 'write to this file instead of standard output')
    .option('--timeout <seconds>', 'give up if the transfer is not complete by then', timeoutOption)
    .addOption(rawOption())
    .addHelpText('after', HELP)
    .action(async (broker: PeerAddress, options: BulkOptions) => {
      if (options.compress && options.interface === '1') {
        throw new UsageError('bulk: --compress needs --interface 2');
      }
      process.exitCode = await bulk(broker, options);
    });
}

async function bulk({ host, port }: PeerAddress, options: BulkOptions): Promise<number> {
  const client = new BulkClient({
    host,
    ...(port === undefined ? {} : { port }),
    large: { fromBytes: LARGE_BYTES, open: () => SpoolFile.open(tmpdir()) },
    onWarning: ({ rule, offset, message }) => complain('bulk', `${message} (${rule}, offset ${offset})`),
  });
  const signal = options.timeout === undefined ? undefined : AbortSignal.timeout(options.timeout * 1000);
  const transfer = client.transfer({
    since: options.since,
    ...(options.query === undefined ? {} : { query: options.query }),
    ...(options.flags === undefined ? {} : { flags: options.flags }),
    ...(options.interface === '2' ? { interface: 2, compress: options.compress } : {}),
    ...(signal === undefined ? {} : { signal }),
  });
  const file = options.output === undefined ? undefined : createWriteStream(options.output);
  const output = new StandardOutput({ stream: file, raw: options.raw });
  try {
    // The reader has closed the pipe.
    let leftOut = 0;
    const onLeftOut = (reason: string): void => {
      leftOut++;
      complain('bulk', `left out: ${reason}`);
    };
    if (!(await write(transfer, output, options, onLeftOut))) return EXIT.ok;
    for (const message of transfer.messages) complain('bulk', printable(message));
    if (!options.count) complain('bulk', summary(transfer));
    return leftOut === 0 ? EXIT.ok : EXIT.failure;
  } catch (error) {
    if (signal?.aborted) {
      complain('bulk', `the transfer is not complete within ${options.timeout} s`);
      return EXIT.connection;
    }
    // The broker answered, or the fault is in the output file.
    const isConnected = error instanceof PeerError || (file?.errored ?? null) !== null;
    return complainOrThrow('bulk', error, isConnected ? EXIT.failure : EXIT.connection);
  } finally {
    file?.end();
  }
}

/** Writes the objects as they arrive. Returns false if the reader of the output has closed the pipe. */
async function write(
  transfer: BulkTransfer,
  output: StandardOutput,
  options: BulkOptions,
  onLeftOut: (reason: string) => void,
): Promise<boolean> {
  const groups = new GroupWriter(onLeftOut);
  for await (const batch of transfer.batches()) {
    if (options.count) continue;
    // The small objects of a batch are written together.
    let pieces: Uint8Array[] = [];
    const flush = () => output.write(Buffer.concat(pieces.splice(0)));
    for (const received of batch) {
      const { object, change, large, outline } = received;
      if (options.json && large !== undefined && outline !== undefined) {
        if (!(await flush())) return false;
        if (!(await output.writeFrom(jsonPieces({ source: large, outline }, change)))) return false;
        pieces = [Buffer.from('\n')];
      } else if (options.json) pieces.push(Buffer.from(`${jsonLine(object, change)}\n`));
      else {
        for (const piece of groups.object(received)) {
          if (piece instanceof Uint8Array) pieces.push(piece);
          else if (!((await flush()) && (await output.writeFrom(piece.pieces())))) return false;
        }
      }
    }
    if (!(await flush())) return false;
  }
  if (options.count) {
    const { received, bytes, next } = transfer.totals;
    return output.write(`${JSON.stringify({ ...received, bytes, next })}\n`);
  }
  return options.json || output.write(Buffer.concat(groups.end()));
}

function summary({ totals: { received, bytes, next } }: BulkTransfer): string {
  const counts = `${received.update} updated, ${received.refresh} refreshed, ${received.delete} deleted`;
  return `${counts}, ${bytes} bytes; next time --since ${next}`;
}

import { createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { type BulkChange, BulkClient, type BulkTransfer } from '../../../../clients/bulk/index.js';
import { jsonLine } from '../../../../clients/soif-tools/json-lines.js';
import { jsonPieces } from '../../../../clients/soif-tools/large-objects.js';
import { CHANGE_KINDS, type ChangeKind, groupClose, groupOpen } from '../../../../protocols/bulk/index.js';
import { PeerError, UsageError } from '../../../../protocols/errors.js';
import { encodeSoif, rewriteLarge, type SoifBytes, urlProblem } from '../../../../protocols/soif/index.js';
import { SpoolFile } from '../../../../storage/files/spool-file.js';
import type { PeerAddress } from '../../options/option-values.js';
import { complain, EXIT, untilTimeout } from '../../output/exit.js';
import { printable } from '../../output/printable.js';
import { StandardOutput } from '../../output/standard-output.js';

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

/** The action of `harvest bulk`; returns the exit status. */
export async function bulk({ host, port }: PeerAddress, options: BulkOptions): Promise<number> {
  if (options.compress && options.interface === '1')
    throw new UsageError('bulk: --compress needs --interface 2');
  const client = new BulkClient({
    host,
    port,
    large: { fromBytes: LARGE_BYTES, open: () => SpoolFile.open(tmpdir()) },
    onWarning: ({ rule, offset, message }) => complain('bulk', `${message} (${rule}, offset ${offset})`),
  });
  const file = options.output === undefined ? undefined : createWriteStream(options.output);
  const output = new StandardOutput({ stream: file, raw: options.raw });
  // The broker answered, or the fault is in the output file.
  const statusOf = (error: unknown) =>
    error instanceof PeerError || (file?.errored ?? null) !== null ? EXIT.failure : EXIT.connection;
  const limit = { seconds: options.timeout, late: 'the transfer is not complete' };
  const work = async (signal: AbortSignal | undefined): Promise<number> => {
    const transfer = client.changes({
      since: options.since,
      query: options.query,
      flags: options.flags,
      ...(options.interface === '2' ? { interface: 2, compress: options.compress } : {}),
      signal,
    });
    let leftOut = 0;
    const onLeftOut = (reason: string): void => {
      leftOut++;
      complain('bulk', `left out: ${reason}`);
    };
    // The reader has closed the pipe.
    if (!(await write(transfer, output, options, onLeftOut))) return EXIT.ok;
    for (const message of transfer.messages) complain('bulk', printable(message));
    if (!options.count) complain('bulk', summary(transfer));
    return leftOut === 0 ? EXIT.ok : EXIT.failure;
  };
  return await untilTimeout('bulk', limit, work, statusOf).finally(() => file?.end());
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
      const { object, kind, large, outline } = received;
      if (options.json && large !== undefined && outline !== undefined) {
        if (!(await flush())) return false;
        if (!(await output.writeFrom(jsonPieces({ source: large, outline }, kind)))) return false;
        pieces = [Buffer.from('\n')];
      } else if (options.json) pieces.push(Buffer.from(`${jsonLine(object, kind)}\n`));
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

/** Called for an object that cannot be written (SOIF-2.9), with a sentence that names it. */
type LeftOut = (reason: string) => void;

/** After the last group, before another three. */
const BLANK_LINE: Uint8Array = Buffer.from('\n');

/**
 * Writes objects as they arrive, in the groups DELETE, REFRESH and UPDATE (BT-15) with the bytes of BT-17;
 * empty groups too.
 *
 * A peer may send groups in another order, or repeat them. Changes are applied in the order of their arrival
 * (BT-25), so they are not reordered, which would also need memory for all of them: a group that should have
 * come earlier begins three groups again.
 */
class GroupWriter {
  /** Index in CHANGE_KINDS of the open group; -1 before the first. */
  #open = -1;
  readonly #onLeftOut: LeftOut;

  constructor(onLeftOut: LeftOut) {
    this.#onLeftOut = onLeftOut;
  }

  object({ kind, object, bytes, exact, large, outline }: BulkChange): SoifBytes[] {
    const problem = urlProblem(object.urlBytes, object.type);
    if (problem !== undefined) {
      this.#onLeftOut(`${kind}: ${problem} (SOIF-2.9)`);
      return [];
    }
    // An object with a tolerated fault is written in the exact layout (SOIF-3.1).
    if (large !== undefined && outline !== undefined)
      return [...this.#enter(kind), exact ? large : rewriteLarge(large, outline)];
    return [...this.#enter(kind), exact ? bytes : encodeSoif(object)];
  }

  /** Returns the end of the open group, and the groups after it. */
  end(): Uint8Array[] {
    return [...this.#advance(CHANGE_KINDS.length - 1), ...this.#close()];
  }

  #enter(change: ChangeKind): Uint8Array[] {
    const index = CHANGE_KINDS.indexOf(change);
    if (index >= this.#open) return this.#advance(index);
    const rest = this.end();
    this.#open = -1;
    return [...rest, BLANK_LINE, ...this.#advance(index)];
  }

  /** Opens the groups up to `index` and closes those before it. */
  #advance(index: number): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    while (this.#open < index) {
      pieces.push(...this.#close());
      this.#open++;
      pieces.push(groupOpen(kindAt(this.#open)));
    }
    return pieces;
  }

  #close(): Uint8Array[] {
    return this.#open < 0 ? [] : [groupClose(kindAt(this.#open))];
  }
}

function kindAt(index: number): ChangeKind {
  const kind = CHANGE_KINDS[index];
  if (kind === undefined) throw new RangeError(`there is no group ${index}`);
  return kind;
}

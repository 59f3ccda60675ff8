// Runs the transfers of a plan (JSON) in sequence and prints their cost as JSON. Decodes bulk transfers to
// objects and discards them; only reads files from a web server.
//   node client.js PLAN
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { BulkReplyDecoder } from '../../../protocols/bulk/index.js';

/** A transfer to measure. */
export type Transfer =
  | { readonly kind: 'bulk'; readonly port: number; readonly since: number }
  | { readonly kind: 'http'; readonly port: number; readonly path: string };

/** The cost of a transfer. */
export interface Measured {
  readonly seconds: number;
  readonly bytes: number;
  readonly objects: number;
  /** Processor time of the client. */
  readonly cpuSeconds: number;
}

const READ_BYTES = 256 * 1024;

async function fetch(transfer: Transfer): Promise<Pick<Measured, 'bytes' | 'objects'>> {
  const decoder = transfer.kind === 'bulk' ? new BulkReplyDecoder() : undefined;
  let bytes = 0;
  let objects = 0;
  let complete = decoder === undefined;
  const count = (events: ReturnType<BulkReplyDecoder['push']>): void => {
    for (const event of events) {
      if (event.kind === 'change') objects++;
      else if (event.kind === 'end') complete = event.complete;
    }
  };
  const socket: Socket = connect({
    host: '127.0.0.1',
    port: transfer.port,
    onread: {
      // The decoder keeps its chunks; data that is only read can reuse the same buffer.
      buffer:
        decoder === undefined ? Buffer.allocUnsafeSlow(READ_BYTES) : () => Buffer.allocUnsafeSlow(READ_BYTES),
      callback(length, buffer) {
        bytes += length;
        if (decoder !== undefined) count(decoder.push(buffer.subarray(0, length)));
        return true;
      },
    },
  });
  const message =
    transfer.kind === 'bulk'
      ? `#BULK #SINCE ${transfer.since} #END #ALLB\r\n`
      : `GET ${transfer.path} HTTP/1.0\r\nHost: bench\r\n\r\n`;
  socket.write(message);
  await once(socket, 'close');
  if (decoder !== undefined) count(decoder.end());
  if (!complete) throw new Error('the transfer is not complete');
  return { bytes, objects };
}

const plan = JSON.parse(process.argv[2] ?? '[]') as Transfer[];
const results: Measured[] = [];
for (const transfer of plan) {
  const cpu = process.cpuUsage();
  const start = process.hrtime.bigint();
  const received = await fetch(transfer);
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const { user, system } = process.cpuUsage(cpu);
  results.push({ ...received, seconds, cpuSeconds: (user + system) / 1e6 });
}
process.stdout.write(`${JSON.stringify(results)}\n`);

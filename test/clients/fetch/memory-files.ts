// Files for the bodies of documents, in memory.
import { type BodyBytes, type BodyFile, isStored } from '../../../clients/fetch/index.js';
import { StorageError } from '../../../protocols/errors.js';

/** Files in memory, which count what is open and can be slow or full. */
export class MemoryFiles {
  open = 0;
  opened = 0;
  fullAt = Number.POSITIVE_INFINITY;
  /** Called before each write. */
  gate: () => Promise<void> = async () => undefined;

  readonly create = async (): Promise<BodyFile> => {
    let content = Buffer.alloc(0);
    this.open++;
    this.opened++;
    return {
      append: async (bytes) => {
        await this.gate();
        if (content.length + bytes.length > this.fullAt)
          throw new StorageError('no space left', {
            cause: Object.assign(new Error('full'), { code: 'ENOSPC' }),
          });
        content = Buffer.concat([content, bytes]);
      },
      async *pieces(start = 0, end = content.length) {
        const buffer = Buffer.alloc(50_000);
        for (let at = start; at < end; at += buffer.length) {
          const piece = content.subarray(at, Math.min(end, at + buffer.length));
          piece.copy(buffer);
          yield buffer.subarray(0, piece.length);
          buffer.fill(0);
        }
      },
      close: async () => {
        this.open--;
      },
    };
  };
}

/** Reads a body, in memory or on disk. */
export async function bytesOf(body: BodyBytes | undefined): Promise<Buffer> {
  if (body === undefined) throw new Error('there is no body');
  if (!isStored(body)) return Buffer.from(body);
  const pieces: Buffer[] = [];
  for await (const piece of body.pieces()) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

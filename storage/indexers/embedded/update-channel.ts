import { largeBuffer } from '../../files/large-buffer.js';
import {
  type PackedChange,
  revivedError,
  type UpdateReply,
  type UpdateRequest,
  type UpdateWorkerData,
} from './messages.js';
import { WorkerChannel } from './worker-channel.js';

/** Maximum bytes and number of changes in one message. */
const MESSAGE_BYTES = 512 * 1024;
const MESSAGE_CHANGES = 256;
/** Messages in flight before {@link UpdateChannel.change} waits, which bounds the memory. */
const MESSAGES_AHEAD = 3;

interface Waiting {
  resolve(objects: number): void;
  reject(error: Error): void;
}

/**
 * The owner's side of the update thread: packs changes into messages and waits while too many are in flight.
 */
export class UpdateChannel {
  readonly #channel: WorkerChannel<UpdateRequest, UpdateReply>;
  readonly #waiting: Waiting[] = [];
  readonly #sent: Promise<number>[] = [];
  #changes: PackedChange[] = [];
  #bytes = new Uint8Array(MESSAGE_BYTES);
  #used = 0;

  constructor(data: UpdateWorkerData) {
    this.#channel = new WorkerChannel(
      new URL('./update-worker.js', import.meta.url),
      data,
      (reply) => {
        const waiting = this.#waiting.shift();
        if (reply.kind === 'done') waiting?.resolve(reply.objects);
        else waiting?.reject(revivedError(reply.error));
      },
      (error) => {
        for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
      },
    );
  }

  /** Queues a change, or a removal if `object` is absent. Resolves when more changes are accepted. */
  async change(oid: number, object?: Uint8Array): Promise<void> {
    const size = object?.length ?? 0;
    if (this.#used + size > this.#bytes.length) this.#post();
    if (size > this.#bytes.length) this.#bytes = largeBuffer(size);
    if (object !== undefined) this.#bytes.set(object, this.#used);
    this.#changes.push({ oid, start: this.#used, end: this.#used + size });
    this.#used += size;
    if (this.#changes.length >= MESSAGE_CHANGES) this.#post();
    while (this.#sent.length > MESSAGES_AHEAD) await this.#sent.shift();
  }

  /** Makes the changes durable. @returns the number of objects in the index */
  async flush(watermark: number): Promise<number> {
    await this.#settle();
    return await this.#request({ kind: 'flush', watermark });
  }

  /** Writes into the index what SQLite keeps beside it. */
  async merge(): Promise<void> {
    await this.#request({ kind: 'merge' });
  }

  async clear(): Promise<void> {
    this.#changes = [];
    this.#used = 0;
    await this.#settle();
    await this.#request({ kind: 'clear' });
  }

  /** Ends the thread. Unflushed changes are lost. */
  async close(): Promise<void> {
    try {
      this.#channel.send({ kind: 'close' });
    } catch {
      // The thread has exited already.
    }
    await this.#channel.ended();
  }

  async #settle(): Promise<void> {
    this.#post();
    await Promise.all(this.#sent.splice(0));
  }

  #post(): void {
    if (this.#changes.length === 0) return;
    const bytes = this.#bytes.subarray(0, this.#used);
    const sent = this.#request({ kind: 'apply', bytes, changes: this.#changes }, [this.#bytes.buffer]);
    sent.catch(() => undefined); // reported when awaited
    this.#sent.push(sent);
    this.#bytes = new Uint8Array(MESSAGE_BYTES);
    this.#changes = [];
    this.#used = 0;
  }

  #request(request: UpdateRequest, transfer: readonly ArrayBuffer[] = []): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#channel.send(request, transfer);
      this.#waiting.push({ resolve, reject });
    });
  }
}

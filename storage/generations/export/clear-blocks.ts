// The objects of an export as clear bytes, at the positions that they have one after the other.

import type { FileHandle } from 'node:fs/promises';
import { firstIndex } from '../../../protocols/binary-search.js';
import { Mutex } from '../../../protocols/mutex.js';
import { hasSpareSpace } from '../../files/free-space.js';
import { openNameless } from '../../files/nameless-file.js';
import { writeFully } from '../../files/write-fully.js';

/** Blocks from `first` up to, not including, `end`. */
export interface BlockRange {
  readonly first: number;
  readonly end: number;
}

/** What the blocks are read from. */
export interface ClearBlocksOptions {
  /** Sums of the raw lengths of the blocks before that of each number; one more entry than blocks. */
  readonly positions: Float64Array;
  /** Reads and inflates blocks, one after the other. */
  readonly inflate: (range: BlockRange) => AsyncIterable<Uint8Array>;
  /** A directory of the disk that may have the file of inflated blocks. */
  readonly directory: string;
}

/**
 * Reads the clear bytes of an export at any position. Each block is inflated once, into a file that has no name
 * and ends with the process: a client that takes no compression costs as much as reading a file, from the
 * second one on. Without space, or without permission to write, blocks are inflated for each client. Keeps the
 * block that it inflated last.
 */
export class ClearBlocks implements AsyncDisposable {
  readonly #options: ClearBlocksOptions;
  /** 1 for each block that the file has. */
  readonly #present: Uint8Array;
  readonly #mutex = new Mutex();
  #file: FileHandle | undefined;
  #opened = false;
  #last: { readonly block: number; readonly bytes: Uint8Array } | undefined;

  constructor(options: ClearBlocksOptions) {
    this.#options = options;
    this.#present = new Uint8Array(options.positions.length - 1);
  }

  /**
   * Fills `target` from the position on; returns fewer bytes only at the end. @throws StorageError for a
   * damaged block
   */
  async read(target: Uint8Array, position: number): Promise<number> {
    const { positions } = this.#options;
    const end = Math.min(position + target.length, positions.at(-1) ?? 0);
    for (let at = position; at < end; ) {
      const rest = target.subarray(at - position, end - position);
      const read = (await this.#readFile(rest, at)) || (await this.#inflate(rest, at));
      at += read;
    }
    return Math.max(0, end - position);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#mutex.runExclusive(() => this.#dropFile());
  }

  /** Reads the blocks that the file has; returns the number of bytes, 0 if it does not have the first one. */
  async #readFile(target: Uint8Array, position: number): Promise<number> {
    const { positions } = this.#options;
    const first = this.#blockAt(position);
    let end = first;
    while (this.#present[end] === 1 && positions[end]! < position + target.length) end++;
    const file = this.#file;
    if (end === first || file === undefined) return 0;
    const length = Math.min(target.length, positions[end]! - position);
    // A read that fails is one of a file that was given up meanwhile; the blocks are inflated instead.
    return await file.read(target, 0, length, position).then(
      ({ bytesRead }) => bytesRead,
      () => 0,
    );
  }

  /** Inflates the blocks up to the next one that the file has; returns the number of bytes. */
  #inflate(target: Uint8Array, position: number): Promise<number> {
    return this.#mutex.runExclusive(async () => {
      const { positions, inflate } = this.#options;
      await this.#openFile();
      let block = this.#blockAt(position);
      let end = block;
      while (
        end < this.#present.length &&
        this.#present[end] !== 1 &&
        positions[end]! < position + target.length
      )
        end++;
      let filled = 0;
      const copy = (bytes: Uint8Array): void => {
        const from = position + filled - positions[block]!;
        const part = bytes.subarray(from, from + target.length - filled);
        target.set(part, filled);
        filled += part.length;
      };
      if (this.#last?.block === block) {
        copy(this.#last.bytes);
        block++;
      }
      if (block >= end) return filled;
      for await (const bytes of inflate({ first: block, end })) {
        copy(bytes);
        this.#last = { block, bytes };
        await this.#keep(block, bytes);
        block++;
      }
      return filled;
    });
  }

  async #keep(block: number, bytes: Uint8Array): Promise<void> {
    if (this.#file === undefined) return;
    try {
      await writeFully(this.#file, bytes, this.#options.positions[block]);
      this.#present[block] = 1;
    } catch {
      // The disk is full.
      await this.#dropFile();
    }
  }

  async #openFile(): Promise<void> {
    if (this.#opened) return;
    this.#opened = true;
    const { positions, directory } = this.#options;
    try {
      if (await hasSpareSpace(directory, positions.at(-1) ?? 0)) this.#file = await openNameless(directory);
    } catch {
      // The generation was removed, or belongs to another user.
    }
  }

  async #dropFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#opened = true;
    this.#present.fill(0);
    await file?.close();
  }

  /** The block with the byte at a position. */
  #blockAt(position: number): number {
    const { positions } = this.#options;
    return firstIndex(1, positions.length - 1, (i) => positions[i]! > position) - 1;
  }
}

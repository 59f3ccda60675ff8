// Reads a Registry file from chunks of any size.
import { ByteBuffer } from '../byte-buffer.js';
import { StateError } from '../errors.js';
import { StateMachine } from '../state-machine.js';
import {
  dataBytesOf,
  FILE_HEADER_BYTES,
  RECORD_HEADER_BYTES,
  type RecordState,
  type RegistryFormat,
  registryFormat,
  stateOf,
} from './format.js';
import { decodeRecordHeader, decodeRegistryHeader, formatMagic, type RegistryHeader } from './header.js';
import { DECODER_STATES } from './states.js';

/** Options of {@link RegistryDecoder}. */
export interface RegistryDecoderOptions extends Partial<RegistryFormat> {
  /** Bytes of one record's data; a larger size counts as damage. Default 16 MiB. */
  readonly maxRecordBytes?: number;
  /** Offset in the file at which the input begins: 0, or the start of a record. Default 0. */
  readonly start?: number;
}

/** A record of the file; `decodeRecordData` decodes its data. */
export interface RawRecord {
  readonly kind: 'record';
  /** Offset in the file of the record's size field. */
  readonly offset: number;
  readonly flag: number;
  readonly state: RecordState;
  /** A view of the chunk, or a copy: copy what you keep. */
  readonly data: Uint8Array;
}

/** The damage that stopped the decoder (REG-15). */
export interface RegistryDamage {
  readonly kind: 'damage';
  readonly rule: string;
  readonly offset: number;
  readonly message: string;
  /** Whether the file ends within a record that is valid so far (REG-29). */
  readonly cut: boolean;
}

/** An item of {@link RegistryDecoder}. Damage is the last item. */
export type RegistryItem = ({ readonly kind: 'header' } & RegistryHeader) | RawRecord | RegistryDamage;

export const DEFAULT_MAX_RECORD_BYTES = 16 * 1024 * 1024;

/**
 * Reads a Registry in chunks of any size, under one reading of the size field (REG-11). It never throws for the
 * contents of the file: damage is its last item. It holds at most one record.
 */
export class RegistryDecoder {
  readonly #format: RegistryFormat;
  readonly #maxRecordBytes: number;
  /** Bytes that are not decoded yet: less than one record. */
  readonly #held = new ByteBuffer();
  /** Offset in the file of the first byte that is not decoded. */
  #offset = 0;
  readonly #machine;
  /** Bytes that the next step needs, from the start of the header. */
  #needed: number;
  /** In state `data`: the flag of the record. */
  #flag = 0;

  /** @throws UsageError for a constant out of its range; RangeError for a limit out of its range */
  constructor(options: RegistryDecoderOptions = {}) {
    this.#format = registryFormat(options);
    this.#maxRecordBytes = options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES;
    if (!Number.isSafeInteger(this.#maxRecordBytes) || this.#maxRecordBytes < 1) {
      throw new RangeError(`maxRecordBytes must be a positive whole number, not ${this.#maxRecordBytes}`);
    }
    this.#offset = options.start ?? 0;
    this.#machine = new StateMachine(DECODER_STATES, this.#offset > 0 ? 'record header' : 'file header');
    this.#needed = this.#offset > 0 ? RECORD_HEADER_BYTES : FILE_HEADER_BYTES;
  }

  /** Returns the items that this chunk completes. @throws StateError after {@link end} */
  push(chunk: Uint8Array): RegistryItem[] {
    if (this.#machine.state === 'ended') throw new StateError('push after end');
    if (this.#stopped) this.#machine.step('more');
    if (this.#stopped || chunk.length === 0) return [];
    let bytes = chunk;
    if (this.#held.length > 0 || chunk.length < this.#needed) {
      this.#held.append(chunk);
      if (this.#held.length < this.#needed) return [];
      bytes = this.#held.take();
    }
    const items: RegistryItem[] = [];
    let at = 0;
    while (!this.#stopped && bytes.length - at >= this.#needed) {
      const taken = this.#step(bytes, at, items);
      at += taken;
      this.#offset += taken;
    }
    if (!this.#stopped && at < bytes.length) this.#held.append(bytes.subarray(at));
    return items;
  }

  /** No more input: returns the damage of a truncated file (REG-29), or nothing. */
  end(): RegistryItem[] {
    const { state } = this.#machine;
    if (state === 'ended') throw new StateError('end after end');
    const held = this.#held.length;
    if (state === 'stopped' || (state === 'record header' && held === 0)) {
      this.#machine.step('end');
      return [];
    }
    this.#machine.step('cut');
    if (state === 'file header') {
      const message = `the Registry's header has ${held} of ${FILE_HEADER_BYTES} bytes`;
      return [{ kind: 'damage', rule: 'REG-5', offset: held, message, cut: true }];
    }
    const message = `the last record is cut off after ${held} bytes`;
    return [{ kind: 'damage', rule: 'REG-29', offset: this.#offset, message, cut: true }];
  }

  get #stopped(): boolean {
    return this.#machine.state === 'stopped';
  }

  /** Decodes at `at`, where {@link #needed} bytes are available; returns the bytes consumed. */
  #step(bytes: Uint8Array, at: number, items: RegistryItem[]): number {
    switch (this.#machine.state) {
      case 'file header':
        return this.#readFileHeader(bytes.subarray(at, at + FILE_HEADER_BYTES), items);
      case 'record header':
        this.#readRecordHeader(bytes, at, items);
        return 0;
      default: {
        const length = this.#needed;
        const flag = this.#flag;
        const data = bytes.subarray(at + RECORD_HEADER_BYTES, at + length);
        this.#machine.step('record');
        items.push({ kind: 'record', offset: this.#offset, flag, state: stateOf(flag, this.#format), data });
        this.#needed = RECORD_HEADER_BYTES;
        return length;
      }
    }
  }

  #readFileHeader(start: Uint8Array, items: RegistryItem[]): number {
    const magic = decodeRecordHeader(start).size;
    if (magic !== this.#format.fileMagic) {
      const message = `not a Registry: it begins with ${formatMagic(magic)}, not ${formatMagic(this.#format.fileMagic)}`;
      this.#stop('foreign', items, 'REG-8', message);
      return 0;
    }
    this.#machine.step('header');
    items.push({ kind: 'header', ...decodeRegistryHeader(start, this.#format) });
    this.#needed = RECORD_HEADER_BYTES;
    return FILE_HEADER_BYTES;
  }

  #readRecordHeader(bytes: Uint8Array, at: number, items: RegistryItem[]): void {
    const { size, magic, flag } = decodeRecordHeader(bytes, at);
    const dataBytes = dataBytesOf(size, this.#format.reading);
    if (magic !== this.#format.recordMagic) {
      const message = `a record's magic number is ${formatMagic(magic)}, not ${formatMagic(this.#format.recordMagic)}`;
      this.#stop('magic', items, 'REG-15', message);
    } else if (dataBytes < 0) {
      const message = `no record has size ${size} under reading (${this.#format.reading})`;
      this.#stop('size', items, 'REG-11', message);
    } else if (dataBytes > this.#maxRecordBytes) {
      const message = `a record of ${dataBytes} bytes is longer than the limit of ${this.#maxRecordBytes}`;
      this.#stop('size', items, 'REG-11', message);
    } else {
      this.#machine.step('head');
      this.#flag = flag;
      this.#needed = RECORD_HEADER_BYTES + dataBytes;
    }
  }

  #stop(step: 'foreign' | 'magic' | 'size', items: RegistryItem[], rule: string, message: string): void {
    this.#machine.step(step);
    items.push({ kind: 'damage', rule, offset: this.#offset, message, cut: false });
  }
}

// The events of a bulk reply and the data that they carry.
import type { SectionItem, SoifBytes, SoifObject } from '../soif/index.js';

/** The kinds of changes (BT-14, BT-21), in the order in which their groups are sent (BT-15). */
export const CHANGE_KINDS = ['delete', 'refresh', 'update'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** A change as received, in either interface. */
export interface BulkChange {
  readonly kind: 'change';
  readonly change: ChangeKind;
  readonly object: SoifObject;
  /** The object as received, a view of the stream's memory: copy what you keep. */
  readonly bytes: Uint8Array;
  /** Whether `bytes` have the layout of SOIF-2.2, so that they may be passed on unchanged. */
  readonly exact: boolean;
  /** Bytes from the start of the reply; in a compressed body from the start of the decompressed data. */
  readonly offset: number;
}

/** An item of an object that is not held. Offsets are those of {@link BulkChange.offset}. */
export interface BulkLargeItem {
  readonly kind: 'large';
  readonly item: Extract<SectionItem, { kind: 'large' | 'large-bytes' | 'rewind' }>;
}

/** A named private extension (BP-12, BP-17); a reader that does not know its type skips it. */
export interface BulkExtension {
  readonly type: string;
  readonly data: Uint8Array;
}

/** One InfoField of the Header (BP-12). Text is one line. */
export type BulkInfo =
  | { readonly field: 'broker-url' | 'indexer' | 'collect' | 'message'; readonly text: string }
  | ({ readonly field: 'extension' } & BulkExtension);

/** One Object of an ObjectList (BP-17 to BP-20). */
export interface BulkListedObject {
  /** BP-18: a warning about this object; numbers as in {@link BULK_ERROR}. */
  readonly warning?: { readonly number: number; readonly text: string };
  /** URL of the original, one character a byte (BRK-1.10); may be empty. */
  readonly resource: string;
  /** URL of the content summary, one character a byte; may be empty. */
  readonly object: string;
  readonly description?: Uint8Array;
  /** One for each matched line. */
  readonly opaque: readonly Uint8Array[];
  readonly attributes: readonly { readonly name: string; readonly value: Uint8Array }[];
  readonly extensions: readonly BulkExtension[];
}

/** An Object of which some values are not in memory. */
export interface BulkLargeObject extends Omit<BulkListedObject, 'description' | 'attributes'> {
  readonly description?: SoifBytes;
  readonly attributes: readonly { readonly name: string; readonly value: SoifBytes }[];
}

/** The Trailer (BP-21): `stats` is SOIF text (BP-24). */
export type BulkTrailer =
  | { readonly kind: 'count'; readonly count: number }
  | { readonly kind: 'error'; readonly number: number; readonly text: string }
  | { readonly kind: 'stats'; readonly data: Uint8Array };

/** An event of a reply to `#BULK`, in the order of the reply. Offsets are bytes from the start of the reply. */
export type BulkEvent =
  /**
   * The byte after the separator identifies the interface (BP-29). Interface 1 has no numbers; they are then 1
   * and 0. A Broker greets before it reads the message (BT-9), so a reply of interface 2 may have both
   * versions; the last one counts.
   */
  | {
      readonly kind: 'version';
      readonly text: string;
      readonly interface: 1 | 2;
      readonly major: number;
      readonly minor: number;
    }
  /** Interface 1: `000`, `400`, `099`, `499` (BT-10, BT-11), and other codes of a Broker, e.g. `111`. */
  | { readonly kind: 'status'; readonly code: number; readonly text: string }
  | { readonly kind: 'info'; readonly info: BulkInfo }
  | BulkChange
  /**
   * Items of objects that are not held (`SoifDecoderOptions.largeBytes`), as `SectionDecoder` describes them.
   */
  | BulkLargeItem
  | { readonly kind: 'object'; readonly object: BulkListedObject }
  | { readonly kind: 'trailer'; readonly trailer: BulkTrailer }
  /** A defect that was tolerated, input that was dropped, or a count that differs (BP-22). */
  | { readonly kind: 'warning'; readonly rule: string; readonly offset: number; readonly message: string }
  /**
   * Deflate data of a compressed body, always the last event of a call. Feed it to a raw inflate stream, pass
   * the output to `inflated`, and call `inflateEnd` when the stream has found its end. Occurs once for each
   * chunk.
   */
  | { readonly kind: 'inflate'; readonly bytes: Uint8Array }
  /**
   * The last event. An incomplete transfer (BT-19) delivers valid objects, but not all; `reason` is for people.
   */
  | { readonly kind: 'end'; readonly complete: boolean; readonly reason?: string };

/** Error and warning numbers (BP-23). */
export const BULK_ERROR = {
  malformed: 1,
  unsupported: 2,
  permission: 3,
  busy: 4,
  lifetime: 5,
  internal: 6,
} as const;

import type { LoginSeal, Sealing } from '../generations/login-seal.js';
import { keyText, TABLE, tableRange, textKey } from '../level/keys.js';
import type { Level } from '../level/level.js';
import { metaValueCodec } from '../records/records.js';

export type MetaValue = string | number;

/** Small named values: digest of the job, state of the run, counters. Batches write them. */
export class MetaStore {
  readonly #level: Level;
  readonly #seal: LoginSeal;

  constructor(level: Level, seal: LoginSeal) {
    this.#level = level;
    this.#seal = seal;
  }

  async get(key: string): Promise<MetaValue | undefined> {
    const bytes = await this.#level.get(metaKey(key));
    return bytes && decodeMeta(bytes, this.#seal);
  }

  async all(): Promise<Map<string, MetaValue>> {
    const values = new Map<string, MetaValue>();
    for await (const page of this.#level.pages(tableRange(TABLE.meta))) {
      for (const [key, value] of page) values.set(keyText(key), decodeMeta(value, this.#seal));
    }
    return values;
  }
}

export function metaKey(key: string): Uint8Array {
  return textKey(TABLE.meta, key);
}

export function encodeMeta(value: MetaValue, seal: Sealing): Uint8Array {
  return metaValueCodec.encode(typeof value === 'number' ? { number: value } : { text: seal.seal(value) });
}

function decodeMeta(bytes: Uint8Array, seal: LoginSeal): MetaValue {
  const { number, text } = metaValueCodec.decode(bytes);
  return number ?? seal.open(text ?? '');
}

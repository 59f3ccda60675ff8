// What is known to be damaged of a Broker's store: health checks and `#do-stats` tell it until it is whole again.
import { StorageError } from '../../../protocols/errors.js';
import { isIndexFailure } from './index-repair.js';

const DAMAGED = / is damaged: /;
const OBJECT = / is damaged: object (\d+) /;

/** What {@link StoreDamage} looks at again. */
export interface StoreDamageContext {
  /** Reads an object; throws a StorageError as long as it is damaged. */
  readonly read: (oid: number) => Promise<unknown>;
  /** Receives a sentence about each damage that is no more. */
  readonly report: (sentence: string) => void;
}

export class StoreDamage {
  readonly #context: StoreDamageContext;
  /** Sentences by the file, or by the object, that they are about. */
  readonly #found = new Map<string, string>();
  #looking: Promise<void> | undefined;

  constructor(context: StoreDamageContext) {
    this.#context = context;
  }

  /**
   * A sentence about the first damage that was found; undefined if there is no damage. Damaged objects are read again
   * after each question, for the next one: a collection may have replaced them.
   */
  get sentence(): string | undefined {
    const [first] = this.#found.values();
    if (first !== undefined) void this.look();
    return first;
  }

  /** @param subject what the sentence is about */
  note(sentence: string, subject = sentence): void {
    if (!this.#found.has(subject)) this.#found.set(subject, sentence);
  }

  /** A file is as it was. */
  forget(subject: string): void {
    this.#found.delete(subject);
  }

  /** The store was compared and opened: what was said of its files before is not about it. */
  opened(): void {
    this.#found.clear();
  }

  /** Notes why a query or a transfer failed, if the store is the reason. */
  noteFailure(error: unknown): void {
    if (isIndexFailure(error) || !(error instanceof StorageError)) return;
    if (DAMAGED.test(error.message)) this.note(error.message, OBJECT.exec(error.message)?.[1]);
  }

  /** Reads the damaged objects again. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    for (const subject of this.#found.keys()) {
      if (!/^\d+$/.test(subject)) continue;
      try {
        await this.#context.read(Number(subject));
      } catch {
        continue;
      }
      this.#found.delete(subject);
      this.#context.report(`object ${subject} of the store is whole again, or was replaced`);
    }
  }
}

import { redactLogins } from '../../../protocols/visible-text.js';
import { type DocumentEvent, documentChannel } from '../../crawler/events.js';
import { printable } from '../output/printable.js';

/** Reasons that are told apart. */
const MAX_REASONS = 100;
/** Reasons that are printed. */
const SHOWN = 3;

/** Collects why documents failed, for the end of a run. It subscribes to the Gatherer's diagnostics channel. */
export class FailureNotes implements Disposable {
  readonly #reasons = new Map<string, { count: number; readonly first: string }>();

  constructor() {
    documentChannel.subscribe(this.#onDocument);
  }

  /**
   * The most frequent reasons, one line each, and where the others are; nothing if no document failed.
   *
   * @param log the path of the log of errors
   */
  text(log: string): string {
    const reasons = [...this.#reasons].sort(([, a], [, b]) => b.count - a.count);
    if (reasons.length === 0) return '';
    const shown = reasons
      .slice(0, SHOWN)
      .map(([reason, { count, first }]) =>
        count === 1 ? `${first}: ${reason}` : `${reason}: ${count} documents, the first is ${first}`,
      );
    return [...shown, `all failures: ${log}`].map((line) => `  ${printable(redactLogins(line))}\n`).join('');
  }

  [Symbol.dispose](): void {
    documentChannel.unsubscribe(this.#onDocument);
  }

  readonly #onDocument = (message: unknown): void => {
    const { disposition, reason, url } = message as DocumentEvent;
    if (disposition !== 'failed') return;
    const known = this.#reasons.get(reason);
    if (known !== undefined) known.count++;
    else if (this.#reasons.size < MAX_REASONS) this.#reasons.set(reason, { count: 1, first: url });
  };
}

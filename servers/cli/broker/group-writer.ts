// Writes the changes of a bulk transfer as the three groups of BT-15.
import type { BulkReceived } from '../../../clients/bulk/index.js';
import { CHANGE_KINDS, type ChangeKind, groupClose, groupOpen } from '../../../protocols/bulk/index.js';
import { encodeSoif, rewriteLarge, type SoifBytes, urlProblem } from '../../../protocols/soif/index.js';

/** Called for an object that cannot be written (SOIF-2.9), with a sentence that names it. */
export type LeftOut = (reason: string) => void;

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
export class GroupWriter {
  /** Index in CHANGE_KINDS of the open group; -1 before the first. */
  #open = -1;
  readonly #onLeftOut: LeftOut;

  constructor(onLeftOut: LeftOut) {
    this.#onLeftOut = onLeftOut;
  }

  object({ change, object, bytes, exact, large, outline }: BulkReceived): SoifBytes[] {
    const problem = urlProblem(object.urlBytes, object.type);
    if (problem !== undefined) {
      this.#onLeftOut(`${change}: ${problem} (SOIF-2.9)`);
      return [];
    }
    // An object with a tolerated fault is written in the exact layout (SOIF-3.1).
    if (large !== undefined && outline !== undefined)
      return [...this.#enter(change), exact ? large : rewriteLarge(large, outline)];
    return [...this.#enter(change), exact ? bytes : encodeSoif(object)];
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

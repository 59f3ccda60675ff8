// The table of an object for a strict reader. The reader is a loop over bytes, which looks nothing up; a test
// interprets the table beside it.
import { type StateTable, to } from '../../../protocols/state-machine.js';

type ObjectState = 'object' | 'URL' | 'attribute' | 'size' | 'value' | 'after value' | 'complete';
type ObjectStep = 'head' | 'url' | 'end' | 'name' | 'number' | 'zero' | 'bytes' | 'lf';

/** Type, URL and name are those of the grammar. */
export const OBJECT_STATES: StateTable<ObjectState, ObjectStep> = {
  object: { head: to('URL', '`@` *type* SP `{` SP', 'type') },
  URL: { url: to('attribute', '*URL* LF', 'URL') },
  attribute: {
    name: to('size', '*name* `{`', 'name'),
    end: to('complete', '`}` LF', 'the object'),
  },
  size: {
    number: to('value', 'a number above 0 without leading zeros, `}` `:` HT', 'size'),
    zero: to('after value', '`0` `}` `:` HT', 'an empty value'),
  },
  value: { bytes: to('after value', '*size* bytes', 'the value') },
  'after value': { lf: to('attribute', 'LF', 'the attribute') },
  complete: {},
};

/** The inputs as patterns over characters from 00 to FF. */
const PATTERNS: Readonly<Record<Exclude<ObjectStep, 'bytes'>, RegExp>> = {
  head: /@[^\t-\r {\xff]+ \{ /y,
  url: /[^\t-\r {}\xff][^\t-\r \xff]*\n/y,
  end: /\}\n/y,
  name: /[^\t-\r {}]+\{/y,
  number: /([1-9][0-9]*)\}:\t/y,
  zero: /0\}:\t/y,
  lf: /\n/y,
};

/** Reads bytes, one character each, by the table. @returns whether they are exactly one object */
export function isObject(bytes: string): boolean {
  let state: ObjectState = 'object';
  let at = 0;
  let size = 0;
  for (;;) {
    if (state === 'complete') return at === bytes.length;
    const row: StateTable<ObjectState, ObjectStep>[ObjectState] = OBJECT_STATES[state];
    let next: ObjectState | undefined;
    for (const [step, transition] of Object.entries(row) as [ObjectStep, { readonly next: ObjectState }][]) {
      if (step === 'bytes') {
        if (at + size > bytes.length) continue;
        at += size;
      } else {
        const pattern = PATTERNS[step];
        pattern.lastIndex = at;
        const found = pattern.exec(bytes);
        if (found === null) continue;
        at += found[0].length;
        size = Number(found[1]);
      }
      next = transition.next;
      break;
    }
    if (next === undefined) return false;
    state = next;
  }
}

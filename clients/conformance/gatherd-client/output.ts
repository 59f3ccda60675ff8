// Reads the output of a client and compares its objects with those that were sent.
import { createHash } from 'node:crypto';
import { SectionDecoder, type SectionItem, type SoifObject } from '../../../protocols/soif/index.js';
import { Mismatch } from '../case.js';
import { printable } from '../printable.js';
import { type Content, isDescription, type Section, type SectionObject, type WireObject } from './objects.js';

/** Largest output of a client, in bytes; the largest object of a script has 10 MiB. */
const MAX_OUTPUT_BYTES = 128 << 20;
const MAX_OBJECTS = 1_000;
/** Bytes of a value that are shown. */
const SHOWN = 60;

/**
 * One object in the client's output; its values are {@link fingerprint}s, so that large ones cost no memory.
 */
interface FoundObject {
  readonly section: Section;
  readonly type: string;
  readonly url: string;
  /** By name in lower case (SOIF-2.11). */
  readonly values: ReadonlyMap<string, string>;
}

/** Length, beginning and digest of a value; equal for equal values only. */
function fingerprint(value: Uint8Array): string {
  const digest = createHash('sha256').update(value).digest('hex').slice(0, 16);
  return `${value.length} bytes "${printable(value.subarray(0, SHOWN), SHOWN)}" ${digest}`;
}

/** Reads a client's output: SOIF objects with or without wrappers. */
export class OutputReader {
  readonly #decoder = new SectionDecoder();
  readonly #objects: FoundObject[] = [];
  #bytes = 0;
  #wrapped = false;
  #problem: string | undefined;

  /** @throws Mismatch if the output is larger than any script. */
  push(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > MAX_OUTPUT_BYTES || this.#objects.length > MAX_OBJECTS) {
      throw new Mismatch('the client writes more than it received', {
        expected: `at most ${MAX_OUTPUT_BYTES} bytes and ${MAX_OBJECTS} objects`,
        received: `${this.#bytes} bytes, ${this.#objects.length} objects`,
      });
    }
    // A copy: the decoder returns views of the piece, and the pipe reuses its memory.
    this.#take(this.#decoder.push(piece));
  }

  /** Ends the output. */
  end(): void {
    this.#take(this.#decoder.end());
  }

  #take(items: readonly SectionItem[]): void {
    for (const item of items) {
      if (item.kind === 'section') this.#wrapped = true;
      else if (item.kind === 'warning') {
        this.#problem ??= `${item.message} (${item.rule}, offset ${item.offset})`;
      } else if (item.kind === 'object') this.#objects.push(foundObject(item.section, item.object));
    }
  }

  /**
   * Compares the output with what the server sent. The order does not count, because no rule defines one.
   * Sections do not count if the client writes none; then it may also leave out `@DELETE` and `@REFRESH`
   * objects. A description that was not part of the update is left aside: the client may request it as well.
   * @throws Mismatch
   */
  compare(content: Content): void {
    const all = content.objects.map(expectedObject);
    const objects = all.some(isDescription)
      ? this.#objects
      : this.#objects.filter((object) => !isDescription(object));
    const acceptable = this.#wrapped
      ? [summary(all, true)]
      : [
          summary(all, false),
          summary(
            all.filter(({ section }) => section === 'update'),
            false,
          ),
        ];
    const received = summary(objects, this.#wrapped);
    if (!acceptable.includes(received)) {
      const { problem, expected, received: actual } = this.#difference(all, objects);
      throw new Mismatch(problem, { expected, received: actual });
    }
    if (this.#problem !== undefined) {
      throw new Mismatch('the output is not SOIF', {
        expected: 'SOIF',
        received: this.#problem,
      });
    }
  }

  /** Describes the first difference. */
  #difference(
    all: readonly FoundObject[],
    found: readonly FoundObject[],
  ): { problem: string; expected: string; received: string } {
    const broken = this.#problem === undefined ? '' : `; also: ${this.#problem}`;
    const remaining = [...found];
    for (const object of all) {
      const at = remaining.findIndex((other) => other.url === object.url && other.type === object.type);
      const other = at < 0 ? undefined : remaining.splice(at, 1)[0];
      const expected = describe(object, this.#wrapped);
      if (other === undefined) {
        const received = `${found.length} objects in ${this.#bytes} bytes of output${broken}`;
        return { problem: 'an object is missing in the output', expected, received };
      }
      const received = describe(other, this.#wrapped);
      if (expected !== received)
        return {
          problem: 'an object differs from the one that was sent',
          expected,
          received: received + broken,
        };
    }
    const [surplus] = remaining;
    const received = surplus === undefined ? broken : describe(surplus, this.#wrapped) + broken;
    return {
      problem: 'an object is in the output that was never sent',
      expected: `${all.length} objects`,
      received,
    };
  }
}

function foundObject(section: Section, object: SoifObject): FoundObject {
  const values = new Map<string, string>();
  for (const { name, value } of object) values.set(name.toLowerCase(), fingerprint(value));
  return { section, type: object.type, url: Buffer.from(object.urlBytes).toString('latin1'), values };
}

function expectedObject({ section, object }: SectionObject): FoundObject {
  const { type, url, attributes }: WireObject = object;
  const values = new Map(attributes.map(([name, value]) => [name.toLowerCase(), fingerprint(value)]));
  return { section, type, url, values };
}

const EMPTY = fingerprint(new Uint8Array(0));

/** Describes an object without its empty attributes, which an encoder may leave out (SOIF-3.2). */
function describe({ section, type, url, values }: FoundObject, withSection: boolean): string {
  const pairs = [...values]
    .filter(([, value]) => value !== EMPTY)
    .map(([name, value]) => `${name}: ${value}`);
  const where = withSection ? `@${section.toUpperCase()} ` : '';
  return [`${where}@${type} { ${url} }`, ...pairs.sort()].join('; ');
}

function summary(objects: readonly FoundObject[], withSections: boolean): string {
  return objects
    .map((object) => describe(object, withSections))
    .sort()
    .join('\n');
}

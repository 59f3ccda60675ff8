import { createHash } from 'node:crypto';
import { SectionDecoder, type SectionItem, type SoifObject } from '../../../protocols/soif/index.js';
import { Mismatch } from '../case.js';
import { printable } from '../printable.js';
import type { Content, PlacedObject, Section, WireObject } from './objects.js';

/** Maximum number of bytes of a client's output: the largest object of a script is 10 MiB. */
const MAX_OUTPUT_BYTES = 128 << 20;
const MAX_OBJECTS = 1_000;
/** Bytes of a value that are shown. */
const SHOWN = 60;

/** One object in the client's output; its values are {@link fingerprint}s, so that large ones cost no memory. */
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
      throw new Mismatch('the client puts out more than it received', {
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
      } else if (item.kind === 'object') this.#objects.push(found(item.section, item.object));
    }
  }

  /**
   * Compares the output with what the server sent. The order does not count, because no rule defines one. Sections do not
   * count if the client writes none; then it may also leave out `@DELETE` and `@REFRESH` objects.
   * @throws Mismatch
   */
  compare(content: Content): void {
    const all = content.objects.map(expected);
    const acceptable = this.#wrapped
      ? [summary(all, true)]
      : [
          summary(all, false),
          summary(
            all.filter(({ section }) => section === 'update'),
            false,
          ),
        ];
    const received = summary(this.#objects, this.#wrapped);
    if (!acceptable.includes(received)) {
      const { problem, want, got } = this.#difference(all);
      throw new Mismatch(problem, { expected: want, received: got });
    }
    if (this.#problem !== undefined) {
      throw new Mismatch('what the client puts out is not SOIF', {
        expected: 'SOIF',
        received: this.#problem,
      });
    }
  }

  /** Where the first difference is. */
  #difference(all: readonly FoundObject[]): { problem: string; want: string; got: string } {
    const broken = this.#problem === undefined ? '' : `; besides: ${this.#problem}`;
    const remaining = [...this.#objects];
    for (const object of all) {
      const at = remaining.findIndex((other) => other.url === object.url && other.type === object.type);
      const other = at < 0 ? undefined : remaining.splice(at, 1)[0];
      const want = describe(object, this.#wrapped);
      if (other === undefined) {
        const got = `${this.#objects.length} objects in ${this.#bytes} bytes of output${broken}`;
        return { problem: 'an object is missing in the output', want, got };
      }
      const got = describe(other, this.#wrapped);
      if (want !== got) return { problem: 'an object has arrived changed', want, got: got + broken };
    }
    const [surplus] = remaining;
    const got = surplus === undefined ? broken : describe(surplus, this.#wrapped) + broken;
    return { problem: 'an object is in the output that was never sent', want: `${all.length} objects`, got };
  }
}

function found(section: Section, object: SoifObject): FoundObject {
  const values = new Map<string, string>();
  for (const { name, value } of object) values.set(name.toLowerCase(), fingerprint(value));
  return { section, type: object.type, url: Buffer.from(object.urlBytes).toString('latin1'), values };
}

function expected({ section, object }: PlacedObject): FoundObject {
  const { type, url, attributes }: WireObject = object;
  const values = new Map(attributes.map(([name, value]) => [name.toLowerCase(), fingerprint(value)]));
  return { section, type, url, values };
}

const EMPTY = fingerprint(new Uint8Array(0));

/** Without empty attributes, which an encoder may leave out (SOIF-3.2). */
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

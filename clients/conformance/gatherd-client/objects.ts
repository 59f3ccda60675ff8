// Builds the SOIF objects and update streams that the scripted server sends.
import { bytes } from '../printable.js';

/** One object of a script: its bytes, and the values that a client must read from them. */
export interface WireObject {
  readonly type: string;
  readonly url: string;
  readonly attributes: readonly (readonly [name: string, value: Buffer])[];
  /** The object in the layout of SOIF-2.2. */
  readonly bytes: Buffer;
}

const UPDATE_TIME = '1735689600';

/** The attributes that Brokers require (SOIF-6.5), so that no client refuses an object without them. */
const BOOKKEEPING: readonly (readonly [string, string])[] = [
  ['Gatherer-Name', 'Conformance'],
  ['Gatherer-Host', 'gatherer.example.org'],
  ['Gatherer-Version', '1.8'],
  ['Update-Time', UPDATE_TIME],
];

/**
 * Builds an object without `protocols/soif`, because the expected bytes must not come from code that the client
 * under test may use.
 */
export function wireObject(
  url: string,
  attributes: readonly (readonly [name: string, value: string | Buffer])[],
  type = 'FILE',
): WireObject {
  const all = [...BOOKKEEPING, ...attributes].map(
    ([name, value]) => [name, typeof value === 'string' ? bytes(value) : value] as const,
  );
  const lines = all.flatMap(([name, value]) => [bytes(`${name}{${value.length}}:\t`), value, bytes('\n')]);
  return {
    type,
    url,
    attributes: all,
    bytes: Buffer.concat([bytes(`@${type} { ${url}\n`), ...lines, bytes('}\n')]),
  };
}

/** An object without attributes, as in `@DELETE` (SOIF-8.4). */
export function emptyObject(url: string): WireObject {
  return { type: 'FILE', url, attributes: [], bytes: bytes(`@FILE { ${url}\n}\n`) };
}

/** The section of an object; `update` outside of all sections (SOIF-8.9). */
export type Section = 'delete' | 'refresh' | 'update';

export interface SectionObject {
  readonly section: Section;
  readonly object: WireObject;
}

/** The answer to SEND-UPDATE: the stream, and its objects. */
export interface Content {
  readonly stream: Buffer;
  readonly objects: readonly SectionObject[];
}

/** The wrapped stream of SOIF-8.8 around complete objects. */
export function updates(...objects: readonly WireObject[]): Content {
  return sections({ update: objects });
}

/** The wrapped stream of SOIF-8.8. */
export function sections(groups: {
  readonly delete?: readonly WireObject[];
  readonly refresh?: readonly WireObject[];
  readonly update?: readonly WireObject[];
}): Content {
  return streamOf([
    '@DELETE {\n',
    ...inSection('delete', groups.delete ?? []),
    '}\n@REFRESH {\n',
    ...inSection('refresh', groups.refresh ?? []),
    '}\n@UPDATE {\n',
    ...inSection('update', groups.update ?? []),
    '}\n',
  ]);
}

/** Puts objects into a section, for {@link streamOf}. */
export function inSection(section: Section, objects: readonly WireObject[]): SectionObject[] {
  return objects.map((object) => ({ section, object }));
}

/** Builds a stream in any other layout from wrappers as text and from objects. */
export function streamOf(parts: readonly (string | SectionObject)[]): Content {
  return {
    stream: Buffer.concat(parts.map((part) => (typeof part === 'string' ? bytes(part) : part.object.bytes))),
    objects: parts.filter((part) => typeof part !== 'string'),
  };
}

/** Two ordinary objects. */
export const FIRST = wireObject('http://gatherer.example.org/first.html', [
  ['Title', 'The first document\n'],
  ['Description', 'one line'],
]);
export const SECOND = wireObject('ftp://gatherer.example.org/pub/%7eann/second.txt', [
  ['Type', 'Text'],
  ['Keywords', 'harvest\ngatherer\nbroker\n'],
]);
export const PLAIN = updates(FIRST, SECOND);

/** The type of a Gatherer's description (GATHERD-8.3). */
const DESCRIPTION_TYPE = 'GATHERER';

/** The description that the server sends for INFO (GATHERD-8). */
export const DESCRIPTION = wireObject(
  '-',
  [
    ['Number-Of-Objects', '2'],
    ['Attributes', 'title\ndescription\n600 - no end\n'],
  ],
  DESCRIPTION_TYPE,
);

/** Whether an object is a description. */
export function isDescription({ type, url }: { readonly type: string; readonly url: string }): boolean {
  return type === DESCRIPTION_TYPE && url === '-';
}

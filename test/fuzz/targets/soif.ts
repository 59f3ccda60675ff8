// SOIF: streams in both modes, sections, attribute lists, single objects, annotations, and what is written
// again.
import {
  AnnotationDecoder,
  arrangeAttributes,
  decodeAttributes,
  decodeSoif,
  encodeAttributes,
  encodeSoif,
  foldMultiValues,
  hasExpired,
  identityOf,
  mergeSoif,
  problemOf,
  SoifDecoder,
  type SoifDecoderOptions,
  sortAttributes,
  timesOf,
  truncateKeywords,
  urlProblem,
  withoutBinary,
} from '../../../protocols/soif/index.js';
import { itemLines, sectionLines } from '../../protocols/soif/item-lines.js';
import { soifSections as sectionStream, soifStream } from '../generators/soif.js';
import { allowed, assert, type FuzzTarget, randomOf, sameInPieces, shown } from '../target.js';

/** Limits that depend on the input, so that they are reached. */
function limitsOf(input: Uint8Array): SoifDecoderOptions {
  const random = randomOf(input);
  if (random.once(2)) return {};
  return {
    dialect: random.pick(['harvest', 'starts', 'rdm']),
    maxObjectBytes: random.pick([40, 1000]),
    maxNameBytes: random.pick([3, 100]),
    maxAttributes: random.pick([1, 2, 1000]),
    maxUrlBytes: random.pick([5, 100]),
  };
}

export const soifStrict: FuzzTarget = {
  corpus: ['soif'],
  generate: soifStream,
  run: (input) => {
    sameInPieces(input, (pieces) => itemLines(pieces, { ...limitsOf(input), mode: 'strict' }));
  },
};

export const soifLenient: FuzzTarget = {
  corpus: ['soif'],
  generate: soifStream,
  run: (input) => {
    sameInPieces(input, (pieces) => itemLines(pieces, { ...limitsOf(input), mode: 'lenient' }));
  },
};

export const soifSections: FuzzTarget = {
  corpus: ['soif'],
  generate: sectionStream,
  seeds: ['@DELETE {\n}\n@REFRESH {\n}\n@UPDATE {\n@FILE { u\na{1}:\tx\n}\n}\n499 - Sent\nrest'],
  run: (input) => {
    const random = randomOf(input);
    const mode = random.pick(['strict', 'lenient'] as const);
    const options = { ...limitsOf(input), mode, endLine: random.once(2) };
    sameInPieces(input, (pieces) => sectionLines(pieces, options));
  },
};

/** What is read can be written, and the strict reader reads it back (SOIF-3.1). */
/** Objects of an input that are converted; all are decoded. */
const MAX_OBJECTS = 2000;

export const soifObjects: FuzzTarget = {
  corpus: ['soif'],
  generate: soifStream,
  run: (input) => {
    const decoder = new SoifDecoder();
    let objects = 0;
    for (const item of [...decoder.push(input), ...decoder.end()]) {
      // Each object costs a dozen conversions: those of a long input would take the time that a hang takes.
      if (item.kind !== 'object' || ++objects > MAX_OBJECTS) continue;
      const { object } = item;
      if (urlProblem(object.urlBytes, object.type) !== undefined) {
        assert(
          allowed(() => encodeSoif(object)) === undefined,
          'SOIF-2.9: a URL that cannot be read is refused',
        );
        continue;
      }
      const wire = encodeSoif(object);
      // SOIF-4.4: strict mode refuses 0xFF in a URL.
      const again = decodeSoif(wire, { mode: object.urlBytes.includes(0xff) ? 'lenient' : 'strict' });
      assert(again.url === object.url, 'the URL keeps its bytes');
      assert(Buffer.compare(encodeSoif(again), wire) === 0, 'the second encoding equals the first');
      const received = input.subarray(item.offset, item.offset + item.length);
      const isStrict = allowed(() => decodeSoif(received, { mode: 'strict' })) !== undefined;
      assert(isStrict === item.exact, `exact is ${item.exact}`);
      identityOf(object);
      hasExpired(timesOf(object), 1_000_000_000);
      problemOf(object);
      for (const made of [
        withoutBinary(object),
        truncateKeywords(object, 20),
        mergeSoif(object, again),
        sortAttributes(object),
        arrangeAttributes(object),
        foldMultiValues(object),
      ]) {
        encodeSoif(made);
      }
    }
  },
};

export const soifAttributes: FuzzTarget = {
  seeds: ['Title{3}:\tone\nb{0}:\t\n'],
  generate: (random) => soifStream(random).subarray(random.below(20)),
  run: (input) => {
    for (const mode of ['strict', 'lenient'] as const) {
      const attributes = allowed(() => decodeAttributes(input, { mode }));
      if (attributes === undefined) continue;
      const wire = allowed(() => encodeAttributes(attributes.map(({ name, value }) => [name, value])));
      if (wire !== undefined) decodeAttributes(wire, { mode: 'strict' });
    }
  },
};

export const annotations: FuzzTarget = {
  corpus: ['annotation'],
  run: (input) => {
    sameInPieces(input, (pieces) => {
      const decoder = new AnnotationDecoder();
      const items = pieces.flatMap((piece) => [...decoder.push(piece)]);
      return [...items, ...decoder.end()].map(shown);
    });
  },
};

// Outlines of objects that are not in memory.
import fc from 'fast-check';
import t from 'tap';
import {
  decodeSoif,
  encodeSoif,
  isAttributeName,
  readOutline,
  readRange,
  rewriteLarge,
} from '../../../protocols/soif/index.js';
import { assertProperty } from '../../helpers/property.js';

const MIB = 1 << 20;

t.test('a value of 60 MB reserves no memory', async (t) => {
  const size = 60 * MIB;
  const start = Buffer.alloc(MIB, 'text ');
  const head = start.write(`@FILE { http://a.test/\nTitle{1}:\tx\nBody{${size}}:\t`);
  const piece = Buffer.alloc(MIB, 'text ');
  const end = Buffer.alloc(head + 3, 'text ');
  end.write('\n}\n', head);
  let most = 0;
  const before = process.memoryUsage().arrayBuffers;
  const source = {
    length: size + end.length,
    async *pieces() {
      yield start;
      for (let at = MIB; at < size; at += MIB) {
        yield piece;
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      }
      yield end;
    },
  };
  const { head: object, attributes, exact } = await readOutline(source, { whole: true });
  t.equal(object.url, 'http://a.test/');
  t.ok(exact);
  t.same(
    attributes.map(({ name, start, end }) => [name, end - start]),
    [
      ['Title', 1],
      ['Body', size],
    ],
  );
  t.ok(most < 16 * MIB, `${(most / MIB).toFixed(1)} MiB at most`);
});

/** Names that readers read, many of which an emitter must not write. */
const NAMES = fc.stringMatching(/^(?:[aB:_-]|_3A|é|<1>){1,3}$/);

t.test('SOIF-3.8: an object that is not in memory is written as one that is', async () => {
  const pairsOf = (names: fc.Arbitrary<string>) =>
    fc.array(fc.tuple(names, fc.constantFrom('', 'x', 'two\nlines\n')), { maxLength: 6 });
  await assertProperty(
    fc.asyncProperty(pairsOf(NAMES), pairsOf(NAMES.filter(isAttributeName)), async (attributes, changes) => {
      const lines = attributes.map(([name, value]) => `${name}{${value.length}}:\t${value}\n`);
      const bytes = Buffer.from(`@FILE { u\n${lines.join('')}}\n`);
      const object = decodeSoif(bytes);
      const source = {
        length: bytes.length,
        async *pieces(start = 0, end = bytes.length) {
          yield bytes.subarray(start, end);
        },
      };
      const rewritten = rewriteLarge(source, await readOutline(source), changes);
      const expected = encodeSoif(changes.length === 0 ? object : object.with(changes));
      return (await readRange(rewritten, 0, rewritten.length)).toString() === expected.toString();
    }),
  );
});

// Outlines of objects that are not in memory.
import t from 'tap';
import { readOutline } from '../../../protocols/soif/index.js';

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

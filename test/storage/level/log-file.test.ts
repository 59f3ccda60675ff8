import fc from 'fast-check';
import t from 'tap';
import { readLog } from '../../../storage/level/verify/log-file.js';
import { assertProperty } from '../../helpers/property.js';

t.test('a record that claims more than the log has, after others, is damage, not a wait for ever', (t) => {
  const log = Buffer.alloc(100, 0x61);
  log.writeUInt16LE(40_000, 4);
  const { problems, records, end } = readLog(log);
  t.same(records, []);
  t.same(problems, ['the record at offset 0 does not match its checksum']);
  t.ok(end <= log.length);
  t.end();
});

t.test('any bytes are read to their end', (t) => {
  const record = fc.record({
    length: fc.nat(0xffff),
    type: fc.integer({ min: 0, max: 5 }),
    content: fc.uint8Array({ maxLength: 700 }),
  });
  assertProperty(
    fc.property(fc.array(record, { maxLength: 60 }), (claims) => {
      const log = Buffer.concat(
        claims.flatMap(({ length, type, content }) => {
          const head = Buffer.alloc(7);
          head.writeUInt16LE(length, 4);
          head[6] = type;
          return [head, content];
        }),
      );
      return readLog(log).end <= log.length;
    }),
  );
  t.end();
});

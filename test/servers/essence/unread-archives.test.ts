// Archive types that are recognized but not unpacked: ARJ, LHa and Zoo.
import t from 'tap';
import { contentOf, contextOf, summarize } from './helpers.js';

/** The first header of an archive in each format. */
const ARJ = Buffer.from('60ea 2200 1e 0b 01 00 10 00 02 00'.replaceAll(' ', ''), 'hex');
const LHA = Buffer.concat([
  Buffer.from([0x19, 0x7a]),
  Buffer.from('-lh5-'),
  Buffer.from([9, 0, 0, 0, 7, 0, 0, 0]),
]);
const ZOO = Buffer.from('ZOO 2.10 Archive.\x1a\0\0\xdc\xa7\xc4\xfd\x22\0\0\0', 'latin1');
const ARCHIVES = [
  ['ARJ', ARJ, ['x.arj', 'X.ARJ']],
  ['LHa', LHA, ['x.lzh', 'x.lha', 'X.LZH']],
  ['Zoo', ZOO, ['x.zoo', 'X.Zoo']],
] as const;

t.test('E-6, E-16 ARJ, LHa and Zoo archives are recognized; a warning says: not read', async (t) => {
  for (const [type, bytes, names] of ARCHIVES) {
    for (const name of [...names, 'download']) {
      const output = await summarize(`ftp://a.test/${name}`, bytes);
      t.equal(output.type, type, `${name} is ${type}`);
      t.equal(output.rejected, false, `${type} is not on the stop list`);
      t.same(contentOf(output), { Title: `${name}\n` });
      t.equal(output.warnings.length, 1);
      t.match(output.warnings[0], new RegExp(`^${type} archives are not read, `));
      t.match(output.warnings[0], ` ${type}.unnest `);
    }
  }
});

t.test('E-40 a file that has only the name of such an archive produces a warning', async (t) => {
  for (const [type, bytes, [name]] of ARCHIVES) {
    for (const [body, description] of [
      ['plain words\n', 'text'],
      ['PK\x03\x04', 'Zip archive data'],
      ['', 'empty'],
      [bytes.subarray(0, 3), undefined],
    ] as const) {
      const { warnings } = await summarize(`ftp://a.test/${name}`, body);
      t.match(warnings[0], `its name says ${type} archive, but it is not one (${description ?? ''}`);
      t.equal(warnings.length, 1);
    }
  }
  // The end marker of an ARJ archive is an empty header and does not begin an archive.
  t.match(
    (await summarize('ftp://a.test/x.arj', Buffer.from('60ea0000', 'hex'))).warnings[0],
    'it is not one',
  );
});

t.test('E-44 zip files have the type PCCompressed', async (t) => {
  t.equal(contextOf().rules.byName.match('x.ZIP'), 'PCCompressed');
  t.equal((await summarize('ftp://a.test/x', 'PK\x03\x04')).type, 'PCCompressed');
});

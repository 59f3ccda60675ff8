// SOIF streams: right ones, and ones with the mistakes that readers must survive.
import type { Random } from '../../helpers/random.js';
import { bytesOf, latin1, wordsIn } from '../target.js';

const NAMES = 'Title Type Update-Time Time-to-Live MD5 Keywords url-references a Body'.split(' ');
const VALUES = wordsIn(
  '|x|}\n|\n@FILE { x\n|a{3}:\tabc\n|\r\n|499 - x\n|line one\nline two|12345|\0\xff\x80',
);

/** One object; in a tenth of the attributes the size is wrong. */
export function soifObject(random: Random): string {
  const url = random.pick(['http://a.example/', 'u', '-', 'http://b.example/x?y#z', '{', '']);
  const attributes = random.list(5, () => {
    const name = random.pick(NAMES);
    const value = random.once(5) ? latin1(random.bytes(random.below(30))) : random.pick(VALUES);
    const size = random.once(10) ? value.length + random.between(-2, 2) : value.length;
    const colon = random.once(20) ? ': ' : ':\t';
    return `${name}{${size}}${colon}${value}${random.once(15) ? '' : '\n'}`;
  });
  const type = random.pick(['FILE', 'HTML', 'GATHERER', 'UPDATE', 'x']);
  return `@${type} { ${url}\n${attributes.join('')}}${random.once(15) ? '' : '\n'}`;
}

export function soifStream(random: Random): Uint8Array {
  const objects = random.list(4, () => soifObject(random));
  if (random.once(5)) objects.push(random.pick(['499 - Sent 1 object\n', '@', '\n', 'text\n', '@FILE {']));
  return bytesOf(objects.join(random.once(6) ? random.pick(['\n', '\r\n', ' ', 'x\n']) : ''));
}

/** Sections of an update, as gatherd and the bulk interface send them. */
export function soifSections(random: Random): Uint8Array {
  const sections = ['DELETE', 'REFRESH', 'UPDATE'].map(
    (name) =>
      `@${name} {${random.once(10) ? ' x' : ''}\n${random.list(2, () => soifObject(random)).join('')}}\n`,
  );
  if (random.once(6)) sections.splice(random.below(3), 1);
  return bytesOf(sections.join(random.once(3) ? '\n' : ''));
}

// The character set of texts that do not declare it.
import fc from 'fast-check';
import t from 'tap';
import { decodeBytes } from '../../../../servers/essence/charset/decode.js';
import { assertProperty } from '../../../helpers/property.js';
import { decodePlain, encodeEightBit } from './encode.js';
import { TEXTS } from './texts.js';

/** A page of English markup around a text. */
function page(text: string): string {
  const links = Array.from(
    { length: 200 },
    (_, i) => `<li class="item"><a href="/archive/${i}.html">Download file ${i}</a></li>`,
  );
  return `<html><body bgcolor="white"><ul>\n${links.join('\n')}\n</ul><p>${text}</p></body></html>`;
}

for (const [language, charsets, text] of TEXTS) {
  t.test(`E-77 ${language} without a declaration, alone and in Latin markup: ${charsets}`, async (t) => {
    for (const charset of charsets.split(' ')) {
      t.equal(decodePlain(encodeEightBit(text, charset)), text, charset);
      const markup = page(text);
      t.equal(decodeBytes(encodeEightBit(markup, charset), { html: true }), markup, `${charset} in a page`);
    }
  });
}

t.test('E-77 one or two words are enough, in capitals too', async (t) => {
  for (const charset of ['koi8-r', 'windows-1251', 'ibm866', 'iso-8859-5']) {
    for (const words of ['Новая папка', 'отчёт за январь', 'ДОКУМЕНТАЦИЯ ПРОГРАММЫ'])
      t.equal(decodePlain(encodeEightBit(words, charset)), words, `${charset} ${words}`);
  }
});

t.test('E-77 quotation marks of windows-1252 in English are no letters', async (t) => {
  const text = 'The \x93gatherer\x94 doesn\x92t wait \x96 it costs \x80 5.';
  t.equal(decodePlain(Buffer.from(text, 'latin1')), 'The “gatherer” doesn’t wait – it costs € 5.');
  t.equal(
    decodePlain(Buffer.from(text, 'latin1'), 'iso-8859-1'),
    'The “gatherer” doesn’t wait – it costs € 5.',
    'ISO-8859-1 is read as windows-1252, as the Encoding Standard demands',
  );
});

t.test('E-77 frames of DOS around a text, and a single damaged byte of UTF-8', async (t) => {
  const frame = `╔${'═'.repeat(40)}╗\n║ Сведения о программе и её установке      ║\n╚${'═'.repeat(40)}╝`;
  t.equal(decodePlain(encodeEightBit(frame, 'ibm866')), frame);
  const cut = Buffer.from('Сборщик читает документы и составляет их описания').subarray(0, -1);
  t.equal(decodePlain(cut), 'Сборщик читает документы и составляет их описани\ufffd', 'cut UTF-8');
});

t.test('E-77 any bytes are decoded, and the same way each time', async (t) => {
  assertProperty(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = decodePlain(bytes);
      return typeof text === 'string' && text === decodePlain(bytes);
    }),
  );
  t.end();
});

t.test('E-77 the window of the guess begins at the first byte that is not ASCII', async (t) => {
  const text = `${'Latin text before it. '.repeat(20_000)}Сборщик читает документы`;
  t.ok(decodePlain(encodeEightBit(text, 'koi8-r')).endsWith('Сборщик читает документы'));
});

t.test('E-77 words of any length fill the window of the guess', async (t) => {
  for (let length = 1; length < 60; length++) {
    const text = `${'a'.repeat(length)}é `.repeat(1 + Math.ceil(17_000 / length));
    t.equal(decodePlain(Buffer.from(text, 'latin1')).length, text.length, `${length} letters`);
  }
});

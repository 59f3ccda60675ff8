// The character set of texts that do not declare it.
import fc from 'fast-check';
import t from 'tap';
import { decodeBytes } from '../../../../servers/essence/charset/decode.js';
import { assertProperty } from '../../../helpers/property.js';
import { decodePlain, encodeEightBit } from './encode.js';

/** Texts of this project's own, with the character sets of eight bits in which their language was written. */
const TEXTS: readonly (readonly [language: string, charsets: string, text: string])[] = [
  [
    'Russian',
    'koi8-r windows-1251 ibm866 iso-8859-5 x-mac-cyrillic ibm855',
    'Сборщик обходит серверы, читает документы и составляет их описания. Брокер хранит описания и отвечает на вопросы.',
  ],
  [
    'Ukrainian',
    'koi8-u windows-1251 iso-8859-5',
    'Збирач обходить сервери, читає документи й складає їхні описи. Її відповіді надходять швидше, ніж очікується.',
  ],
  [
    'Bulgarian',
    'windows-1251 iso-8859-5 ibm866',
    'Събирачът обхожда сървърите, чете документите и съставя техните описания, които после се търсят.',
  ],
  [
    'Serbian',
    'windows-1251 iso-8859-5',
    'Сакупљач обилази сервере, чита документе и саставља њихове описе који се касније претражују.',
  ],
  [
    'Greek',
    'iso-8859-7 ibm737',
    'Ο συλλέκτης επισκέπτεται τους διακομιστές, διαβάζει τα έγγραφα και γράφει τις περιλήψεις τους.',
  ],
  [
    'Polish',
    'iso-8859-2 windows-1250 ibm852',
    'Zbieracz odwiedza serwery, czyta dokumenty i układa ich streszczenia, które później można znaleźć dzięki pytaniom.',
  ],
  [
    'Czech',
    'iso-8859-2 windows-1250 ibm852 x-mac-ce',
    'Sběrač prochází servery, čte dokumenty a píše jejich přehledy, které se potom dají snadno vyhledat žádostí.',
  ],
  [
    'Hungarian',
    'iso-8859-2 windows-1250',
    'A gyűjtő végigjárja a kiszolgálókat, elolvassa a dokumentumokat, és összefoglalókat készít a későbbi keresésekhez.',
  ],
  [
    'German',
    'iso-8859-1 windows-1252 macintosh ibm850',
    'Der Sammler besucht die Server, liest die Dokumente und schreibt Auszüge; später können Leser danach fragen, außer für gelöschte.',
  ],
  [
    'French',
    'iso-8859-1 windows-1252 macintosh ibm850',
    'Le collecteur visite les serveurs, lit les documents et rédige des résumés ; les lecteurs interrogent le courtier dès que c’est prêt.'.replace(
      '’',
      "'",
    ),
  ],
  [
    'Turkish',
    'windows-1254 ibm857',
    'Toplayıcı sunucuları dolaşır, belgeleri okur ve özetlerini yazar; aracı bu özetleri saklar ve soruları yanıtlar, değişiklikler işlenir.',
  ],
  [
    'Lithuanian',
    'windows-1257 iso-8859-13',
    'Rinkėjas aplanko serverius, skaito dokumentus ir rašo jų santraukas, kurių vėliau ieško žmonės iš įvairių šalių.',
  ],
  [
    'Hebrew',
    'windows-1255 iso-8859-8',
    'האוסף מבקר בשרתים, קורא את המסמכים וכותב את תקציריהם לחיפוש מאוחר יותר.',
  ],
  [
    'Arabic',
    'windows-1256 iso-8859-6',
    'يزور الجامع الخوادم ويقرأ المستندات ويكتب ملخصاتها ثم يجيب الوسيط عن الأسئلة.',
  ],
  ['Thai', 'windows-874', 'ตัวรวบรวมเยี่ยมชมเซิร์ฟเวอร์ อ่านเอกสาร และเขียนบทสรุปเพื่อการค้นหาในภายหลัง'],
];

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

// Character sets, the language of a text, and keywords.
import t from 'tap';
import { decodeBytes } from '../../../servers/essence/charset/decode.js';
import { generateKeywords } from '../../../servers/essence/keywords.js';
import { guessLanguage, languageOf } from '../../../servers/essence/language.js';
import { decodePlain } from './charset/encode.js';
import { latin1 } from './unnest-fixtures.js';

const RUSSIAN =
  'Сбор документов с серверов сети и создание кратких описаний для поиска. Программа читает файлы и записывает результаты.';
const JAPANESE =
  '文書を集めて要約を作り、検索できるようにします。サーバーはインターネットの文書を読みます。日本語の文字コードを調べる試験です。';
const CHINESE =
  '收集网络上的文件并建立摘要，以便用户进行搜索。服务器读取文件，然后把结果写入数据库。这是一个字符编码的测试。';
const KOREAN =
  '문서를 모아서 요약을 만들고 검색할 수 있게 합니다. 서버는 인터넷의 문서를 읽고 결과를 저장합니다.';

/** Texts that `iconv` encoded in legacy character sets, in base64. */
const ENCODED: readonly (readonly [charset: string, base64: string, text: string])[] = [
  [
    'KOI8-R',
    '88LP0iDEz8vVzcXO1M/XINMg08XS18XSz9cg08XUySDJINPP2sTBzsnFIMvSwdTLycggz9DJ08HOycogxMzRINDPydPLwS4g8NLP' +
      'x9LBzc3BIN7J1MHF1CDGwcrM2SDJINrB0MnT2dfBxdQg0sXa1czY1MHU2S4=',
    RUSSIAN,
  ],
  [
    'windows-1251',
    '0eHu8CDk7urz7OXt8u7iIPEg8eXw4uXw7uIg8eXy6CDoIPHu5+Tg7ejlIOrw4PLq6PUg7u/o8eDt6Okg5Ov/IO/u6PHq4C4gz/Du' +
      '4/Dg7OzgIPfo8uDl8iD04Onr+yDoIOfg7+jx++Lg5fIg8OXn8+v88uDy+y4=',
    RUSSIAN,
  ],
  [
    'EUC-JP',
    'yri98aTyvbik4aTGzdfM86Tyuu6k6qGiuKG696THpK2k66TopKaky6S3pN6kuaGjpbWhvKXQobykz6WkpfOlv6G8pc2lw6XIpM7K' +
      'uL3xpPLGyaTfpN6kuaGjxvzL3LjspM7KuLv6pbOhvKXJpPLEtKTZpOu77rizpMekuaGj',
    JAPANESE,
  ],
  [
    'Shift_JIS',
    'lbaPkYLwj1eC34LEl3aW8YLwjeyC6IFBjJ+N9YLFgquC6YLmgqSCyYK1gtyCt4FCg1SBW4NvgVuCzYNDg5ODXoFbg2yDYoNngsyV' +
      'to+RgvCTx4LdgtyCt4FCk/qWe4zqgsyVto6ag1KBW4NogvCSsoLXgumOjoyxgsWCt4FC',
    JAPANESE,
  ],
  [
    'ISO-2022-JP',
    'GyRCSjg9cSRyPTgkYSRGTVdMcyRyOm4kaiEiOCE6dyRHJC0kayRoJCYkSyQ3JF4kOSEjJTUhPCVQITwkTyUkJXMlPyE8JU0lQyVI' +
      'JE5KOD1xJHJGSSRfJF4kOSEjRnxLXDhsJE5KODt6JTMhPCVJJHJENCRZJGs7bjgzJEckOSEjGyhC',
    JAPANESE,
  ],
  [
    'GB18030',
    'ytW8r834wufJz7XEzsS8/rKivajBotWq0qqjrNLUsePTw7unvfjQ0MvRy/eho7f+zvHG97bByKHOxLz+o6zIu7rzsNG94bn70LTI' +
      '68r9vt2/4qGj1eLKx9K7uPbX1rf7seDC67XEsuLK1KGj',
    CHINESE,
  ],
  [
    'EUC-KR',
    'ua68rbimILjwvsa8rSC/5L7gwLsguLi16bDtILDLu/bH0iC89iDA1rDUIMfVtM+02S4gvK259rTCIMDOxc2z3cDHILmuvK24piDA' +
      '0LDtILDhsPq4piDA+sDlx9W0z7TZLg==',
    KOREAN,
  ],
];

for (const [charset, base64, text] of ENCODED) {
  t.test(`E-77 ${charset}: declared, in META, in an XML declaration, and detected`, async (t) => {
    const bytes = Buffer.from(base64, 'base64');
    t.equal(decodePlain(bytes, charset.toUpperCase()), text);
    const meta = `<meta http-equiv=content-type content="text/html; charset=${charset}">`;
    t.equal(decodeBytes(Buffer.concat([latin1(meta), bytes]), { html: true }), meta + text);
    const xml = `<?xml version="1.0" encoding='${charset}'?>`;
    t.equal(decodePlain(Buffer.concat([latin1(xml), bytes])), xml + text);
    t.equal(decodePlain(bytes), text, 'the character set is detected');
  });
}

t.test('E-77 precedence: byte order mark, declaration, META, UTF-8, detection', async (t) => {
  const utf8 = Buffer.from('Grüße');
  t.equal(decodePlain(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), utf8]), 'koi8-r'), 'Grüße');
  t.equal(decodePlain(Buffer.from([0xff, 0xfe, 0x41, 0x00, 0xfc, 0x00])), 'Aü');
  t.equal(decodePlain(Buffer.from([0xfe, 0xff, 0x00, 0x41, 0x00, 0xfc])), 'Aü');
  t.equal(decodePlain(latin1('Gr\xfc\xdfe'), 'iso-8859-1'), 'Grüße');
  t.equal(
    decodePlain(latin1('<meta charset=koi8-r>Gr\xfc\xdfe')),
    '<meta charset=koi8-r>Grüße',
    'META is ignored outside HTML',
  );
  t.equal(decodePlain(utf8), 'Grüße');
  t.equal(decodePlain(latin1('Gr\xfc\xdfe'), 'utf-8'), 'Grüße', 'a wrong declaration of UTF-8 is ignored');
  t.equal(decodePlain(latin1('a\x80b')), 'a€b', 'windows-1252 as the last fallback');
});

t.test('E-77 an unknown character set gives a warning; XML in UTF-16 needs no byte order mark', async (t) => {
  const warnings: string[] = [];
  const text = decodeBytes(latin1('plain'), {
    html: false,
    declared: 'x-none',
    warn: (message) => warnings.push(message),
  });
  t.same([text, warnings], ['plain', ['unknown character set x-none']]);
  const wide = Buffer.from('<?xml version="1.0" encoding="utf-16"?><a>ü</a>', 'utf16le');
  t.match(decodePlain(wide), /<a>ü<\/a>$/);
  t.match(decodePlain(Buffer.from(wide).swap16()), /<a>ü<\/a>$/);
  t.equal(
    decodePlain(Buffer.from('\x1b[1mbold\x1b[0m')),
    '\x1b[1mbold\x1b[0m',
    'other escape sequences are kept',
  );
});

t.test('E-141 the language of a text is guessed from its characters and words', async (t) => {
  t.equal(guessLanguage(RUSSIAN.repeat(2)), 'ru');
  t.equal(guessLanguage(JAPANESE), 'ja');
  t.equal(guessLanguage(CHINESE), 'zh');
  t.equal(guessLanguage(KOREAN), 'ko');
  const sentences: readonly (readonly [string, string])[] = [
    [
      'en',
      'The program gathers documents from the network and makes a summary of each, so that they can be found again.',
    ],
    [
      'de',
      'Das Programm sammelt Dokumente aus dem Netz und macht von jedem eine Zusammenfassung, damit man sie wieder findet.',
    ],
    [
      'fr',
      'Le programme rassemble des documents sur le réseau et fait un résumé de chacun, pour que les gens puissent les retrouver.',
    ],
    [
      'es',
      'El programa reúne los documentos de la red y hace un resumen de cada uno para que se puedan encontrar más tarde.',
    ],
    [
      'pt',
      'O programa reúne os documentos da rede e faz um resumo de cada um para que não se percam e possam ser encontrados.',
    ],
    [
      'nl',
      'Het programma verzamelt documenten van het net en maakt van elk een samenvatting, zodat ze weer te vinden zijn.',
    ],
    [
      'sv',
      'Programmet samlar dokument från nätet och gör en sammanfattning av varje, så att de kan hittas igen när det behövs.',
    ],
    [
      'pl',
      'Program zbiera dokumenty z sieci i robi streszczenie każdego z nich, żeby można je było znaleźć, jak tylko są potrzebne.',
    ],
    [
      'uk',
      'Програма збирає документи з мережі і робить короткий опис для того, щоб їх можна було знайти, якщо це буде треба.',
    ],
  ];
  for (const [language, sentence] of sentences) t.equal(guessLanguage(sentence), language, language);
  for (const undecided of [
    '',
    'install',
    '1234 5678 '.repeat(50),
    'int main void return zero char const static unsigned long double struct union extern',
  ]) {
    t.equal(guessLanguage(undecided), undefined, JSON.stringify(undecided.slice(0, 20)));
  }
});

t.test('E-106, E-109 keywords are folded, unique, sorted, phrases first, no function words', async (t) => {
  const keywords = generateKeywords(
    [
      ['Title', "The Zebra and the Apple, version 1.0-beta: O'Brien's"],
      ['Description', 'an APPLE a day'],
      ['Body', 'hidden'],
      ['URL-References', 'http://hidden.test/'],
      ['Language', 'hidden'],
      ['Partial-Text', 'hidden'],
    ],
    'Big Cats\nbig cats\nApple',
    8192,
  );
  t.equal(keywords, "Big Cats\nApple\n1.0-beta\nday\no'brien's\nversion\nzebra");
  t.equal(generateKeywords([['Partial-Text', 'sole and this']], '', 8192), 'sole');
  t.equal(generateKeywords([['Title', 'übel Äpfel']], '', 8192), 'äpfel\nübel');
});

t.test('E-108 keywords end at a line within the limit', async (t) => {
  t.equal(generateKeywords([['Title', 'aaaa bbbb cccc']], '', 12), 'aaaa\nbbbb');
  t.equal(generateKeywords([['Title', 'x'.repeat(65)]], '', 8192), '', 'a string too long for a word');
});

t.test('E-141 the language of an object is that of its running text', async (t) => {
  t.equal(languageOf([['Title', RUSSIAN]]), undefined);
  t.equal(
    languageOf([
      ['Title', CHINESE],
      ['Partial-Text', JAPANESE],
      ['Body', 'too short'],
    ]),
    'ja',
  );
});

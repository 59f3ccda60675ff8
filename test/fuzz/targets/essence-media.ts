// Essence: films, sound in containers, pictures with metadata, and the JSON-LD of pages.
import { ConfigError } from '../../../protocols/errors.js';
import { parseSelectorRules } from '../../../servers/essence/selectors/rules.js';
import {
  avi,
  chunk,
  element,
  item,
  itunes,
  matroska,
  mp4,
  png,
  quickTimeText,
  simpleTag,
  webp,
} from '../../servers/essence/fixtures/media-files.js';
import { type FuzzTarget, wordsIn } from '../target.js';
import { reader, textReader } from './essence.js';

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

export const essenceMp4 = reader('x.mp4', {
  seeds: [
    latin1(mp4('isom', itunes(item('\xa9nam', 'a'), item('desc', 'b')))),
    latin1(mp4('qt  ', quickTimeText('\xa9nam', 'a'))),
  ],
  tokens: wordsIn('moov|udta|meta|ilst|keys|data|mvhd|tkhd|trak|titl|\0\0\0\x08|\0\0\0\x01'),
  linear: true,
});

export const essenceMatroska = reader('x.mkv', {
  seeds: [latin1(matroska('webm', element(0x7373, simpleTag('TITLE', 'a'))))],
  tokens: [
    '\x18\x53\x80\x67',
    '\x12\x54\xc3\x67',
    '\x73\x73',
    '\x67\xc8',
    '\x45\xa3',
    '\x44\x87',
    '\x44\x61\x88',
    '\xff',
    '\x80',
  ],
  linear: true,
});

export const essenceAvi = reader('x.avi', {
  seeds: [latin1(avi(chunk('INAM', 'a'), chunk('IKEY', 'b')))],
  tokens: ['LIST', 'INFO', 'hdrl', 'movi', 'RIFF', '\xff\xff\xff\xff'],
  linear: true,
});

export const essencePngText = reader('x.png', {
  seeds: [
    latin1(png(['zTXt', 'Title', 'a'], ['iTXt', 'Author', 'b'], ['iTXt', 'Comment', 'long '.repeat(9)])),
  ],
});

export const essenceWebp = reader('x.webp', { seeds: [latin1(webp('a', 'b'))] });

export const essenceSvg = textReader(
  'x.svg',
  '<?xml version="1.0"?>|<svg width="1" viewBox="0 0 1 2">|</svg>|<title>|</title>|<desc>|</desc>|<text>|' +
    '</text>|<tspan>|<metadata>|</metadata>|<dc:title>|<dc:creator>|</dc:creator>|<g>|a|&lt;|<![CDATA[|]]>',
);

export const essenceJsonLd = textReader(
  'x.html',
  '<script type="application/ld+json">|</script>|{|}|[|]|,|:|"@type":"Article"|"@graph":|"@id":"a"|' +
    '"name":|"author":|"mainEntity":|"a &amp; b"|"WebPage"|1|null|' +
    '<meta property="og:title" content="a">|<nav>|<p>words in a paragraph',
);

/** selectors.cf: lines are read, or refused with the number of the line. */
export const essenceSelectors: FuzzTarget = {
  seeds: ['^http://a/\tP\tp.x\t(a)', '. !T h1 > b@href'],
  tokens: ['\t', ' ', '!', '@href', '(', ')', '[', '#', '\n', '.*', 'p > b'],
  linear: true,
  run: (input) => {
    try {
      parseSelectorRules(Buffer.from(input).toString('latin1'), 'selectors.cf');
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
    }
  },
};

import { latin } from '../../bytes.js';
import { decodeBytes } from '../../charset/decode.js';
import { namesByWord } from '../../word-tables.js';
import { oneLine } from '../extracted.js';

/** Maximum number of tags of one file. */
const MAX_TAGS = 200;
/** Maximum length of one value, in characters. */
const MAX_VALUE = 2000;
/** Texts of one file whose character set is guessed. A guess takes about 0.1 ms, however short the text is. */
const MAX_GUESSES = 200;

/**
 * Attributes by the names of tags, in capitals: Vorbis comments, RIFF INFO, AIFF chunks, MP4 items, QuickTime
 * keys, Matroska tags.
 */
const FIELDS: ReadonlyMap<string, string> = namesByWord({
  Title: 'TITLE INAM NAME ©NAM TITL',
  Author:
    'ARTIST PERFORMER COMPOSER AUTHOR DIRECTOR CREATOR IART AUTH ©ART AART ©AUT ©DIR ©WRT PERF LEAD_PERFORMER',
  'Series-Title': 'ALBUM IPRD ©ALB ALBM SHOW TVSH',
  Date: 'DATE YEAR ICRD ©DAY DATE_RELEASED DATE_RECORDED CREATIONDATE DATE_DIGITIZED YRRC',
  Keywords: 'GENRE KEYWORDS SUBJECT IGNR IKEY ISBJ ©GEN KEYW GNRE ©KEY KYWD',
  Description: 'DESCRIPTION COMMENT SYNOPSIS SUMMARY INFORMATION ICMT ANNO ©CMT ©DES ©INF DESC LDES DSCP',
  Copyright: 'COPYRIGHT ICOP ©CPY CPRT (C)',
  Publisher: 'PUBLISHER LABEL ORGANIZATION ©PUB',
  Language: 'LANGUAGE ILNG',
});

/** The known facts about a sound or a film. */
export class MediaFacts {
  readonly texts = new TagTexts();
  readonly fields: (readonly [name: string, value: string])[] = [];
  /** Format, as in `WAVE audio`; empty if it is unknown. */
  format = '';
  seconds = 0;
  /** Pixels of the picture; 0 without one. */
  width = 0;
  height = 0;

  /** Adds the value of a tag if there is an attribute for it; each value of an attribute once. */
  add(tag: string, value: string): void {
    const name = FIELDS.get(tag.toUpperCase());
    if (name !== undefined) this.addField(name, value);
  }

  /** Adds a value of an attribute, each once. */
  addField(name: string, written: string): void {
    const value = oneLine(written.slice(0, MAX_VALUE).replace(/\0+/g, ' '));
    if (value === '' || this.fields.length >= MAX_TAGS) return;
    if (!this.fields.some(([known, text]) => known === name && text === value))
      this.fields.push([name, value]);
  }

  /** Format, size of the picture and duration in words; empty if the format is unknown. */
  get summary(): string {
    if (this.format === '') return '';
    const size = this.width > 0 && this.height > 0 ? `, ${this.width} x ${this.height} pixels` : '';
    return `${this.format}${size}${this.hasDuration ? `, ${this.seconds.toFixed(1)} seconds` : ''}`;
  }

  /** False from ten years on: damaged files state durations of any size. */
  get hasDuration(): boolean {
    return this.seconds > 0 && this.seconds < 315_360_000;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });
const WESTERN = new TextDecoder('windows-1252');

/** Decodes the texts of one file that have no declared character set. */
export class TagTexts {
  #guesses = 0;

  /**
   * UTF-8 if it is valid, else by a guess that prefers windows-1252 (E-77); after too many guesses,
   * windows-1252.
   */
  decode(bytes: Uint8Array): string {
    const cut = bytes.subarray(0, MAX_VALUE * 3);
    try {
      return UTF8.decode(cut);
    } catch {
      if (this.#guesses++ >= MAX_GUESSES) return WESTERN.decode(cut);
      return decodeBytes(cut, { html: false, likely: ['windows-1252'] });
    }
  }
}

/** The four characters of a box, chunk or codec. */
export function fourCharacters(bytes: Uint8Array, offset: number): string {
  return latin(bytes, offset, offset + 4);
}

import { untilNul, viewOf } from '../../bytes.js';
import { fourCharacters, type MediaFacts } from './facts.js';

// ISO base media: MP4, M4A, MOV, 3GP. A file is a tree of boxes, each with a size and a type of four characters
// (ISO 14496-12, QuickTime).

/** Boxes that are read in all; further ones are ignored. */
const MAX_BOXES = 20_000;
const MAX_DEPTH = 12;
/** Names in a table of QuickTime metadata keys. */
const MAX_KEYS = 500;

/** Boxes that contain boxes. */
const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'udta', 'ilst', 'iprp', 'ipco', 'moof']);

/** Formats by major brand; others are films. */
const BRANDS: ReadonlyMap<string, string> = new Map([
  ['M4A ', 'MPEG-4 audio'],
  ['M4B ', 'MPEG-4 audio'],
  ['M4P ', 'MPEG-4 audio'],
  ['F4A ', 'MPEG-4 audio'],
  ['qt  ', 'QuickTime video'],
  ['3gp4', '3GPP video'],
  ['3gp5', '3GPP video'],
  ['3gp6', '3GPP video'],
  ['3g2a', '3GPP2 video'],
]);

/** Reads the tags, duration and size of the picture. @throws RangeError for a box that ends too early */
export function readIsoMedia(bytes: Uint8Array, facts: MediaFacts): void {
  facts.format = 'MPEG-4 video';
  new BoxReader(bytes, facts).read(0, bytes.length, '', 0);
}

class BoxReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #facts: MediaFacts;
  #boxes = 0;
  /** Names of QuickTime metadata; items refer to them by position. */
  #keys: string[] = [];

  constructor(bytes: Uint8Array, facts: MediaFacts) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#facts = facts;
  }

  /** Reads the boxes from `start` to `end` inside a box of type `parent`. */
  read(start: number, end: number, parent: string, depth: number): void {
    let offset = start;
    while (offset + 8 <= end && this.#boxes++ < MAX_BOXES) {
      let size = this.#view.getUint32(offset);
      const type = fourCharacters(this.#bytes, offset + 4);
      let content = offset + 8;
      if (size === 1 && offset + 16 <= end) {
        size = Number(this.#view.getBigUint64(offset + 8));
        content = offset + 16;
      } else if (size === 0) size = end - offset;
      if (size < content - offset) return;
      const next = Math.min(end, offset + size);
      if (depth < MAX_DEPTH) this.#box(type, content, next, parent, depth);
      offset += size;
    }
  }

  #box(type: string, start: number, end: number, parent: string, depth: number): void {
    if (parent === 'ilst') this.#item(type, start, end);
    else if (parent === 'udta' && (type.startsWith('\xa9') || THREE_GPP.has(type)))
      this.#userText(type, start, end);
    else if (CONTAINERS.has(type)) this.read(start, end, type, depth + 1);
    else if (type === 'meta') {
      // QuickTime has no version before the boxes.
      const first = fourCharacters(this.#bytes, start + 4);
      this.read(first === 'hdlr' ? start : start + 4, end, 'meta', depth + 1);
    } else this.#fact(type, start, end);
  }

  #fact(type: string, start: number, end: number): void {
    const view = this.#view;
    if (type === 'ftyp')
      this.#facts.format = BRANDS.get(fourCharacters(this.#bytes, start)) ?? this.#facts.format;
    else if (type === 'mvhd') {
      const long = view.getUint8(start) === 1;
      const scale = view.getUint32(start + (long ? 20 : 12));
      const duration = long ? Number(view.getBigUint64(start + 24)) : view.getUint32(start + 16);
      if (scale > 0 && duration !== 0xffffffff) this.#facts.seconds = duration / scale;
    }
    // The last two numbers, in 1/65536 pixels; 0 for sound.
    else if (type === 'tkhd') this.#size(view.getUint32(end - 8) >>> 16, view.getUint32(end - 4) >>> 16);
    else if (type === 'ispe') this.#size(view.getUint32(start + 4), view.getUint32(start + 8));
    else if (type === 'keys') this.#readKeys(start, end);
  }

  /** Keeps the largest size: of the tracks of a film, or of the parts of a picture. */
  #size(width: number, height: number): void {
    if (width * height <= this.#facts.width * this.#facts.height) return;
    this.#facts.width = width;
    this.#facts.height = height;
  }

  /** An item of `ilst`: boxes `data` with a type, a language and the value. */
  #item(type: string, start: number, end: number): void {
    const index = Buffer.from(type, 'latin1').readUInt32BE(0);
    const name = this.#keys[index - 1] ?? type;
    for (let offset = start; offset + 16 <= end && this.#boxes++ < MAX_BOXES; ) {
      const size = this.#view.getUint32(offset);
      if (size < 16) return;
      // 1 is UTF-8, 2 is UTF-16; other values are numbers and pictures.
      const kind = this.#view.getUint32(offset + 8) & 0xffffff;
      const value = this.#bytes.subarray(offset + 16, Math.min(end, offset + size));
      if (fourCharacters(this.#bytes, offset + 4) === 'data' && (kind === 1 || kind === 2)) {
        const text =
          kind === 1
            ? this.#facts.texts.decode(value)
            : new TextDecoder('utf-16be').decode(value.subarray(0, 8000));
        this.#facts.add(name, text);
      }
      offset += size;
    }
  }

  /** QuickTime: length, language, text. 3GPP: version, language, text. */
  #userText(type: string, start: number, end: number): void {
    const is3gpp = THREE_GPP.has(type);
    const from = is3gpp ? start + 6 : start + 4;
    const to = is3gpp ? end : Math.min(end, from + this.#view.getUint16(start));
    const value = this.#bytes.subarray(from, to);
    const isUtf16 = is3gpp && value[0] === 0xfe && value[1] === 0xff;
    const text = isUtf16
      ? new TextDecoder('utf-16be').decode(value.subarray(0, 8000))
      : this.#facts.texts.decode(value);
    // The year of a 3GPP file is a number.
    if (type !== 'yrrc') this.#facts.add(type, untilNul(text));
  }

  #readKeys(start: number, end: number): void {
    const count = Math.min(MAX_KEYS, this.#view.getUint32(start + 4));
    this.#keys = [];
    for (let offset = start + 8, i = 0; i < count && offset + 8 <= end; i++) {
      const size = this.#view.getUint32(offset);
      if (size < 8) return;
      const key = this.#facts.texts.decode(this.#bytes.subarray(offset + 8, Math.min(end, offset + size)));
      this.#keys.push(key.slice(key.lastIndexOf('.') + 1));
      offset += size;
    }
  }
}

/** Texts in `udta` of 3GPP files. */
const THREE_GPP = new Set(['titl', 'dscp', 'cprt', 'perf', 'auth', 'gnre', 'albm', 'kywd']);

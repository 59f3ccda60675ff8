import { untilNul, viewOf } from '../../bytes.js';
import type { MediaFacts } from './facts.js';

// Matroska and WebM: a tree of elements, each with an ID and a size of variable length (RFC 8794, RFC 9559).

/** Elements that are read in all; further ones are ignored. */
const MAX_ELEMENTS = 50_000;
const MAX_DEPTH = 8;

const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const TAG = 0x7373;
const SIMPLE_TAG = 0x67c8;
/**
 * Elements that contain elements: EBML, Segment, Info, Tracks, TrackEntry, Video, Tags, Tag, Targets,
 * SimpleTag.
 */
const CONTAINERS = new Set([
  0x1a45dfa3,
  SEGMENT,
  0x1549a966,
  0x1654ae6b,
  0xae,
  0xe0,
  0x1254c367,
  TAG,
  0x63c0,
  SIMPLE_TAG,
]);

/** Level of tags for a whole album or film; those of a track have 30. */
const ALBUM_LEVEL = 50;
/** Seconds from 1970 to 2001, where Matroska's time begins. */
const EPOCH = 978_307_200;

/** Reads the tags, duration and size of the picture. @throws RangeError for an element that ends too early */
export function readMatroska(bytes: Uint8Array, facts: MediaFacts): void {
  const reader = new ElementReader(bytes, facts);
  facts.format = 'Matroska video';
  try {
    reader.read(0, bytes.length, 0);
  } finally {
    reader.finish();
  }
}

class ElementReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #facts: MediaFacts;
  #elements = 0;
  /** Nanoseconds of a unit of the duration. */
  #scale = 1_000_000;
  #duration = 0;
  #hasVideo = false;
  #docType = 'matroska';
  #level = ALBUM_LEVEL;
  #tagName = '';
  readonly #tags: { readonly level: number; readonly name: string; readonly value: string }[] = [];

  constructor(bytes: Uint8Array, facts: MediaFacts) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#facts = facts;
  }

  read(start: number, end: number, depth: number): void {
    for (let offset = start; offset < end && this.#elements++ < MAX_ELEMENTS; ) {
      const id = this.#number(offset, 4, false);
      offset += id.length;
      const size = this.#number(offset, 8, true);
      offset += size.length;
      // A stream does not know the sizes of its segment and clusters. The head precedes the clusters.
      if (size.unknown && id.value === CLUSTER) return;
      const stop = size.unknown ? end : Math.min(end, offset + size.value);
      if (!CONTAINERS.has(id.value)) this.#element(id.value, offset, stop);
      else if (depth < MAX_DEPTH) {
        if (id.value === TAG) this.#level = ALBUM_LEVEL;
        if (id.value === SIMPLE_TAG) this.#tagName = '';
        this.read(offset, stop, depth + 1);
      }
      offset = size.unknown ? end : offset + size.value;
    }
  }

  /** Adds what depends on several elements. */
  finish(): void {
    const facts = this.#facts;
    facts.format = `${this.#docType === 'webm' ? 'WebM' : 'Matroska'} ${this.#hasVideo ? 'video' : 'audio'}`;
    facts.seconds = (this.#duration * this.#scale) / 1e9;
    const hasTrackTitle = this.#tags.some(({ level, name }) => level < ALBUM_LEVEL && name === 'TITLE');
    for (const { level, name, value } of this.#tags) {
      if (name === 'TITLE' && (level > ALBUM_LEVEL || (level === ALBUM_LEVEL && hasTrackTitle)))
        facts.addField('Series-Title', value);
      else facts.add(name, value);
    }
  }

  #element(id: number, start: number, end: number): void {
    const facts = this.#facts;
    if (id === 0x4282) this.#docType = this.#text(start, end);
    else if (id === 0x2ad7b1) this.#scale = this.#unsigned(start, end);
    else if (id === 0x4489)
      this.#duration = end - start === 4 ? this.#view.getFloat32(start) : this.#view.getFloat64(start);
    else if (id === 0x7ba9) facts.addField('Title', this.#text(start, end));
    else if (id === 0x4461) this.#date(start);
    else if (id === 0xb0) {
      this.#hasVideo = true;
      facts.width = this.#unsigned(start, end);
    } else if (id === 0xba) facts.height = this.#unsigned(start, end);
    else if (id === 0x68ca) this.#level = this.#unsigned(start, end);
    else if (id === 0x45a3) this.#tagName = this.#text(start, end).toUpperCase();
    else if (id === 0x4487 && this.#tags.length < 500)
      this.#tags.push({ level: this.#level, name: this.#tagName, value: this.#text(start, end) });
  }

  #date(start: number): void {
    const seconds = EPOCH + Number(this.#view.getBigInt64(start) / 1_000_000_000n);
    this.#facts.addField('Date', new Date(seconds * 1000).toISOString().slice(0, 10));
  }

  #text(start: number, end: number): string {
    return untilNul(this.#facts.texts.decode(this.#bytes.subarray(start, end)));
  }

  #unsigned(start: number, end: number): number {
    let value = 0;
    for (let i = start; i < Math.min(end, start + 8); i++) value = value * 256 + this.#bytes[i]!;
    return value;
  }

  /** Reads a number whose first bits give its length; as a size, without these bits. */
  #number(
    offset: number,
    maxLength: number,
    isSize: boolean,
  ): { readonly value: number; readonly length: number; readonly unknown: boolean } {
    const first = this.#view.getUint8(offset);
    const length = Math.clz32(first) - 23;
    if (length > maxLength) throw new RangeError(`no element at offset ${offset}`);
    let value = isSize ? first & (0xff >> length) : first;
    let ones = value === 0xff >> length;
    for (let i = 1; i < length; i++) {
      const byte = this.#view.getUint8(offset + i);
      ones &&= byte === 0xff;
      value = value * 256 + byte;
    }
    return { value, length, unknown: isSize && ones };
  }
}

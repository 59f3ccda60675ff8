import exifr from 'exifr';
import { latin, viewOf } from '../../bytes.js';
import type { SourceDocument, Summary } from '../../document.js';
import { guarded, oneLine, present, unreadable } from '../extracted.js';
import { titledFields } from '../text.js';
import { MediaFacts } from './facts.js';
import { gifComments, gifMetadata, pngTexts, webpMetadata } from './image-texts.js';
import { readIsoMedia } from './iso-media.js';
import { isSvg, summarizeSvg } from './svg.js';

/** The header of an image. */
interface ImageHead {
  readonly format: string;
  readonly width: number;
  readonly height: number;
  readonly comments: readonly string[];
  /** Attributes that the format itself has. */
  readonly fields?: readonly (readonly [name: string, value: string])[];
}

/** Attributes, and the EXIF, IPTC and XMP fields of each in order of preference. */
const TAGS: readonly (readonly [name: string, tags: readonly string[]])[] = [
  ['Title', ['title', 'ObjectName', 'Headline', 'DocumentName']],
  ['Author', ['Artist', 'creator', 'Byline']],
  ['Description', ['ImageDescription', 'description', 'Caption', 'UserComment']],
  ['Keywords', ['Keywords', 'subject']],
  ['Copyright', ['Copyright', 'rights', 'CopyrightNotice']],
  ['Date', ['DateTimeOriginal', 'CreateDate']],
];

/** Maximum length of one field, in characters. */
const MAX_FIELD = 2000;

/** Image: file name, format and size, comments; fields of EXIF, IPTC and XMP (E-141). */
export async function summarizeImage(document: SourceDocument): Promise<Summary> {
  if (isSvg(latin(document.body, 0, 4096))) return summarizeSvg(document);
  const image = guarded(document, 'the image', undefined, () => imageHead(document.body));
  const fields = [...(await metadataOf(document, image?.format))];
  for (const [name, value] of image?.fields ?? []) {
    // What a program wrote twice, in two kinds of metadata.
    const isKnown = fields.some(([known, text]) => known === name && (name === 'Title' || text === value));
    if (!isKnown) fields.push([name, value]);
  }
  const size = image && `${image.format} image, ${image.width} x ${image.height} pixels`;
  return {
    attributes: [
      ...titledFields(document, fields),
      ...present([
        ['Description', image?.comments],
        ['Description', size],
      ]),
    ],
    text: '',
  };
}

/** Formats whose metadata exifr reads; those of WebP and GIF in another wrapping. */
const WITH_METADATA = new Set(['JPEG', 'TIFF', 'PNG', 'WebP', 'GIF', 'HEIF', 'AVIF']);

async function metadataOf(
  document: SourceDocument,
  format: string | undefined,
): Promise<(readonly [string, string])[]> {
  if (format === undefined || !WITH_METADATA.has(format)) return [];
  const { body } = document;
  const file =
    format === 'WebP'
      ? webpMetadata(body, viewOf(body))
      : format === 'GIF'
        ? gifMetadata(body)
        : body.slice();
  if (file === undefined) return [];
  try {
    const tags: unknown = await exifr.parse(file, {
      xmp: true,
      iptc: true,
      icc: false,
      gps: false,
      makerNote: false,
      // For TIFF files, whose XMP and IPTC are in their own tags.
      tiff: true,
      mergeOutput: true,
    });
    if (typeof tags !== 'object' || tags === null) return [];
    return present(
      TAGS.map(([name, keys]) => [
        name,
        keys.map((key) => textOf(Reflect.get(tags, key))).find((text) => text !== ''),
      ]),
    );
  } catch (error) {
    document.warn(unreadable("the image's metadata", error));
    return [];
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return oneLine(value.replace(/\0.*$/s, '').slice(0, MAX_FIELD));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString().slice(0, 10);
  if (Array.isArray(value)) return value.slice(0, 100).map(textOf).join('\n');
  return typeof value === 'object' && value !== null && 'value' in value ? textOf(value.value) : '';
}

/** Reads format, size and comments from the first bytes. Undefined for an unknown format. @throws RangeError */
function imageHead(bytes: Uint8Array): ImageHead | undefined {
  const view = viewOf(bytes);
  const start = latin(bytes, 0, 16);
  if (start.startsWith('\x89PNG'))
    return {
      ...head('PNG', view.getUint32(16), view.getUint32(20)),
      fields: pngTexts(bytes, view),
    };
  if (start.startsWith('GIF8'))
    return head('GIF', view.getUint16(6, true), view.getUint16(8, true), gifComments(bytes));
  if (start.startsWith('\xff\xd8')) return jpegHead(bytes, view);
  if (start.startsWith('II*\0') || start.startsWith('MM\0*')) return tiffHead(view, start.startsWith('II'));
  if (start.slice(4, 8) === 'ftyp') return heifHead(bytes, start.slice(8, 12));
  if (start.startsWith('BM')) return head('BMP', view.getInt32(18, true), Math.abs(view.getInt32(22, true)));
  if (start.slice(8, 12) === 'WEBP') {
    const kind = latin(bytes, 12, 16);
    if (kind === 'VP8X') return head('WebP', 1 + threeBytes(view, 24), 1 + threeBytes(view, 27));
    if (kind === 'VP8L') {
      const bits = view.getUint32(21, true);
      return head('WebP', 1 + (bits & 0x3fff), 1 + ((bits >> 14) & 0x3fff));
    }
    return head('WebP', view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff);
  }
  const text = latin(bytes, 0, 2000);
  const pnm = /^P[1-6](?:\s|#[^\n]*\n)+(\d+)(?:\s|#[^\n]*\n)+(\d+)/.exec(text);
  if (pnm !== null) {
    const comments = Array.from(
      text.slice(0, pnm[0].length).matchAll(/#[ \t]*([^\n]+)/g),
      (found) => found[1]!,
    );
    return head('PNM', Number(pnm[1]), Number(pnm[2]), comments);
  }
  const xbm = /#define\s+\w*width\s+(\d+)[\s\S]*?#define\s+\w*height\s+(\d+)/.exec(text);
  if (xbm !== null) return head('XBM', Number(xbm[1]), Number(xbm[2]));
  const xpm = /XPM[\s\S]{0,400}?"\s*(\d+)\s+(\d+)\s+\d+\s+\d+/.exec(text);
  return xpm === null ? undefined : head('XPM', Number(xpm[1]), Number(xpm[2]));
}

function head(format: string, width: number, height: number, comments: readonly string[] = []): ImageHead {
  return { format, width, height, comments };
}

function threeBytes(view: DataView, offset: number): number {
  return view.getUint16(offset, true) + 65536 * view.getUint8(offset + 2);
}

/** HEIF and AVIF: the largest size of a picture; the parts of a large one have sizes of their own. */
function heifHead(bytes: Uint8Array, brand: string): ImageHead {
  const facts = new MediaFacts();
  readIsoMedia(bytes, facts);
  return head(brand.startsWith('avi') ? 'AVIF' : 'HEIF', facts.width, facts.height);
}

function jpegHead(bytes: Uint8Array, view: DataView): ImageHead | undefined {
  const comments: string[] = [];
  for (let offset = 2; offset + 9 < view.byteLength; ) {
    if (view.getUint8(offset) !== 0xff) return undefined;
    const marker = view.getUint8(offset + 1);
    if (marker === 0xff) {
      offset++;
      continue;
    }
    const length = view.getUint16(offset + 2);
    if (marker === 0xfe && comments.length < 100)
      comments.push(
        oneLine(latin(bytes, offset + 4, offset + 2 + Math.min(length, MAX_FIELD)).replace(/\0+/g, ' ')),
      );
    // The frame header; 0xc4, 0xc8 and 0xcc are tables.
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return head('JPEG', view.getUint16(offset + 7), view.getUint16(offset + 5), comments);
    }
    offset += 2 + length;
  }
  return undefined;
}

function tiffHead(view: DataView, little: boolean): ImageHead {
  const directory = view.getUint32(4, little);
  const count = Math.min(500, view.getUint16(directory, little));
  let width = 0;
  let height = 0;
  for (let i = 0; i < count; i++) {
    const offset = directory + 2 + 12 * i;
    const tag = view.getUint16(offset, little);
    if (tag !== 256 && tag !== 257) continue;
    const value =
      view.getUint16(offset + 2, little) === 3
        ? view.getUint16(offset + 8, little)
        : view.getUint32(offset + 8, little);
    if (tag === 256) width = value;
    else height = value;
  }
  return head('TIFF', width, height);
}

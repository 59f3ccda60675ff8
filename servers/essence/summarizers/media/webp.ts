/** Chunks of one file that are read. */
const MAX_CHUNKS = 10_000;
/** Bytes of one metadata chunk: a JPEG segment has at most 65 533. */
const MAX_SEGMENT_BYTES = 65_000;

/**
 * Returns the EXIF and XMP chunks of a WebP file as a JPEG file without a picture, which exifr reads; undefined
 * if it has none.
 */
export function webpMetadata(bytes: Uint8Array, view: DataView): Uint8Array | undefined {
  const exif: Uint8Array[] = [];
  const xmp: Uint8Array[] = [];
  for (let offset = 12, chunks = 0; offset + 8 <= bytes.length && chunks < MAX_CHUNKS; chunks++) {
    const kind = Buffer.from(bytes.subarray(offset, offset + 4)).toString('latin1');
    const size = view.getUint32(offset + 4, true);
    const data = bytes.subarray(offset + 8, offset + 8 + size);
    if (kind === 'EXIF') exif.push(withoutHeader(data));
    else if (kind === 'XMP ') xmp.push(data);
    offset += 8 + size + (size % 2);
  }
  return metadataAsJpeg(exif, xmp);
}

/** Returns EXIF and XMP as a JPEG file without a picture, which exifr reads; undefined without them. */
export function metadataAsJpeg(
  exif: readonly Uint8Array[],
  xmp: readonly Uint8Array[],
): Uint8Array | undefined {
  const segments = [
    ...exif.map((data) => segment('Exif\0\0', data)),
    ...xmp.map((data) => segment('http://ns.adobe.com/xap/1.0/\0', data)),
  ];
  const some = segments.filter(({ length }) => length > 0).slice(0, 2);
  if (some.length === 0) return undefined;
  return Buffer.concat([Buffer.from('ffd8', 'hex'), ...some, Buffer.from('ffd9', 'hex')]);
}

/** Some programs write the header of JPEG's segment into the chunk. */
function withoutHeader(data: Uint8Array): Uint8Array {
  return Buffer.from(data.subarray(0, 6)).toString('latin1') === 'Exif\0\0' ? data.subarray(6) : data;
}

function segment(header: string, data: Uint8Array): Buffer {
  if (data.length === 0 || data.length > MAX_SEGMENT_BYTES) return Buffer.alloc(0);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(2 + header.length + data.length, 2);
  return Buffer.concat([head, Buffer.from(header, 'latin1'), data]);
}

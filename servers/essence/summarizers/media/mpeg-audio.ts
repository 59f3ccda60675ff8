// The duration of MPEG audio (MP3): by the number of frames that an encoder wrote into the first one, else by
// its bit rate.

/** Bytes after the tag in which the first frame is searched. */
const MAX_SEARCH_BYTES = 4096;

/**
 * Kilobits per second by layer and index: MPEG 1, layers I to III, then MPEG 2, layer I, and layers II and III.
 */
const BIT_RATES: readonly (readonly number[])[] = [
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
const SAMPLE_RATES = [44_100, 48_000, 32_000];

/** Returns seconds; 0 if there is no frame. */
export function mpegSeconds(bytes: Uint8Array, view: DataView): number {
  const start = tagLength(bytes);
  for (let offset = start; offset + 4 <= bytes.length && offset < start + MAX_SEARCH_BYTES; offset++) {
    if (bytes[offset] !== 0xff || (bytes[offset + 1]! & 0xe0) !== 0xe0) continue;
    const seconds = frameSeconds(bytes, view, offset);
    if (seconds > 0) return seconds;
  }
  return 0;
}

/** Length of the ID3v2 tag before the frames. */
function tagLength(bytes: Uint8Array): number {
  if (bytes[0] !== 0x49 || bytes[1] !== 0x44 || bytes[2] !== 0x33) return 0;
  const [, , , , , , a = 0, b = 0, c = 0, d = 0] = bytes.subarray(0, 10);
  return 10 + (a & 0x7f) * 2 ** 21 + (b & 0x7f) * 2 ** 14 + (c & 0x7f) * 128 + (d & 0x7f);
}

function frameSeconds(bytes: Uint8Array, view: DataView, offset: number): number {
  // 3: MPEG 1, 2: MPEG 2, 0: MPEG 2.5; layer I is 3, layer III is 1.
  const version = (bytes[offset + 1]! >> 3) & 3;
  const layer = 4 - ((bytes[offset + 1]! >> 1) & 3);
  const baseRate = SAMPLE_RATES[(bytes[offset + 2]! >> 2) & 3];
  if (version === 1 || layer === 4 || baseRate === undefined) return 0;
  const table = version === 3 ? layer - 1 : layer === 1 ? 3 : 4;
  const bitRate = BIT_RATES[table]?.[bytes[offset + 2]! >> 4] ?? 0;
  const sampleRate = version === 3 ? baseRate : version === 2 ? baseRate / 2 : baseRate / 4;
  const samples = layer === 1 ? 384 : layer === 3 && version !== 3 ? 576 : 1152;
  const window = Buffer.from(bytes.subarray(offset, offset + 200)).toString('latin1');
  const found = /Xing|Info/.exec(window);
  if (found !== null && offset + found.index + 12 <= bytes.length) {
    const hasFrames = (view.getUint32(offset + found.index + 4) & 1) !== 0;
    if (hasFrames) return (view.getUint32(offset + found.index + 8) * samples) / sampleRate;
  }
  return bitRate === 0 ? 0 : ((bytes.length - offset) * 8) / (bitRate * 1000);
}

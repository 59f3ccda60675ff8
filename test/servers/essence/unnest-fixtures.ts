// Encoders of archives and encodings for the tests of unnesting, independent of the decoders: tar, compress(1),
// BinHex.

/** Returns the bytes of a Latin-1 string. */
export const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));

/** Makes a tar archive in the layout of POSIX. `type` 2 is a symbolic link. */
export function tar(
  files: readonly (readonly [name: string, body: string | Uint8Array, type?: string])[],
): Uint8Array {
  const blocks: Buffer[] = [];
  for (const [name, body, type = '0'] of files) {
    const bytes = Buffer.from(typeof body === 'string' ? latin1(body) : body);
    const head = Buffer.alloc(512);
    head.write(name, 0, 100, 'latin1');
    head.write('0000644\x000000\x000000\0', 100, 'latin1');
    head.write(`${bytes.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
    head.write('00000000000\0        ', 136, 'latin1');
    head.write(type, 156, 'latin1');
    head.write('ustar\x0000', 257, 'latin1');
    const sum = head.reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    blocks.push(head, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512));
  }
  return new Uint8Array(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

/**
 * Compresses like compress(1): codes of 9 bits and more; a group of eight codes is padded when the width
 * changes. The table is never cleared, so the width stays at its maximum.
 */
export function lzw(data: Uint8Array, maxBits = 16): Uint8Array {
  const out = [0x1f, 0x9d, 0x80 | maxBits];
  const table = new Map<string, number>();
  let nextCode = 257;
  let width = 9;
  let group: number[] = [];
  const flush = (padGroup: boolean) => {
    let bits = 0n;
    group.forEach((code, i) => {
      bits |= BigInt(code) << BigInt(i * width);
    });
    const bytes = padGroup ? width : Math.ceil((group.length * width) / 8);
    for (let i = 0; i < bytes; i++) out.push(Number((bits >> BigInt(8 * i)) & 255n));
    group = [];
  };
  let prefix = '';
  let code = -1;
  const emit = () => {
    group.push(code);
    if (group.length === 8) flush(true);
  };
  for (const byte of data) {
    const longer = code < 0 ? byte : table.get(`${prefix},${byte}`);
    if (longer !== undefined) {
      code = longer;
      prefix = String(code);
      continue;
    }
    emit();
    if (nextCode < 1 << maxBits) table.set(`${prefix},${byte}`, nextCode++);
    // The decoder's table lags by one entry: it widens its codes one code later.
    if (nextCode > 1 << width && width < maxBits) {
      if (group.length > 0) flush(true);
      width++;
    }
    code = byte;
    prefix = String(code);
  }
  if (code >= 0) emit();
  if (group.length > 0) flush(false);
  return Uint8Array.from(out);
}

const BINHEX = '!"#$%&\'()*+,-012345689@ABCDEFGHIJKLMNPQRSTUVXYZ[`abcdefhijklmpqr';

/** Makes a BinHex 4 file with one data fork; checksums are zero, because the decoder ignores them. Runs of `body` are already encoded. */
export function binhex(name: string, size: number, body: Uint8Array): string {
  const head = Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from('\0TEXTttxt\0\0', 'latin1'),
    Buffer.from([0, 0, 0, size, 0, 0, 0, 0, 0, 0]),
  ]);
  const bytes = Buffer.concat([head, body, Buffer.alloc(4)]);
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  const digits = (bits.match(/.{1,6}/g) ?? [])
    .map((six) => BINHEX[Number.parseInt(six.padEnd(6, '0'), 2)])
    .join('');
  return `(This file must be converted with BinHex 4.0)\n\n:${digits.replace(/(.{63})/g, '$1\n')}:\n`;
}

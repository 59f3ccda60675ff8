// Reading the fields of binary records.

/** The bytes from `from` to `to`, each as the character of the same number. */
export function latin(bytes: Uint8Array, from = 0, to = bytes.length): string {
  return bufferOf(bytes).toString('latin1', from, to);
}

/** The first bytes as a buffer, without a copy; by default all. */
export function bufferOf(bytes: Uint8Array, size = bytes.byteLength): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, size));
}

/** The characters before the first NUL. */
export function untilNul(text: string): string {
  return text.replace(/\0[\s\S]*$/, '');
}

/** A view of the numbers in the bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

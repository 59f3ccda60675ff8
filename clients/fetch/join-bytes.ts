/** Copies the first `length` bytes of the chunks into one array. */
export function joinBytes(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    const piece = chunk.length <= length - at ? chunk : chunk.subarray(0, length - at);
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

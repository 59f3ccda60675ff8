// The header of a tar archive's member: recognition needs its checksum, unnesting its sizes too.

/** Bytes of a header; a member's content is padded to a multiple of it. */
export const TAR_BLOCK_BYTES = 512;

/** Whether the bytes begin with a member's header, by the checksum that V7, POSIX and GNU tar share. */
export function isTarHead(head: Uint8Array): boolean {
  if (head.length < TAR_BLOCK_BYTES || head[0] === 0) return false;
  let sum = 8 * 0x20;
  let signed = sum;
  for (let i = 0; i < TAR_BLOCK_BYTES; i++) {
    if (i >= 148 && i < 156) continue;
    sum += head[i]!;
    signed += (head[i]! << 24) >> 24;
  }
  const recorded = parseOctal(head.subarray(148, 156));
  return recorded === sum || recorded === signed;
}

/** Parses the first octal digits of a field; 0 if it has none. */
export function parseOctal(field: Uint8Array): number {
  const found = /[0-7]+/.exec(Buffer.from(field).toString('latin1'));
  return found === null ? 0 : Number.parseInt(found[0], 8);
}

const SMALLEST = 256;

/** Octets that grow at the end by doubling. It holds no memory while it is empty. */
export class OctetBuffer {
  bytes = new Uint8Array(0);
  length = 0;

  append(source: Uint8Array, from: number, to: number): void {
    const needed = this.length + to - from;
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2, SMALLEST));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    this.bytes.set(source.subarray(from, to), this.length);
    this.length = needed;
  }

  /** Hands the octets out; the caller owns them, the buffer is empty. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length);
    this.bytes = new Uint8Array(0);
    this.length = 0;
    return taken;
  }
}
